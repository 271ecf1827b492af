import { lstatSync, readdirSync } from "node:fs";

export interface FolderEntry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
}

/** The status of a file, or of a link itself. */
export interface FileStatus {
  readonly isFile: boolean;
  /** In bytes. */
  readonly size: number;
  /** The time of its content's last change (mtime), in ms since 1970. */
  readonly mtimeMs: number;
  /** The time of its last change of any kind (ctime), in ms since 1970. */
  readonly ctimeMs: number;
  /** The number that the file system has for it. */
  readonly ino: number;
}

/** The parts of Deno's API used here: a third of the time of `node:fs` there. */
interface DenoFileSystem {
  readDirSync(path: string): Iterable<FolderEntry>;
  lstatSync(path: string): {
    readonly isFile: boolean;
    readonly size: number;
    readonly mtime: Date | null;
    readonly ctime?: Date | null;
    readonly ino: number | null;
  };
}

const deno = (globalThis as { Deno?: DenoFileSystem }).Deno;

/**
 * Lists the entries of a folder, in no order.
 *
 * @throws if it cannot be read.
 */
export const folderEntries: (path: string) => Iterable<FolderEntry> = deno
  ? (path) => deno.readDirSync(path)
  : function* (path) {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      yield {
        name: entry.name,
        isFile: entry.isFile(),
        isDirectory: entry.isDirectory(),
        isSymlink: entry.isSymbolicLink(),
      };
    }
  };

/**
 * Returns the status of the file at `path`, not following a link.
 *
 * @throws if there is none, or it cannot be looked at.
 */
export const fileStatus: (path: string) => FileStatus = deno
  ? (path) => {
    const { isFile, size, mtime, ctime, ino } = deno.lstatSync(path);
    return {
      isFile,
      size,
      mtimeMs: mtime?.getTime() ?? Infinity,
      ctimeMs: ctime?.getTime() ?? Infinity, // in whole seconds, as in node:fs there
      ino: ino ?? 0,
    };
  }
  : (path) => {
    const found = lstatSync(path);
    const { size, mtimeMs, ctimeMs, ino } = found;
    return { isFile: found.isFile(), size, mtimeMs, ctimeMs, ino };
  };

/** The parts of Bun's API used here. */
interface BunFiles {
  readonly version: string;
  file(place: number | string): Blob;
  write(file: Blob, content: Response): Promise<number>;
}

const bun = (globalThis as { Bun?: BunFiles }).Bun;

/**
 * Whether what comes from a socket is best written to files at once, without waiting for another thread: Bun holds a
 * sender back only when it has buffered more than 1 MB of each connection.
 */
export const writesAtOnce: boolean = bun !== undefined;

/** Whether `writev()` of `node:fs` copies what it is given into one piece, twice: Deno does. */
export const copiesVectors: boolean = "Deno" in globalThis;

/**
 * Writes all of a stream to an open file, without a detour through JavaScript if the stream is the body of a request
 * of the runtime's own server; resolves to the number of bytes. Undefined where there is no such way. It cannot be
 * stopped: the file must stay open until the promise is settled. Before Bun 1.4.1 such bodies are waited for for ever.
 */
export const writeStream: ((descriptor: number, stream: ReadableStream<Uint8Array>) => Promise<number>) | undefined =
  bun && isSince(bun.version, [1, 4, 1])
    ? (descriptor, stream) => bun.write(bun.file(descriptor), new Response(stream))
    : undefined;

/** Whether a version is one of those from `first` on. */
function isSince(version: string, first: readonly number[]): boolean {
  const parts = version.split(/[.-]/, first.length).map(Number);
  const different = first.findIndex((part, i) => parts[i] !== part);
  return different < 0 || parts[different] > first[different];
}

/**
 * The bytes of a file from `start` to `end` as a body that the runtime's server sends by itself, with its length;
 * undefined where there is no such. The file is opened when the body is sent.
 *
 * Bun's server sends every stream in chunks, without `Content-Length`; what it knows to be a file goes out with it, and
 * twice as fast.
 */
export function fileSlice(path: string, start: number, end: number): Blob | undefined {
  return bun?.file(path).slice(start, end);
}
