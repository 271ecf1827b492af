import { FolderEvidence } from "./evidence.ts";
import {
  type Family,
  fileKindOf,
  type FileName,
  fileNameOf,
  type HashedPart,
  isHashByItself,
  type Tail,
  tailsOf,
} from "./hash_part.ts";
import { hashIn, placeBeside, placeOf } from "./layouts.ts";

/** Service workers, which browsers revalidate whatever a response allows. */
const SERVICE_WORKER = /^(?:[a-z]+-)*(?:sw|service-?worker|ngsw-worker)[.-]/i;
/** The end of a name by `git describe`: a tag, the number of commits since, and the hash of the last one. */
const DESCRIBED = /-\d+-g[\da-f]{7}$/;
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** A date, with its parts in any order. */
const DATE = /^(?:(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01]){2}(?:19|20)\d\d)$/;
/** A time, a telephone number, an ISBN; or eight digits of a counter: `00000042`, `10000042`, `12345678`. */
const COUNTED = /^\d{9,}$|^\d?0{3}\d{4,5}$|^\d{4,5}0{3}\d?$|^12345678$|^87654321$|^(\d)\1{7}$/;
/** A language with its country or its script. */
const LOCALE = /^[a-z]{2,3}[-_](?:[A-Z]{2}|[A-Z][a-z]{3})(?:[-_]|$)/;
/** Formats, protocols and processors with a version or a width: `utf8Size`, `arm64v8a`, `v1beta1x`, `S01E02v2`. */
const VERSIONED = new RegExp(
  String.raw`^(?:(?:utf|https?|ipv|oauth|dns|tls|quic|rfc|iso|din|sha|aes|rsa|css|pdf|webgl|u?hd|gpt)\d|` +
    String.raw`(?:armv?|amd|riscv|win|mac|ios|linux|darwin|android)\d|x64|x86|i[3-6]86|` +
    String.raw`mp[34]|h26[45]|md5|x509|base64|es[5-9]|es20|i18n|l10n|a11y|k8s|e2e|` +
    String.raw`v\d+(?:alpha|beta|rc)|r1\d\d|s\d\de\d\d|\d{3,4}p\d)`,
  "i",
);
/** Formats, protocols and company names before another word: `HTTPBody`, `OAuthApi`. */
const ACRONYM =
  /^(?:UTF|HTTPS?|HTTP2|JSON|HTML|CSS|XML|RSS|CSV|PDF|GPT4|IPv6|OAuth2?|WebGL|WebGPU|WiFi|GitHub|GitLab)(?=[A-Z]?[a-z])/;
/** The width and the height of a picture; a year. */
const SIZE_OR_YEAR = /^\d+x\d+$|(?:19|20)\d\d/;

/** Whether a name has another known meaning, although a part of it looks like a hash. */
export function isNamedOtherwise(path: string, { start, end, kind }: FileName, part: HashedPart): boolean {
  const name = path.slice(start, end);
  const text = path.slice(part.start, part.end);
  if (kind === "script" && SERVICE_WORKER.test(name)) return true;
  if (/^[\da-f]+$/.test(text)) return UUID.test(name) || DATE.test(text) || COUNTED.test(text);
  if (text.length !== 8 || /^[\dA-F]+$/.test(text)) return false;
  return SIZE_OR_YEAR.test(text) || LOCALE.test(text) || VERSIONED.test(text) || ACRONYM.test(text) ||
    DESCRIBED.test(name);
}

/** Folders for scripts and styles that build tools create in a build's folder. */
const CODE = /(?:^|\/)(?:js|css|scripts?|styles?|javascripts?|stylesheets|chunks|routes|_shared|_assets)\/$/;
/** Folders for assets that build tools create beside those of scripts and styles. */
const ASSETS = /(?:^|\/)(?:img|fonts|media|assets|_assets)\/$/;
/** The folders of Rollup, Remix and VitePress for further scripts and styles, within a folder of scripts. */
const CODE_WITHIN = /(?:^|\/)(?:routes|_shared|_assets|chunks|assets)\/$/;
/** Rollup's folder for assets, within a folder of scripts. */
const ASSETS_WITHIN = /(?:^|\/)assets\/$/;
/** Angular's folder of assets, which have hashes in base32, whatever the hashes of its scripts. */
const ASSETS_OF_ANGULAR = /(?:^|\/)media\/$/;

/** Returns the other folders for scripts of a build that wrote `folder`; none if build tools create no such folder. */
export function codeFoldersNear(folder: string, isCode: boolean, family: Family): string[] {
  const parent = folder === "" ? undefined : parentOf(folder);
  const near: string[] = [];
  if (parent !== undefined) {
    const isWithin = isCode ? CODE_WITHIN.test(folder) : ASSETS_WITHIN.test(folder);
    if (isWithin || (family === "upper" && !isCode && ASSETS_OF_ANGULAR.test(folder))) near.push(parent);
    if ((isCode ? CODE : ASSETS).test(folder)) near.push(codeIn(parent));
  }
  return isCode ? [...near, codeIn(folder)] : near;
}

/** Returns a name, different from all paths, for the combined folders of scripts and styles in `folder`. */
export function codeIn(folder: string): string {
  return `${folder}/code`;
}

