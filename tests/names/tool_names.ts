import { oneOf, type Random, randomFrom, stem, text } from "./random_names.ts";

const HEX = "0123456789abcdef";
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BASE32_OF_BUN = "0123456789abcdefghjkmnpqrstvwxyz";
const BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz";
const BASE38 = `${BASE36}_-`;
const BASE62 = `${BASE36}ABCDEFGHIJKLMNOPQRSTUVWXYZ`;
const BASE64URL = `${BASE62}-_`;

type Hash = (random: Random) => string;

/**
 * The hashes of build tools. Each was compared, place by place, with thousands that the tool itself had made, of
 * the versions beside it: of its files' different contents, in real builds.
 */
const hashes = {
  /** Rollup 4.68, Rolldown 1.3 (Vite 8, SvelteKit 3, Nuxt 4, Astro 7, React Router 8): of 128 bits, the first two are 6 bits' first digit. */
  rollup: (random) => (random() < 0.75 ? oneOf(random, "BCD") : oneOf(random, BASE64URL)) + text(random, BASE64URL, 7),
  /** esbuild 0.28, Angular 22, Remix 2. */
  esbuild: (random) => text(random, BASE32, 8),
  /** Bun 1.4. */
  bun: (random) => text(random, BASE32_OF_BUN, 8),
  /** Parcel 2.16; webpack 5.112 with `[contenthash:8]`; Rollup with hashCharacters: "hex". */
  hex8: (random) => text(random, HEX, 8),
  /** Next.js 16.4 with webpack. */
  hex16: (random) => text(random, HEX, 16),
  /** webpack's default. */
  hex20: (random) => text(random, HEX, 20),
  /** Turbopack of Next.js 16.4. */
  turbopack: (random) => (random() < 0.965 ? oneOf(random, "0123") : "4") + text(random, BASE38, 12),
  /** The suffix Astro adds to an image derived from another. */
  astroImage: (random) => `_${random() < 0.5 ? "Z" : ""}${text(random, BASE62, 5 + Math.floor(random() * 2))}`,
} satisfies Readonly<Record<string, Hash>>;

/** Makes the paths of a project with about `size` files that have a hash. */
export type Layout = (random: Random, size: number) => string[];

const ASSETS = ["svg", "png", "jpg", "webp", "woff2", "woff", "wasm", "mp4", "avif", "ico", "gif", "ttf"];

/** Names of a project: mostly scripts, with styles for some, and assets. */
interface Names {
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
  readonly assets: readonly string[];
}

function namesOf(random: Random, size: number, entry: string): Names {
  const many = (share: number): string[] => Array.from({ length: Math.round(size * share) }, () => stem(random));
  return {
    scripts: [entry, ...many(0.5)],
    styles: [entry, ...many(0.2)],
    assets: many(0.3).map((name, i) => `${name}\0${ASSETS[i % ASSETS.length]}`),
  };
}

/** Returns a file's path for its name and extension. */
type Pattern = (name: string, extension: string, random: Random) => string;

function layout(entry: string, script: Pattern, style: Pattern = script, asset: Pattern = style): Layout {
  return (random, size) => {
    const { scripts, styles, assets } = namesOf(random, size, entry);
    return [
      ...scripts.map((name) => script(name, "js", random)),
      ...styles.map((name) => style(name, "css", random)),
      ...assets.map((each) => asset(...(each.split("\0") as [string, string]), random)),
    ];
  };
}

const named = (folder: string, separator: string, hash: Hash): Pattern => (name, extension, random) =>
  `${folder}${name}${separator}${hash(random)}.${extension}`;
const unnamed = (folder: string, hash: Hash): Pattern => (_, extension, random) =>
  `${folder}${hash(random)}.${extension}`;
const chunk = (folder: string, separator: string, hash: Hash): Pattern => (name, extension, random) =>
  `${folder}${/^(?:index|main)$/.test(name) ? name : "chunk"}${separator}${hash(random)}.${extension}`;
