import { type BigIntStats, lstatSync, unlinkSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { codeOf } from "./failure.ts";
import { type NameOptions, takeName } from "./place.ts";
import { whileRefused } from "./rename.ts";

/**
 * The outcome of an undo: `undone`, `kept` because it replaced something or the system refused, `changed` because
 * something else is there by now or it was written to, or `missing` because nothing is.
 */
export type Undone = "undone" | "kept" | "changed" | "missing";

/** An object that an operation created, and that can be taken away again. */
export interface Undoable {
  /** Removes exactly what the operation created, if it is there unchanged. Never rejects. */
  undo(): Promise<Undone>;
}

/** The parts of a file's status that tell it from all others, and from itself once it was written to. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  /** The time of the file's birth, which distinguishes a reused inode; 0 where the file system does not know. */
  readonly birthtimeNs: bigint;
  readonly size: bigint;
  /** The time of its last write, which distinguishes bytes that were overwritten. */
  readonly mtimeNs: bigint;
}

export function identityIn({ dev, ino, birthtimeNs, size, mtimeNs }: BigIntStats): FileIdentity {
  return { dev, ino, birthtimeNs, size, mtimeNs };
}

/** Returns the identity of the file or link at `path`; undefined if there is nothing. */
export async function identityOf(path: string): Promise<FileIdentity | undefined> {
  try {
    return identityIn(await lstat(path, { bigint: true }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Whether two identities are those of one file, unchanged.
 *
 * Where the file system knows no time of birth, a reused inode is recognized by the size and the time of the last write
 * alone. Where the system gives the time of the last change of status in its stead, a file whose permissions or links
 * were changed counts as changed, too.
 */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  const haveBirths = one.birthtimeNs !== 0n && other.birthtimeNs !== 0n;
  return one.dev === other.dev && one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs &&
    (!haveBirths || one.birthtimeNs === other.birthtimeNs);
}

/**
 * Removes the file at `path` if it is still the one with an identity. Looking and removing follow each other in one turn
 * of the event loop, so that nothing of this process comes between.
 */
export async function removeIfSame(
  path: string,
  identity: FileIdentity,
): Promise<Extract<Undone, "undone" | "changed" | "missing">> {
  return await whileRefused(() => {
    try {
      const status = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (status === undefined) return "missing";
      if (!isSameFile(identityIn(status), identity)) return "changed";
      unlinkSync(path);
      return "undone";
    } catch (error) {
      if (isMissing(error)) return "missing";
      throw error;
    }
  });
}

/** Whether an error says that nothing has a path, be it that a part of it is a file. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** A file that an operation gave its name. */
export class CreatedFile implements Undoable {
  readonly path: string;
  readonly #identity: FileIdentity;
  /** Whether something had the name before, which is gone, so that the file has to stay. */
  replaced = false;

  /** @param identity The file's, which had its name before this process looked, and replaced nothing. */
  constructor(path: string, identity: FileIdentity) {
    this.path = path;
    this.#identity = identity;
  }

  /**
   * Gives the complete file `from` the name `to`, as {@linkcode takeName} does, and notes in `made` what undoes that: also
   * if it fails, since the name may be taken all the same.
   *
   * @throws {Error} what the file system says, with its `code`: `EEXIST` of a name that is taken.
   */
  static async take(
    from: string,
    to: string,
    { replace, atOnce, before, check, path = to }: NameOptions,
    made: Undoable[],
  ): Promise<void> {
    // Before it has the name: after that another file may have it.
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
    if (this.replaced) return "kept";
    return await removeIfSame(this.path, this.#identity).catch(() => "kept");
  }
}

/** Takes away again all that was made, the newest first. Never rejects: an earlier failure is the one to tell. */
export async function undoAll(made: readonly Undoable[]): Promise<void> {
  for (const each of made.toReversed()) await each.undo();
}
