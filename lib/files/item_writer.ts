import { writeAsOwner } from "../streams/internal.ts";
import { checkedItems, WriteBatch } from "./write_batch.ts";

/** A request of a stream's own method, which is queued among the chunks. */
export class FileCommand {
  readonly kind: "flush" | "rotate" | "reopen";
  /** The reason of a failure without effect, after which the stream continues. */
  failure: { readonly reason: unknown } | undefined = undefined;

  constructor(kind: FileCommand["kind"]) {
    this.kind = kind;
  }
}

/**
 * @throws {TypeError} if a strategy has a size(), like the standard's strategies: these streams define the size of
 * chunks themselves.
 */
export function highWaterMarkOf({ highWaterMark, size }: QueuingStrategy, fallback: number): number {
  if (size === undefined) return highWaterMark ?? fallback;
  throw new TypeError("the strategy has a size(), which has no effect here: pass { highWaterMark } alone");
}

type Item = Uint8Array | string;

/** The file, or the series of files, to which items are written. */
export interface ItemTarget {
  readonly maxFileSize: number;
  /** Whether a line that is larger than a file is split instead of refused. */
  readonly cutsLines: boolean;
  /** The room in bytes of the next write's file. */
  readonly room: number;
  /** Appends bytes to the open file, or to a new one, which must have room for them. */
  write(pieces: readonly Uint8Array[], length: number): Promise<void>;
  /** Ends the open file; the next write begins another. */
  rotate(): Promise<void>;
  /** Waits until the written bytes are on the disk. */
  flush(): Promise<void>;
  /** Closes the open file, unfinished; an atomic one is removed. */
  discard(): Promise<void>;
}

/** A target that can also be used synchronously, even during an asynchronous write. */
export interface ImmediateTarget extends ItemTarget {
  /** Whether a failed write leaves no bytes, so that it may be repeated. */
  readonly takesBack: boolean;
  /** Completes the running write. */
  settleNow(): void;
  writeNow(pieces: readonly Uint8Array[], length: number): void;
  rotateNow(): void;
  reopen?(): void;
  flushNow(): void;
}

/** Writes the chunks of a stream, and runs the commands of its methods in between. */
export class ItemWriter {
  readonly #target: ItemTarget;
  readonly #gathered: WriteBatch = new WriteBatch();
  /** Whether there was ever a command: otherwise chunks need no check. */
  #hasCommands = false;
  /** The chunks that are still to be written, except the items from `#next` on. */
  #parts: (Item[] | FileCommand)[] = [];
  #items: Item[] = [];
  #next = 0;
  /** The reason why the stream has failed, or fails at its next step, since a part of the bytes may be written. */
  #failure: { readonly reason: unknown } | undefined = undefined;

  constructor(target: ItemTarget) {
    this.#target = target;
  }

  /** Runs a command after all chunks written so far; the stream may be locked. */
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
      await this.#target.discard(); // no abort() follows a failed writev()
      throw error;
    }
  }

  /**
   * Writes everything to the disk synchronously: the rest of the current batch, and the chunks that `drain` returns.
   *
   * @throws {unknown} also the reason of an earlier failure of the stream.
   */
  flushNow(drain: () => unknown[], target: ImmediateTarget): void {
    this.#requireWhole();
    try {
      target.settleNow();
      this.#writeNow(drain(), target);
    } catch (error) {
      if (!target.takesBack) this.#failure = { reason: error }; // otherwise write() gets the rest
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
    const isOwn = (): boolean => this.#items === items; // flushSync() may take the items
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

/** Reopens the file of a target, which continues with its current one if that fails. */
function reopen(target: ImmediateTarget, command: FileCommand): void {
  try {
    target.reopen!();
  } catch (error) {
    command.failure = { reason: error };
  }
}

/** Writes the leading items of `parts`, and leaves those that could not be written. */
function writeItemsNow(parts: unknown[], target: ImmediateTarget): void {
  const gathered = new WriteBatch(); // the shared one may have a running write
  const items = checkedItems(parts[0] as Item[], target);
  let next = 0;
  try {
    while (next < items.length) {
      gathered.fill(items, next, target.room);
      target.writeNow(gathered.pieces, gathered.length);
      next = gathered.next; // also if the file's end fails
      if (gathered.isLimited) target.rotateNow();
    }
  } finally {
    parts[0] = items.slice(next);
  }
}

/** Splits chunks into commands, and the runs of items between them. */
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
