import type { FileName, HashedPart } from "./hash_part.ts";
import { naturalness } from "./natural_text.ts";

/** A folder that a framework keeps for what it names by hash, and sends as immutable itself. */
interface Layout {
  /** Its path's end. */
  readonly folder: string;
  /** Finds the hash in the path below it. */
  readonly hash: RegExp;
}

/** Vite's hashes, behind a dot, or behind a dash those of workers; a chunk has no other name. */
const SVELTEKIT: Layout = {
  folder: "_app/immutable/",
  hash: /(?<=\.)[\w-]{8}(?=\.\w+$)|(?<=^chunks\/|^workers\/.*-)[\w-]{8}(?=\.js$)/,
};

/** Vite's again, and those of Nuxt 2, which are webpack's; the manifest of a build has the build's id as its name. */
const NUXT: Layout = {
  folder: "_nuxt/",
  hash: new RegExp(
    String
      .raw`(?<=\.)(?:[\w-]{8}|[\da-f]{20}|[\da-f]{7})(?=\.\w+$)|^(?:[\w-]{8}|[\da-f]{20}|[\da-f]{7})(?=\.js$)` +
      String.raw`|(?<=^builds/meta/)[\da-f]{8}-[\da-f-]{27}(?=\.json$)`,
  ),
};

/** An image is named by the hash of its original and that of what was made of it; a font by one of 16 digits. */
const ASTRO: Layout = {
  folder: "_astro/",
  hash: /(?<=\.)[\w-]{8}(?:_Z?[\dA-Za-z]{3,6})?(?=\.\w+$)|(?<=^fonts\/)[\da-f]{16}(?=\.\w+$)/,
};

/** Turbopack's, in base 38 or 40, begin with a digit; webpack's are hexadecimal; manifests are below the build's id. */
const NEXT: Layout = {
  folder: "_next/static/",
  hash: new RegExp(
    String.raw`(?<=^(?:chunks|css)/(?:.*/)?(?:turbopack-(?:worker-)?)?)\d[\da-z_~.-]{12}(?=\.(?:js|css)$)` +
      String.raw`|(?<=^(?:chunks|css|runtime)/.*[/.-]|^(?:chunks|css)/)(?:[\da-f]{16}|[\da-f]{20})(?=\.\w+$)` +
      String.raw`|(?<=^media/.*\.)(?:\d[\da-z_~.-]{12}|[\da-f]{8}|[\da-f]{16})(?=\.\w+$)` +
      String.raw`|^(?:[\w-]{21}|(?=[a-f]*\d)[\da-f]{7,64}|[\da-f]{8}-[\da-f-]{27})(?=/_\w+Manifest\.js$)`,
  ),
};

const layouts: readonly Layout[] = [SVELTEKIT, NUXT, ASTRO, NEXT];

/** The manifest that Next.js writes into a folder that has the build's id as its name, in `_next/static/`. */
const NEXT_MANIFEST = /^(.*\/|)[\w-]{7,64}\/_buildManifest\.js$/;

/** The limit of naturalness in such a folder: a name above it was given by hand; of hashes, 0.4% are. */
const MOST_NATURAL = 4;

/** The folder that stands for `_next/static/`, if `path` shows one: of `.next/static` served as it is. */
export function nextFolderOf(path: string): string | undefined {
  return path.endsWith("/_buildManifest.js") ? NEXT_MANIFEST.exec(path)?.[1] : undefined;
}

/** The place of the files of a layout. */
export interface Place {
  readonly layout: Layout;
  /** The index at which the path below the layout's folder begins. */
  readonly start: number;
}

/** The layout that `path` is in, if it is in one; `nextFolders` are such as {@linkcode nextFolderOf} told. */
export function placeOf(path: string, nextFolders: readonly string[] = []): Place | undefined {
  for (const layout of layouts) {
    const at = path.indexOf(layout.folder);
    if (at === 0 || (at > 0 && path[at - 1] === "/")) return { layout, start: at + layout.folder.length };
  }
  const folder = nextFolders.find((each) => path.startsWith(each));
  return folder === undefined ? undefined : { layout: NEXT, start: folder.length };
}

/** The hash in a path that is in a layout's folder. */
export function hashIn(path: string, { layout, start }: Place, name: FileName): HashedPart | undefined {
  const found = layout.hash.exec(path.slice(start));
  const isKnown = name.kind !== undefined || path.startsWith("builds/meta/", start);
  if (!found || !isKnown) return undefined;
  const [text] = found;
  const isWord = text.length === 8 && !/^[\da-f]*\d[\da-f]*$/.test(text) && naturalness(text, 0, 8) > MOST_NATURAL;
  if (isWord) return undefined;
  return { start: start + found.index, end: start + found.index + text.length };
}
