import { basename } from "node:path";
import process from "node:process";
import { MAX_NAME_LENGTH, reasonOf } from "../files/internal.ts";

/**
 * A file that could not be processed, and the reason.
 *
 * @example Fail a build that left something out
 * ```ts
 * import { precompress, type Problem } from "@millrace/streams/precompress";
 * import { writeFile } from "node:fs/promises";
 *
 * await writeFile("dist/index.html.gz", "notes");
 * const [problem]: readonly Problem[] = (await precompress("dist", { formats: ["gzip"] })).problems;
 * console.log(problem?.path, problem?.message); // index.html.gz it is in the way and not made from index.html: …
 * ```
 */
export interface Problem {
  /** The path below the folder, with `/` between its parts. */
  readonly path: string;
  /** The failure, and the way to solve it. */
  readonly message: string;
}

export const CHANGED = "it changed during the run: run again once the folder is at rest";

/** Explanations of system errors in a run by their code, if the general one does not suffice. */
const inTheWay: Readonly<Record<string, string>> = {
  ENOENT: "it vanished during the run",
  ENOTDIR: "a file is in the way of a folder",
  EEXIST: "a file is in the way of a folder",
  EISDIR: "a folder is in the way",
};

const hint: Readonly<Record<string, string>> = {
  EACCES: "change its permissions or exclude it",
  EPERM: "change its permissions or exclude it",
  ENOENT: "run again once the folder is at rest",
  ENOSPC: "free some and run again",
  EDQUOT: "free some and run again",
  EROFS: "write elsewhere with --out",
  ELOOP: "remove the link or exclude it",
  EMFILE: "raise the limit (ulimit -n) and run again",
  ENOTDIR: "remove it and run again",
  EEXIST: "remove it and run again",
  EISDIR: "remove it and run again",
  ENAMETOOLONG: "shorten or exclude it",
};

export function explain(error: unknown): string {
  return reasonOf(isTooLong(error) ? { code: "ENAMETOOLONG" } : error, inTheWay, hint);
}

/** Whether Windows reports a name that is too long as a missing folder. */
function isTooLong(error: unknown): boolean {
  const { code, path, dest } = error as { code?: unknown; path?: string; dest?: string };
  return process.platform === "win32" && code === "ENOENT" &&
    [path, dest].some((each) => each !== undefined && basename(each).length > MAX_NAME_LENGTH);
}

/** Explanations of system errors about an output path of the user. */
const ofPlace: Readonly<Record<string, string>> = { ...inTheWay, ENOENT: "it cannot be made there" };

/** Advice about an output path of the user: files there are never to be removed, so messages suggest another place. */
const otherPlace: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(hint).map(([code, way]) => [code, /^(?:free|raise)/.test(way) ? way : "name another place"]),
);

/** Returns the message for the user about an output folder or file. */
export function explainPlace(error: unknown): string {
  return reasonOf(error, ofPlace, otherPlace);
}

/** Returns the problem of a file that gets no delta; its other variants are not affected. */
export function unreadableDictionary(path: string, cause: unknown): Error {
  return new Error(`there is no delta against ${path}: ${reasonOf(cause, inTheWay)}`, { cause });
}

export function cannotWrite(folder: string, cause: unknown): Error {
  return new Error(`cannot write to ${folder}: ${explainPlace(cause)}`, { cause });
}
