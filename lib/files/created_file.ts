import { type BigIntStats, lstatSync, unlinkSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { ignoreMissing, isMissing } from "./failure.ts";
import { type NameOptions, takeName } from "./place.ts";
import { whileRefused } from "./rename.ts";

/**
 * The outcome of an undo: `undone`; `kept` because it replaced an object or the system refused; `changed` because
 * another object has the name or it was written to; or `missing` because there is none.
 */
export type Undone = "undone" | "kept" | "changed" | "missing";

/** An object that an operation created, and that can be removed again. */
export interface Undoable {
  /** Removes exactly the object that the operation created, if it is unchanged. Never rejects. */
  undo(): Promise<Undone>;
}

/** The parts of a file's status that distinguish it from all others, and from its state before a write. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  /** The time of the file's birth, which distinguishes a reused inode; 0 if the file system has none. */
  readonly birthtimeNs: bigint;
  readonly size: bigint;
  /** The time of its last write, which distinguishes overwritten bytes. */
  readonly mtimeNs: bigint;
}

export function identityIn({ dev, ino, birthtimeNs, size, mtimeNs }: BigIntStats): FileIdentity {
  return { dev, ino, birthtimeNs, size, mtimeNs };
}

/** Returns the identity of the file or link at `path`; undefined if there is none. */
export async function identityOf(path: string): Promise<FileIdentity | undefined> {
  const status = await lstat(path, { bigint: true }).catch(ignoreMissing);
  return status && identityIn(status);
}

/**
 * Whether two identities are those of one file, unchanged.
 *
 * If the file system has no birth times, a reused inode is recognized only by size and modification time. If the system
 * gives the change time instead, a file with changed permissions or links counts as changed, too.
 */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  const haveBirths = one.birthtimeNs !== 0n && other.birthtimeNs !== 0n;
  return one.dev === other.dev && one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs &&
    (!haveBirths || one.birthtimeNs === other.birthtimeNs);
}

/**
 * Removes the file at `path` if it still has an identity, unless it is to be kept. The check and the removal run in one
 * turn of the event loop, so that no other code of this process runs in between.
 */
export async function removeIfSame(path: string, identity: FileIdentity, isKept = false): Promise<Undone> {
  return await whileRefused(() => {
    try {
      const status = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (status === undefined) return "missing";
      if (!isSameFile(identityIn(status), identity)) return "changed";
      if (isKept) return "kept";
      unlinkSync(path);
      return "undone";
    } catch (error) {
      if (isMissing(error)) return "missing";
      throw error;
    }
  });
}

/** A file that got its name from an operation. */
export class CreatedFile implements Undoable {
  readonly path: string;
  readonly #identity: FileIdentity;
  /** Whether the file has replaced an object, so that it must stay. */
  replaced = false;

  /** @param identity The identity of a file that already had its name, and replaced none. */
  constructor(path: string, identity: FileIdentity) {
    this.path = path;
    this.#identity = identity;
  }

  /**
   * Gives the complete file `from` the name `to`, like {@linkcode takeName}, and adds the undo to `made`, even if it
   * fails, since the file may have the name.
   *
   * @throws {Error} of the file system, with its `code`: `EEXIST` if the name is taken.
   */
  static async take(
    from: string,
    to: string,
    { replace, atOnce, before, check, path = to }: NameOptions,
    made: Undoable[],
  ): Promise<void> {
    // Created before the file has the name, since another file may have the name afterwards.
    const created = new CreatedFile(path, identityIn(await lstat(from, { bigint: true })));
    made.push(created);
    try {
      return await takeName(from, to, { replace: false, atOnce, before });
    } catch (error) {
      if (!replace || (error as { code?: unknown }).code !== "EEXIST") throw error;
    }
    created.replaced = true;
    await takeName(from, to, { replace: true, atOnce, before, check });
  }

  async undo(): Promise<Undone> {
    return await removeIfSame(this.path, this.#identity, this.replaced).catch(() => "kept");
  }
}

/**
 * Removes all created objects again, the newest first, and returns the outcomes in the order of creation. Never rejects,
 * since an earlier failure is the one to report.
 */
export async function undoAll(made: readonly Undoable[]): Promise<Undone[]> {
  const outcomes: Undone[] = [];
  for (const each of made.toReversed()) outcomes.unshift(await each.undo());
  return outcomes;
}
