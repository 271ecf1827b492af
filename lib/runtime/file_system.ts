import { constants, lstatSync, readdirSync } from "node:fs";
import process from "node:process";

export interface FolderEntry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
}

/** The status of a file, or of a link itself. */
export interface FileStatus {
  readonly isFile: boolean;
  readonly size: number;
  /** The time of the last change of its content (mtime), in ms since 1970. */
  readonly mtimeMs: number;
  /** The time of the last change of any kind (ctime), in ms since 1970. */
  readonly ctimeMs: number;
  readonly ino: number;
}

/** The parts of Deno's API used here, which take a third of the time of Deno's `node:fs`. */
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

/** Whether the numbers of files above 2^53 are given as doubles, which several files may share: Deno's, even as bigint. */
export const roundsFileNumbers: boolean = deno !== undefined;

/** Lists the entries of a folder in any order; throws if it cannot be read. */
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

/** Returns the status of the file or link at `path`; throws if it is missing or inaccessible. */
export const fileStatus: (path: string) => FileStatus = deno
  ? (path) => {
    const { isFile, size, mtime, ctime, ino } = deno.lstatSync(path);
    return {
      isFile,
      size,
      mtimeMs: mtime?.getTime() ?? Infinity,
      ctimeMs: ctime?.getTime() ?? Infinity, // in whole seconds, as in Deno's node:fs
      ino: ino ?? 0,
    };
  }
  : (path) => {
    const found = lstatSync(path);
    const { size, mtimeMs, ctimeMs, ino } = found;
    return { isFile: found.isFile(), size, mtimeMs, ctimeMs, ino };
  };

/** Returns the flags to open a file only for flushing; not a link or a pipe. Windows needs write access. */
export function flushFlags(): number {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_RDWR } = constants;
  return (process.platform === "win32" ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK;
}

/**
 * Whether trees are watched by a recursive watcher: the system's, or Deno's. On other systems Node's ends the process at
 * a folder that it may not read, and Bun's watches nothing of a tree with such a folder.
 */
export function watchesTrees(): boolean {
  return "Deno" in globalThis || /^(?:win32|darwin)$/.test(process.platform);
}

/** The parts of Bun's API used here. */
interface BunFiles {
  readonly version: string;
  file(place: number | string): Blob;
  write(file: Blob, content: Response): Promise<number>;
}

const bun = (globalThis as { Bun?: BunFiles }).Bun;

/** Whether socket data should be written to files synchronously: Bun's backpressure begins at 1 MB for each connection. */
export const writesAtOnce: boolean = bun !== undefined;

/** Whether `writev()` of `node:fs` copies its buffers twice into a joined one, as on Deno. */
export const copiesVectors: boolean = "Deno" in globalThis;

/**
 * Writes the whole body of a request to the runtime's own server to an open file, which must stay open until the
 * promise settles with the number of bytes; undefined on other runtimes. Before Bun 1.4.1, it could wait for ever.
 */
export const writeStream: ((descriptor: number, stream: ReadableStream<Uint8Array>) => Promise<number>) | undefined =
  bun && isSince(bun.version, [1, 4, 1])
    ? (descriptor, stream) => bun.write(bun.file(descriptor), new Response(stream))
    : undefined;

/** Whether a version is `first` or a later one. */
function isSince(version: string, first: readonly number[]): boolean {
  const parts = version.split(/[.-]/, first.length).map(Number);
  const different = first.findIndex((part, i) => parts[i] !== part);
  return different < 0 || parts[different] > first[different];
}

/** Returns a part of a file as a body for Bun's server, twice as fast as a stream; undefined on other runtimes. */
export function fileSlice(path: string, start: number, end: number): Blob | undefined {
  return bun?.file(path).slice(start, end);
}
