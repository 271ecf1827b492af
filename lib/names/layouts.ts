import type { FileName, HashedPart } from "./hash_part.ts";
import { textLikelihood } from "./natural_text.ts";

/** A folder for files that a framework names by hash, and sends as immutable itself. */
interface Layout {
  /** Its path's end. */
  readonly folder: string;
  /** Finds the hash in the path below the folder. */
  readonly hash: RegExp;
}

/** Vite's hashes: behind a dot, for workers behind a dash; a chunk has no other name. */
const SVELTEKIT: Layout = {
  folder: "_app/immutable/",
  hash: /(?<=\.)[\w-]{8}(?=\.\w+$)|(?<=^chunks\/|^workers\/.*-)[\w-]{8}(?=\.js$)/,
};

/** Vite's hashes, and Nuxt 2's, which are webpack's; the manifest of a build is named by the build's id. */
const NUXT: Layout = {
  folder: "_nuxt/",
  hash: new RegExp(
    String
      .raw`(?<=\.)(?:[\w-]{8}|[\da-f]{20}|[\da-f]{7})(?=\.\w+$)|^(?:[\w-]{8}|[\da-f]{20}|[\da-f]{7})(?=\.js$)` +
      String.raw`|(?<=^builds/meta/)[\da-f]{8}-[\da-f-]{27}(?=\.json$)`,
  ),
};

/** An image is named by the hash of its original and that of its conversion; a font by one of 16 digits. */
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

/** The maximum likelihood of text in such a folder: people chose names above it; 0.4% of hashes are above. */
const MAX_TEXT_LIKELIHOOD = 4;

/** Returns the folder that corresponds to `_next/static/`, if `path` shows one: `.next/static` served directly. */
export function nextFolderOf(path: string): string | undefined {
  return path.endsWith("/_buildManifest.js") ? NEXT_MANIFEST.exec(path)?.[1] : undefined;
}

/** The place of the files of a layout. */
export interface Place {
  readonly layout: Layout;
  /** The index at which the path below the layout's folder begins. */
  readonly start: number;
}

/** Returns the layout that `path` is in, if any; `nextFolders` are results of {@linkcode nextFolderOf}. */
export function placeOf(path: string, nextFolders: readonly string[] = []): Place | undefined {
  for (const layout of layouts) {
    const at = path.indexOf(layout.folder);
    if (at === 0 || (at > 0 && path[at - 1] === "/")) return { layout, start: at + layout.folder.length };
  }
  const folder = nextFolders.find((each) => path.startsWith(each));
  return folder === undefined ? undefined : { layout: NEXT, start: folder.length };
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
