import { statSync } from "node:fs";
import { nearest } from "../streams/internal.ts";

export const DONE = 0;
/** The exit status after failures, each of which is named on stderr. */
export const FAILED = 1;
/** The exit status for wrong arguments, and for missing paths in them. */
export const WRONG_USAGE = 2;

/** The exit statuses after signals, as in shells. */
export const interrupted = { SIGINT: 130, SIGTERM: 143 } as const;

/** A signal that terminates a command. */
export type EndingSignal = keyof typeof interrupted;

export const endingSignals: readonly EndingSignal[] = ["SIGINT", "SIGTERM"];

export interface Command {
  readonly help: () => string;
  /** Runs the command; returns the exit status or the text to print. A UsageError means wrong arguments, other errors are failures. */
  readonly run: (words: readonly string[]) => Promise<number | "help" | "version">;
}

/** Returns the end of a message about `word`, such as `: did you mean serve?`; empty if no name in `known` is close. */
export function suggestionFor(word: string, known: readonly string[], prefix = ""): string {
  const begun = word.length > 2 ? known.filter((name) => name.startsWith(word)) : [];
  const closest = nearest(word, known) ?? begun[0];
  return closest === undefined ? "" : `: did you mean ${prefix}${closest}?`;
}

/** An error in the arguments of the command line. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Returns the only folder of a command. `purpose`: what the command does with it, such as `compress`. */
export function oneFolder(folders: readonly string[], purpose: string): string {
  if (folders[0] === "") throw new UsageError('the folder is "": name it, "." if it is the current one');
  if (folders.length === 0) throw new UsageError(`name the folder to ${purpose}`);
  if (folders.length > 1) throw new UsageError(`one folder, not ${folders.length}`);
  return folders[0]!;
}

/** Requires that a folder or file of the command line exists; `named` is its path in messages. It is not read yet. */
export function requireThere(path: string, kind: "folder" | "file", before: string, named: string = path): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (cause) {
    if (!["ENOENT", "ENOTDIR"].includes((cause as NodeJS.ErrnoException).code ?? "")) return;
    throw new UsageError(`${before}${named}: there is no such ${kind}`, { cause });
  }
  if (isFolder === (kind === "folder")) return;
  throw new UsageError(`${before}${named}: it is a ${kind === "folder" ? "file, not a folder" : "folder, not a file"}`);
}

export function wholeNumber(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`--${flag} ${text} is not a whole number`);
  return Number(text);
}

/** Returns the share in `text`, the value of `--flag`. */
export function percent(flag: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)%?$/.exec(text);
  if (!match || Number(match[1]) >= 100) throw new UsageError(`--${flag} ${text} is not a percentage below 100`);
  return Number(match[1]) / 100;
}

/** Returns the time in ms for `text`, a number of seconds from 1 and the value of `--flag`. */
export function seconds(flag: string, text: string): number {
  const number = wholeNumber(flag, text);
  if (number === 0) throw new UsageError(`--${flag} 0 is no time: use 1 or more`);
  return 1000 * Math.min(number, 86_400);
}

const DURATIONS: ReadonlyMap<string, number> = new Map([["s", 1], ["m", 60], ["h", 3600], ["d", 86_400]]);

export function duration(flag: string, text: string): number {
  const match = /^(\d+)([smhd])$/.exec(text);
  if (!match) throw new UsageError(`--${flag} ${text} is not a time: use 90s, 30m, 12h or 7d`);
  return Number(match[1]) * DURATIONS.get(match[2]!)! * 1000;
}

const UNITS: ReadonlyMap<string, number> = new Map([["", 1], ["k", 2 ** 10], ["m", 2 ** 20], ["g", 2 ** 30]]);

export function byteCount(flag: string, text: string): number {
  const match = /^(\d+|\d+\.\d+(?=[kmg]))([kmg]?)$/i.exec(text);
  if (!match) throw new UsageError(`--${flag} ${text} is not a number of bytes: use 500, 2k, 1.5M or 1G`);
  return Math.round(Number(match[1]) * UNITS.get(match[2]!.toLowerCase())!);
}