const { rollup, esbuild, bun, hex8, hex16, hex20, turbopack, astroImage } = hashes;

/**
 * The folders of the files that each tool names by hash, in its default configuration or in the one that its templates
 * have.
 */
export const layouts: Readonly<Record<string, Layout>> = {
  Rollup: layout("main", named("", "-", rollup), named("assets/", "-", rollup)),
  Vite: layout("index", named("assets/", "-", rollup)),
  "webpack, defaults": layout("main", named("", ".", hex20), named("", ".", hex20), unnamed("", hex20)),
  "webpack, as in Create React App": layout(
    "main",
    named("static/js/", ".", hex8),
    named("static/css/", ".", hex8),
    named("static/media/", ".", hex20),
  ),
  "webpack, as in Vue CLI": layout("app", named("js/", ".", hex8), named("css/", ".", hex8), named("img/", ".", hex8)),
  esbuild: layout("main", named("", "-", esbuild)),
  "Bun's bundler": layout("index", chunk("", "-", bun), named("", "-", bun)),
  Parcel: layout("index", named("", ".", hex8)),
  Angular: layout(
    "main",
    (name, extension, random) => `${name === "main" ? "main" : "chunk"}-${rollup(random)}.${extension}`,
    named("", "-", esbuild),
    named("media/", "-", esbuild),
  ),
  "Angular, without optimized chunks": layout(
    "main",
    chunk("", "-", esbuild),
    named("", "-", esbuild),
    named("media/", "-", esbuild),
  ),
  SvelteKit: layout(
    "app",
    (name, extension, random) => {
      const way = random();
      if (name === "app") return `_app/immutable/entry/app.${rollup(random)}.${extension}`;
      if (way < 0.5) return `_app/immutable/chunks/${rollup(random)}.${extension}`;
      return way < 0.95
        ? `_app/immutable/nodes/${Math.floor(random() * 99)}.${rollup(random)}.${extension}`
        : `_app/immutable/workers/${name}-${rollup(random)}.${extension}`;
    },
    named("_app/immutable/assets/", ".", rollup),
  ),
  Nuxt: layout("entry", unnamed("_nuxt/", rollup), named("_nuxt/", ".", rollup)),
  "Next.js, webpack": layout(
    "main",
    (name, extension, random) =>
      `_next/static/chunks/${name}${random() < 0.5 ? "-" : "."}${hex16(random)}.${extension}`,
    unnamed("_next/static/css/", hex16),
    named("_next/static/media/", ".", hex8),
  ),
  "Next.js, Turbopack": layout(
    "turbopack",
    (name, extension, random) =>
      `_next/static/chunks/${name === "turbopack" ? "turbopack-" : ""}${turbopack(random)}.${extension}`,
    unnamed("_next/static/chunks/", turbopack),
    named("_next/static/media/", ".", turbopack),
  ),
  Astro: layout(
    "client",
    named("_astro/", ".", rollup),
    named("_astro/", ".", rollup),
    (name, extension, random) =>
      `_astro/${name}.${rollup(random)}${random() < 0.6 ? astroImage(random) : ""}.${extension}`,
  ),
  "React Router": layout("entry.client", named("assets/", "-", rollup)),
  "Remix, classic compiler": layout(
    "root",
    (name, extension, random) => {
      const way = random();
      if (name === "root") return `build/root-${esbuild(random)}.${extension}`;
      return way < 0.6
        ? `build/routes/${name}-${esbuild(random)}.${extension}`
        : `build/_shared/${way < 0.9 ? "chunk" : name}-${esbuild(random)}.${extension}`;
    },
    named("build/_assets/", "-", esbuild),
  ),
};

/** Projects of 12 to 200 files, until there are `least` of all together. */
export function projects(make: Layout, least: number, seed: number): string[][] {
  const random = randomFrom(seed);
  const made: string[][] = [];
  for (let count = 0; count < least;) {
    const paths = [...new Set(make(random, [12, 25, 50, 100, 200][made.length % 5]))];
    made.push(paths);
    count += paths.length;
  }
  return made;
}
