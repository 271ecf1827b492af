import { lstatSync, type Stats } from "node:fs";

/** Proof that a file is one that a series wrote: its place on the disk, and its size and time once it is complete. */
export interface FileProof {
  readonly ino: number;
  /** When the file was made, in ms since 1970, where the file system knows. */
  readonly birth: number;
  /** In bytes; of a file that is complete. */
  readonly size?: number;
  /** When it was last changed, in ms since 1970; of a file that is complete. */
  readonly mtime?: number;
}

/** Whether a value that was read is a proof. */
export function isProof(value: unknown): value is FileProof {
  const proof = value as Partial<FileProof> | null;
  return typeof proof?.ino === "number" && (proof.size === undefined || isProofOfComplete(value));
}

/** Whether a value that was read is the proof of a file that is complete. */
export function isProofOfComplete(value: unknown): value is Required<FileProof> {
  const proof = value as Partial<FileProof> | null;
  return typeof proof?.ino === "number" && typeof proof.size === "number" && typeof proof.mtime === "number";
}

/** The file system's times are told in fractions of a ms by some runtimes and without by others. */
const EXACTNESS = 1;

/** Returns the proof of a file that goes on to be written. */
export function proofOfOpen(status: Stats): FileProof {
  return { ino: status.ino, birth: status.birthtimeMs };
}

/** Returns the proof of a file that is complete. */
export function proofOfComplete(status: Stats): Required<FileProof> {
  return { ...proofOfOpen(status), size: status.size, mtime: status.mtimeMs };
}

/**
 * Returns the status of the file at `path` if it is the one of the proof: a regular file, with one name, at the same
 * place of the disk or, as a copy of the whole folder has it, of the same time, and of the same size if it is complete.
 */
export function provenFile(path: string, proof: FileProof): Stats | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined || !status.isFile()) return undefined;
  const isInPlace = status.ino === proof.ino && isSameTime(status.birthtimeMs, proof.birth);
  if (proof.size === undefined) return isInPlace ? status : undefined;
  const isOfTime = proof.mtime !== undefined && isSameTime(status.mtimeMs, proof.mtime);
  return status.size === proof.size && (isInPlace || isOfTime) ? status : undefined;
}

function isSameTime(one: number, other: number): boolean {
  return Math.abs(one - other) < EXACTNESS;
}
