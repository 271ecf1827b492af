/** The kinds of files that build tools name by hash: scripts, style sheets, and what these refer to. */
export type FileKind = "script" | "style" | "asset";

/**
 * By extension. Not among them: documents, which people keep links to (HTML must be revalidated in any case); data, which
 * is as often made by others; source maps, which change with a comment in a source while the script and its name do not.
 */
const kinds: ReadonlyMap<string, FileKind> = new Map([
  ...["js", "mjs"].map((each) => [each, "script"] as const),
  ["css", "style"],
  ...[
    ["wasm", "bin", "glb", "gltf"],
    ["woff2", "woff", "ttf", "otf", "eot"],
    ["png", "jpg", "jpeg", "gif", "webp", "avif", "jxl", "bmp", "ico", "cur", "svg"],
    ["mp4", "m4v", "mov", "webm", "ogv", "mp3", "m4a", "aac", "flac", "ogg", "opus", "wav"],
  ].flat().map((each) => [each, "asset"] as const),
]);

/** Extensions that may stand between a hash and the last one. */
const MIDDLE = /\.(?:min|chunk|bundle|async|module|lean|legacy)$/;

/** The parts of a path. */
export interface FileName {
  /** The index at which the name begins. */
  readonly start: number;
  /** The index at which its extensions begin; a hash ends there. */
  readonly end: number;
  /** Undefined: build tools do not name such files by hash. */
  readonly kind: FileKind | undefined;
}

/** The kind of file that `path` is by its extension; undefined if build tools do not name such files by hash. */
export function fileKindOf(path: string): FileKind | undefined {
  return kinds.get(path.slice(path.lastIndexOf(".") + 1));
}

/** The name in `path`; undefined if it has no extension. */
export function fileNameOf(path: string): FileName | undefined {
  const start = path.lastIndexOf("/") + 1;
  const dot = path.lastIndexOf(".");
  if (dot <= start) return undefined;
  // Where there is a dot before: most names have none.
  const isLonger = path.lastIndexOf(".", dot - 1) > start;
  const middle = isLonger ? MIDDLE.exec(path.slice(start, dot)) : null;
  return { start, end: middle ? start + middle.index : dot, kind: fileKindOf(path) };
}
