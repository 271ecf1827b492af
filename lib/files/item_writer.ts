import { writeAsOwner } from "../streams/internal.ts";
import { checkedItems, WriteBatch } from "./write_batch.ts";

/** A request of a stream's own method, which waits among the chunks for its turn. */
export class FileCommand {
  readonly kind: "flush" | "rotate" | "reopen";
  /** The reason of a failure that has changed nothing: the stream goes on. */
  failure: { readonly reason: unknown } | undefined = undefined;

  constructor(kind: FileCommand["kind"]) {
    this.kind = kind;
  }
}

/** @throws {TypeError} if a strategy has a size(), as the standard's have: what these streams count is theirs to say. */
export function highWaterMarkOf({ highWaterMark, size }: QueuingStrategy, fallback: number): number {
  if (size === undefined) return highWaterMark ?? fallback;
  throw new TypeError("the strategy has a size(), which has no effect here: pass { highWaterMark } alone");
}

type Item = Uint8Array | string;

/** A file, or a series of them, that items are written to. */
export interface ItemTarget {
  /** The maximum size of a file, in bytes. */
  readonly maxFileSize: number;
  /** Whether a line that is larger than a file is cut rather than refused. */
  readonly cutsLines: boolean;
  /** Bytes that the file of the next write has room for. */
  readonly room: number;
  /** Appends bytes to the open file, or to a new one; there must be room for them. */
  write(pieces: readonly Uint8Array[], length: number): Promise<void>;
  /** Ends the open file; the next write begins another. */
  rotate(): Promise<void>;
  /** Waits until what was written is on the disk. */
  flush(): Promise<void>;
  /** Closes the open file: it stays as it is, or is removed if it is atomic. */
  discard(): Promise<void>;
}

/** A target that does all of that at once, too, while a write of the other kind is under way. */
export interface ImmediateTarget extends ItemTarget {
  /** Whether nothing is left of a write that has failed, so that it may be made again. */
  readonly takesBack: boolean;
  /** Brings the write that is under way to its end. */
  settleNow(): void;
  writeNow(pieces: readonly Uint8Array[], length: number): void;
  rotateNow(): void;
  reopen?(): void;
  flushNow(): void;
}

/** Writes the chunks of a stream, and does what its methods have asked for between them. */
export class ItemWriter {
  readonly #target: ItemTarget;
  readonly #gathered: WriteBatch = new WriteBatch();
  /** Whether there ever was a command: chunks are not looked at otherwise. */
  #hasCommands = false;
  /** The chunks to be written that are not under way, but for the items from `#next` on. */
  #parts: (Item[] | FileCommand)[] = [];
  #items: Item[] = [];
  #next = 0;
  /** The reason why the stream has failed, or fails with its next step: a part of what was to be written may be there. */
  #failure: { readonly reason: unknown } | undefined = undefined;

  constructor(target: ItemTarget) {
    this.#target = target;
  }

  /** Has the target obey a command behind all that was written to the stream, which may be locked. */
  async request(stream: WritableStream, kind: FileCommand["kind"]): Promise<void> {
    this.#hasCommands = true;
    const command = new FileCommand(kind);
    await writeAsOwner(stream, command);
    if (command.failure !== undefined) throw command.failure.reason;
  }

  async write(chunks: (Item | FileCommand)[]): Promise<void> {
    try {
      this.#requireWhole();
      this.#parts = [...this.#parts, ...(this.#hasCommands ? partsOf(chunks) : [chunks as Item[]])];
      for (let part = this.#parts.shift(); part !== undefined; part = this.#parts.shift()) {
        if (part instanceof FileCommand) await this.#obey(part);
        else await this.#writeItems(part);
        this.#requireWhole(); // flushSync() may have failed meanwhile
      }
    } catch (error) {
      this.#failure ??= { reason: error };
      await this.#target.discard(); // a stream whose writev() failed gets no abort()
      throw error;
    }
  }

  /**
   * Brings all to the disk at once: what is left of the batch that is being written, and what `drain` returns.
   *
   * @throws {unknown} also why the stream has failed earlier.
   */
  flushNow(drain: () => unknown[], target: ImmediateTarget): void {
    this.#requireWhole();
    try {
      target.settleNow();
      this.#writeNow(drain(), target);
    } catch (error) {
      if (!target.takesBack) this.#failure = { reason: error }; // else write() gets what is left
      throw error;
    }
    target.flushNow();
  }

  #writeNow(chunks: unknown[], target: ImmediateTarget): void {
    const parts = this.#parts = [this.#items.slice(this.#next), ...this.#parts, ...partsOf(chunks)];
    this.#items = [];
    for (; parts.length > 0; parts.shift()) {
      const [part] = parts;
      if (!(part instanceof FileCommand)) writeItemsNow(parts, target);
      else if (part.kind === "rotate") target.rotateNow();
      else if (part.kind === "reopen") reopen(target, part);
    }
  }

  #requireWhole(): void {
    if (this.#failure !== undefined) throw this.#failure.reason;
  }

  async #obey(command: FileCommand): Promise<void> {
    const target = this.#target;
    if (command.kind === "flush") await target.flush();
    else if (command.kind === "rotate") await target.rotate();
    else reopen(target as ImmediateTarget, command);
  }

  async #writeItems(given: Item[]): Promise<void> {
    const target = this.#target;
    const gathered = this.#gathered;
    const items = this.#items = checkedItems(given, target);
    const isOwn = (): boolean => this.#items === items; // flushSync() takes them
    for (this.#next = 0; isOwn() && this.#next < items.length;) {
      gathered.fill(items, this.#next, target.room);
      this.#next = gathered.next;
      await target.write(gathered.pieces, gathered.length);
      if (gathered.isLimited && isOwn()) await target.rotate();
    }
    this.#items = [];
    gathered.clear();
  }
}

/** Has a target open its file again, which goes on with the one that it has where that fails. */
function reopen(target: ImmediateTarget, command: FileCommand): void {
  try {
    target.reopen!();
  } catch (error) {
    command.failure = { reason: error };
  }
}

/** Writes the items that `parts` begins with, and leaves there what could not be written. */
function writeItemsNow(parts: unknown[], target: ImmediateTarget): void {
  const gathered = new WriteBatch(); // the bytes of another one may be under way
  const items = checkedItems(parts[0] as Item[], target);
  let next = 0;
  try {
    for (; next < items.length; next = gathered.next) {
      gathered.fill(items, next, target.room);
      target.writeNow(gathered.pieces, gathered.length);
      if (gathered.isLimited) target.rotateNow();
    }
  } finally {
    parts[0] = items.slice(next);
  }
}

/** Chunks as the runs between commands, and these. */
function partsOf(chunks: readonly unknown[]): (Item[] | FileCommand)[] {
  const parts: (Item[] | FileCommand)[] = [];
  let start = 0;
  for (let i = 0; i < chunks.length; i++) {
    const chunk = chunks[i];
    if (!(chunk instanceof FileCommand)) continue;
    parts.push(chunks.slice(start, i) as Item[], chunk);
    start = i + 1;
  }
  parts.push(chunks.slice(start) as Item[]);
  return parts;
}
