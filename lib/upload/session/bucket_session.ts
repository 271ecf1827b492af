import { randomUUID } from "node:crypto";
import { LockLostError } from "../../files/internal.ts";
import type { S3Bucket } from "../../s3/mod.ts";
import { nameTaken, type UploadError } from "../body/upload_error.ts";
import { CreatedObject, MARK } from "../sink/created_object.ts";
import type { BodyDestination } from "../sink/open_sink.ts";
import {
  claimKey,
  claimsOf,
  folderOf,
  holdFolder,
  listed,
  type Piece,
  pieceKey,
  removeAll,
  removeSession,
  stagedKey,
  type State,
  stateKey,
} from "./bucket_objects.ts";
import { type SessionHold, type SessionRecord, storableType, type StoreOptions } from "./session_storage.ts";

/** Bytes of the first pieces of data; after each run of pieces they are twice as large, as parts of an object are. */
const PIECE = 8 * 1024 * 1024;
const RUN = 1000;

interface OpenPiece {
  readonly key: string;
  readonly most: number;
  readonly stream: ReturnType<S3Bucket["writable"]>;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  size: number;
}

/** Writes data into objects of a size, several of which are on their way to the store at a time. */
class PieceWriter {
  readonly #bucket: S3Bucket;
  readonly #folder: string;
  #open: OpenPiece | undefined = undefined;
  /** Pieces that are on their way, in order. */
  readonly #underWay: Promise<Piece>[] = [];
  /** The number of the next piece; none is used twice. */
  next: number;
  /** Bytes that were written and are not stored yet. */
  pending = 0;

  constructor(bucket: S3Bucket, folder: string, next: number) {
    this.#bucket = bucket;
    this.#folder = folder;
    this.next = next;
  }

  get underWay(): number {
    return this.#underWay.length;
  }

  /** @param before How many pieces there are already. */
  async write(bytes: Uint8Array, before: number): Promise<void> {
    for (let start = 0; start < bytes.length;) {
      const open = this.#open ??= this.#begin(before);
      const part = bytes.subarray(start, start + open.most - open.size);
      await open.writer.write(part);
      open.size += part.length;
      this.pending += part.length;
      start += part.length;
      if (open.size === open.most) this.finish();
    }
  }

  /** Sends the piece that is written. */
  finish(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { key, size, stream, writer } = open;
    // Of a stream that has failed, close() does not tell why.
    const stored = writer.close().catch(() => writer.closed).then(() => ({ key, size, etag: stream.stored!.etag }));
    stored.catch(() => {}); // told by whoever waits for it
    this.#underWay.push(stored);
  }

  /** Waits until the oldest of the pieces under way is stored. */
  async oldest(): Promise<Piece> {
    const piece = await this.#underWay[0];
    this.#underWay.shift();
    this.pending -= piece.size;
    return piece;
  }

  /** Drops what is not stored. Never rejects. */
  async drop(reason: unknown): Promise<void> {
    await this.#open?.writer.abort(reason).catch(() => {}); // there is nothing of it
    this.#open = undefined;
    await Promise.allSettled(this.#underWay);
    this.#underWay.length = 0;
    this.pending = 0;
  }

  #begin(before: number): OpenPiece {
    const count = before + this.#underWay.length;
    const key = pieceKey(this.#folder, this.next++);
    const stream = this.#bucket.writable(key);
    const writer = stream.getWriter();
    writer.closed.catch(() => {}); // told by writes, and by close()
    return { key, most: PIECE * 2 ** Math.floor(count / RUN), stream, writer, size: 0 };
  }
}

/** How many pieces are on their way to the store at a time. */
const UNDER_WAY = 2;

export class BucketHold implements SessionHold {
  readonly id: string;
  readonly #claim: string;
  readonly #bucket: S3Bucket;
  readonly #writer: PieceWriter;
  record: SessionRecord;
  touched: number;
  #pieces: Piece[];
  #isDirty = false;
  /** Whether the number of a piece was used in vain, so that what comes behind it must be noted. */
  #hasGap = false;

  constructor(bucket: S3Bucket, id: string, claim: string, { record, pieces, next, touched }: State) {
    this.id = id;
    this.#bucket = bucket;
    this.#claim = claim;
    this.#writer = new PieceWriter(bucket, holdFolder(id, claim), next);
    this.record = record;
    this.#pieces = [...pieces];
    this.touched = touched;
  }

  get offset(): number {
    if (this.record.state === "stored") return this.record.bytes ?? 0;
    return this.#pieces.reduce((sum, { size }) => sum + size, this.#writer.pending);
  }

  async save(record: SessionRecord): Promise<void> {
    await this.settle();
    this.touched = Date.now();
    await this.note(record);
  }

