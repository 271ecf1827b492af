import { lstatSync, readdirSync } from "node:fs";

/** An entry of a folder. */
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
  /** When its content was last changed, in ms since 1970. */
  readonly mtimeMs: number;
  /** When anything of it was last changed, in ms since 1970. */
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
