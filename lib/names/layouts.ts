import type { FileName, HashedPart } from "./hash_part.ts";
import { textLikelihood } from "./natural_text.ts";

/** A folder for files that a framework names by hash, and itself serves as immutable. */
interface Layout {
  /** The end of the folder's path. */
  readonly folder: string;
  /** Finds the hash in a path below the folder. */
  readonly hash: RegExp;
}

/** Vite's hashes: after a dot, for workers after a dash; the name of a chunk is only its hash. */
const SVELTEKIT: Layout = {
  folder: "_app/immutable/",
  hash: /(?<=\.)[\w-]{8}(?=\.\w+$)|(?<=^chunks\/|^workers\/.*-)[\w-]{8}(?=\.js$)/,
};

/** Vite's hashes, and Nuxt 2's, which are webpack's; a build's manifest has the name of the build's id. */
const NUXT: Layout = {
  folder: "_nuxt/",
  hash: new RegExp(
    String
      .raw`(?<=\.)(?:[\w-]{8}|[\da-f]{20}|[\da-f]{7})(?=\.\w+$)|^(?:[\w-]{8}|[\da-f]{20}|[\da-f]{7})(?=\.js$)` +
      String.raw`|(?<=^builds/meta/)[\da-f]{8}-[\da-f-]{27}(?=\.json$)`,
  ),
};

/** An image has the hash of its original and that of its conversion; a font has one of 16 digits. */
const ASTRO: Layout = {
  folder: "_astro/",
  hash: /(?<=\.)[\w-]{8}(?:_Z?[\dA-Za-z]{3,6})?(?=\.\w+$)|(?<=^fonts\/)[\da-f]{16}(?=\.\w+$)/,
};

/** Turbopack's hashes, in base 38 or 40, begin with a digit; webpack's are hexadecimal; manifests are below the build's id. */
const NEXT: Layout = {
  folder: "_next/static/",
  hash: new RegExp(
    String.raw`(?<=^(?:chunks|css)/(?:.*/)?(?:turbopack-(?:worker-)?)?)\d[\da-z_~.-]{12}(?=\.(?:js|css)$)` +
      String.raw`|(?<=^(?:chunks|css|runtime)/.*[/.-]|^(?:chunks|css)/)(?:[\da-f]{16}|[\da-f]{20})(?=\.\w+$)` +
      String.raw`|(?<=^media/.*\.)(?:\d[\da-z_~.-]{12}|[\da-f]{8}|[\da-f]{16})(?=\.\w+$)` +
      String.raw`|^(?:[\w-]{21}|(?=[a-f]*\d)[\da-f]{7,64}|[\da-f]{8}-[\da-f-]{27})(?=/_\w+Manifest\.js$)`,
  ),
};

/** webpack's MD5 of an asset; pictures of several sizes are in a folder with the original's hash and one of the conversion. */
const GATSBY: Layout = { folder: "static/", hash: /(?<=-)[\da-f]{32}(?=\.\w+$)|^[\da-f]{32}\/[\da-f]{5}(?=\/)/ };

/** The layouts whose folders have characteristic names. */
const layouts: readonly Layout[] = [SVELTEKIT, NUXT, ASTRO, NEXT];

/** Scripts that identify other folders: Next.js' manifest in a folder with the build's id, and Gatsby's runtime. */
const MARKS: readonly (readonly [end: RegExp, Layout, folder: string])[] = [
  [/(?:^|\/)[\w-]{7,64}\/_buildManifest\.js$/, NEXT, ""],
  [/(?:^|\/)webpack-runtime-[\da-f]{20}\.js$/, GATSBY, GATSBY.folder],
];

/** The maximum likelihood of text of a hash in a layout's folder; 0.4% of hashes exceed it. */
const MAX_TEXT_LIKELIHOOD = 4;

export interface Place {
  readonly layout: Layout;
  /** The index of the path below the layout's folder. */
  readonly start: number;
}

/** Returns the place that `path` reveals, such as `.next/static` served directly, with its folder, or undefined. */
export function placeBeside(path: string): Place & { readonly folder: string } | undefined {
  for (const [end, layout, below] of MARKS) {
    const at = path.search(end);
    if (at === -1) continue;
    const folder = (path[at] === "/" ? path.slice(0, at + 1) : "") + below;
    return { layout, folder, start: folder.length };
  }
  return undefined;
}

/** Returns the place of `path`, if any; `others` are results of {@linkcode placeBeside}. */
export function placeOf(
  path: string,
  others: readonly (Place & { readonly folder: string })[] = [],
): Place | undefined {
  for (const layout of layouts) {
    const at = path.indexOf(layout.folder);
    if (at === 0 || (at > 0 && path[at - 1] === "/")) return { layout, start: at + layout.folder.length };
  }
  return others.find(({ folder }) => path.startsWith(folder));
}

/** Returns the hash in a path within a layout's folder. */
export function hashIn(path: string, { layout, start }: Place, name: FileName): HashedPart | undefined {
  const found = layout.hash.exec(path.slice(start));
  const isKnown = name.kind !== undefined || path.startsWith("builds/meta/", start);
  if (!found || !isKnown) return undefined;
  const [text] = found;
  const isWord = text.length === 8 && !/^[\da-f]*\d[\da-f]*$/.test(text) &&
    textLikelihood(text, 0, 8) > MAX_TEXT_LIKELIHOOD;
  if (isWord) return undefined;
  return { start: start + found.index, end: start + found.index + text.length };
}