/** Returns the parent of `folder`, with a slash at the end; empty for the root. */
export function parentOf(folder: string): string {
  return folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
}

/** Returns the part of `path` behind a name that looks like a hash, but may be a word: for harmless guesses. */
export function likelyHash(whole: string): HashedPart | undefined {
  const path = whole.replace(/\.map$/, ""); // a script's map has the hash before both extensions
  const name = fileNameOf(path);
  if (!name) return undefined;
  const place = placeOf(path);
  const part = place ? hashIn(path, place, name) : tailsOf(path, name.start, name.end)[0];
  if (!part || part.start <= name.start) return undefined;
  const text = path.slice(part.start, part.end);
  const isVaried = /\d/.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text)) || /^[A-Z2-7]{8}$/.test(text);
  return isVaried ? { start: part.start, end: part.end } : undefined;
}

/**
 * Finds the files of a tree with a content hash in their names, by the habits of build tools: the folders of
 * frameworks, names of scripts and styles that only tools write, and similar names around them. `paths` are read once.
 */
export function hashedNames(paths: Iterable<string>): (path: string) => HashedPart | undefined {
  let tree: TreeEvidence | undefined;
  return (path) => (tree ??= new TreeEvidence(paths)).hashIn(path);
}

/** The files of a folder that a build tool may have named. */
interface Listed {
  readonly code: string[];
  /** The paths of assets that are not added to the folder's evidence yet. */
  readonly assets: string[];
}

/** The evidence that the names of a tree provide about each other, computed for each folder on demand. */
class TreeEvidence {
  /** The listed files by path, with a slash at the end. */
  readonly #listed = new Map<string, Listed>();
  /** The folders for each name of {@linkcode codeIn}. */
  readonly #codeFolders = new Map<string, string[]>();
  /** The evidence so far, by path or by a name of {@linkcode codeIn}. */
  readonly #found = new Map<string, FolderEvidence>();
  /** The places of layouts that files have revealed. */
  readonly #places: NonNullable<ReturnType<typeof placeBeside>>[] = [];

  constructor(paths: Iterable<string>) {
    this.#list(paths);
    for (const [folder, { code }] of this.#listed) {
      if (code.length === 0 || !CODE.test(folder)) continue;
      const several = codeIn(parentOf(folder));
      this.#codeFolders.set(several, [...this.#codeFolders.get(several) ?? [], folder]);
    }
  }

  hashIn(path: string): HashedPart | undefined {
    const name = fileNameOf(path);
    if (!name) return undefined;
    const place = placeOf(path, this.#places);
    const part = (place && hashIn(path, place, name)) ?? this.#tailIn(path, name);
    return part && !isNamedOtherwise(path, name, part) ? { start: part.start, end: part.end } : undefined;
  }

  #tailIn(path: string, name: FileName): Tail | undefined {
    if (!name.kind) return undefined;
    return tailsOf(path, name.start, name.end).find((each) => this.#isHash(path, name, each));
  }

  #isHash(path: string, name: FileName, tail: Tail): boolean {
    const isCode = name.kind !== "asset";
    const folder = path.slice(0, name.start);
    const near = this.#codeNear(folder, isCode, tail);
    // Most assets are in folders without scripts near them, and are skipped at once.
    if (!isCode && near.length === 0) return false;
    const own = this.#evidence(folder);
    if (!isCode) own?.assets.add(this.#listed.get(folder)!.assets.splice(0));
    if (tail.separator !== "/" && own?.hasIds(path, name, tail)) return false;
    if (isCode && isHashByItself(path, name, tail)) return true;
    return near.some((each) => each.vouchesFor(tail, isCode, own));
  }

  /** Returns the evidence of the script folders of the build that made a file of `folder`, if their tails are clear. */
  #codeNear(folder: string, isCode: boolean, tail: Tail): FolderEvidence[] {
    return [folder, ...codeFoldersNear(folder, isCode, tail.family)].flatMap((each) => {
      const evidence = this.#evidence(each);
      return evidence && evidence.code.clear > 0 ? [evidence] : [];
    });
  }

  /** Returns the evidence of a folder, or of the folders with one name, or undefined. */
  #evidence(name: string): FolderEvidence | undefined {
    const found = this.#found.get(name);
    if (found) return found;
    const listed = this.#listed.get(name);
    const several = this.#codeFolders.get(name);
    if (!listed && !several) return undefined;
    const evidence = new FolderEvidence();
    for (const folder of several ?? [name]) evidence.code.add(this.#listed.get(folder)!.code);
    this.#found.set(name, evidence);
    return evidence;
  }

  /** Groups the files by their folders. */
  #list(paths: Iterable<string>): void {
    let folder: string | undefined;
    let files: Listed = { code: [], assets: [] };
    for (const path of paths) {
      const kind = fileKindOf(path);
      if (kind === undefined) continue;
      const start = path.lastIndexOf("/") + 1;
      if (folder?.length !== start || !path.startsWith(folder)) {
        folder = path.slice(0, start);
        files = this.#listed.get(folder) ?? { code: [], assets: [] };
        this.#listed.set(folder, files);
      }
      (kind === "asset" ? files.assets : files.code).push(path);
      const place = kind === "script" ? placeBeside(path) : undefined;
      if (place !== undefined) this.#places.push(place);
    }
  }
}