  /** Notes the state, beside the claim. */
  async note(record: SessionRecord = this.record): Promise<void> {
    const isStored = record.state === "stored"; // what data there was, the record tells
    const { touched } = this;
    const state: State = { record, pieces: isStored ? [] : this.#pieces, next: this.#writer.next, touched };
    await this.#bucket.put(stateKey(this.id, this.#claim, isStored), JSON.stringify(state));
    this.record = record;
    this.#hasGap = false;
  }

  /** The bytes outlive the process once {@linkcode settle} has resolved. */
  async append(pieces: readonly Uint8Array[]): Promise<void> {
    if (this.#hasGap) await this.save(this.record);
    this.#isDirty = true;
    for (const piece of pieces) await this.#writer.write(piece, this.#pieces.length);
    if (this.#writer.underWay > UNDER_WAY) await this.#keepOldest();
  }

  async settle(): Promise<void> {
    if (!this.#isDirty) return;
    try {
      this.#writer.finish();
      while (this.#writer.underWay > 0) await this.#keepOldest();
    } catch (error) {
      await this.#drop(error);
      throw error;
    }
    this.#isDirty = false;
    await this.#requireHeld();
  }

  async truncate(offset: number): Promise<void> {
    await this.settle();
    let end = 0;
    const kept: Piece[] = [];
    const dropped: Piece[] = [];
    for (const piece of this.#pieces) {
      const start = end;
      end += piece.size;
      if (end <= offset) kept.push(piece);
      else dropped.push(piece);
      if (start >= offset || end <= offset) continue;
      const range = { start: 0, end: offset - start };
      const rest = await new Response(this.#bucket.readable(piece.key, { range, ifMatch: piece.etag })).bytes();
      kept.push(await this.#bucket.put(`${holdFolder(this.id, this.#claim)}cut-${randomUUID()}`, rest));
    }
    this.#pieces = kept;
    await this.save(this.record);
    await removeAll(this.#bucket, dropped);
  }

  async *read(): AsyncGenerator<Uint8Array> {
    await this.settle();
    for (const { key, etag } of this.#pieces) yield* this.#bucket.readable(key, { ifMatch: etag });
  }

  staged(part: string, contentType: string): BodyDestination {
    return this.#bucket.writable(stagedKey(this.id, part), { contentType: storableType(contentType) });
  }

  async clearStage(): Promise<void> {
    await removeAll(this.#bucket, await listed(this.#bucket, stagedKey(this.id, "")));
  }

  async dropData(): Promise<void> {
    this.#pieces = [];
    const kept = [claimKey(this.id, ""), stateKey(this.id, this.#claim, true)];
    const objects = await listed(this.#bucket, folderOf(this.id));
    await removeAll(this.#bucket, objects.filter(({ key }) => !kept.some((prefix) => key.startsWith(prefix))));
  }

  async store(name: string, { overwrite, part, isThere = true, made }: StoreOptions): Promise<undefined> {
    await this.settle();
    await this.#requireHeld();
    const mark = part === undefined ? this.id : `${this.id}/${part}`;
    const there = await this.#bucket.head(name);
    const isOurs = there?.metadata?.[MARK] === mark; // it was stored before a kill
    if (there !== undefined && !isOurs && !overwrite) throw nameTaken(name);
    const created = new CreatedObject(this.#bucket, name, { mark, replaced: isOurs ? isThere : there !== undefined });
    made?.push(created);
    if (isOurs) return;
    const isFree = overwrite && made !== undefined && there === undefined;
    try {
      await this.#join(name, mark, { overwrite: overwrite && !isFree, part });
      return;
    } catch (error) {
      if (!isFree || (error as UploadError).code !== "EXISTS") throw error;
    }
    created.replaced = true; // another came meanwhile
    await this.#join(name, mark, { overwrite, part });
  }

  async remove(): Promise<void> {
    await this.#drop(new Error("the upload is removed"));
    await this.#requireHeld();
    await removeSession(this.#bucket, this.id);
    this.#pieces = [];
  }

  async release(): Promise<void> {
    await this.settle().catch(() => {}); // what failed was told by the append
    await this.#drop(undefined);
  }

  async #join(name: string, mark: string, { overwrite, part }: StoreOptions): Promise<void> {
    const staged = part === undefined ? undefined : await this.#bucket.head(stagedKey(this.id, part));
    const pieces = part === undefined ? this.#pieces : staged && [staged];
    if (pieces === undefined) throw new Error(`The file ${part} of the upload ${this.id} is not there any more`);
    const contentType = staged?.contentType ?? storableType(this.record.contentType);
    try {
      await this.#bucket.join(pieces, name, { contentType, metadata: { [MARK]: mark }, overwrite });
    } catch (error) {
      if ((error as { status?: unknown }).status !== 412 || overwrite) throw error;
      // An attempt whose answer was lost may have stored it.
      if ((await this.#bucket.head(name))?.metadata?.[MARK] !== mark) throw nameTaken(name, error);
    }
  }

  /** Waits until the oldest of the pieces under way is stored. */
  async #keepOldest(): Promise<void> {
    this.#pieces.push(await this.#writer.oldest());
    this.touched = Date.now();
  }

  /** Drops what is not stored. Never rejects. */
  async #drop(reason: unknown): Promise<void> {
    if (this.#isDirty) this.#hasGap = true;
    this.#isDirty = false;
    await this.#writer.drop(reason);
  }

  /** @throws {LockLostError} if another has taken the session over. */
  async #requireHeld(): Promise<void> {
    const claims = await claimsOf(this.#bucket, this.id);
    if (claims.at(-1) !== this.#claim) throw new LockLostError(`the upload ${this.id}`);
  }
}
