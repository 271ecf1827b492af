import { createHash } from "node:crypto";
import { LockLostError } from "../../files/internal.ts";
import { Interval } from "../../timers/mod.ts";
import {
  abortUpload,
  completeUpload,
  contexts,
  deleteObjects,
  GatheredPart,
  listParts,
  listUploads,
  ObjectUpload,
  partSizeFor,
  putObject,
  type UploadContext,
  writableOptions,
} from "../../s3/internal.ts";
import type { S3Bucket, S3Object, S3PutOptions } from "../../s3/mod.ts";
import { nameLost, nameTaken, Refusal } from "../body/upload_error.ts";
import { MARK, objectAt } from "../sink/created_object.ts";
import {
  dataKey,
  folderOf,
  isStoredRecord,
  listed,
  offsetOf,
  type Parts,
  partsNote,
  type Piece,
  pieceKey,
  recordKey,
  type SmallObjects,
  type State,
  stateOf,
} from "./bucket_objects.ts";
import { type OpenSession, type SessionRecord, storableType, type StoreOptions } from "./session_storage.ts";

/** The number of pieces at which they are joined to one before another is added. */
const MAX_PIECES = 900;
const READ_AT_ONCE = 16;
const SMALL = 128 * 1024;
/** The number of parts after which their count is stored during a request. */
const UNNOTED_PARTS = 8;

/** A session whose data is a multipart upload with parts of one size, and pieces after them that are too short for a part. */
export class BucketSession implements OpenSession {
  readonly id: string;
  readonly #bucket: S3Bucket;
  readonly #context: UploadContext;
  readonly #small: SmallObjects;
  record: SessionRecord;
  #recordKey: string | undefined;
  touched: number;
  #parts: Parts | undefined;
  #pieces: readonly Piece[];
  #data: Pick<S3Object, "key" | "size" | "etag"> | undefined;
  #spent: string[];
  /** The number of bytes that count, and of all appended bytes. */
  #kept: number;
  #end: number;
  /** Appended bytes, while they and the pieces are too few for a part. */
  #pending: GatheredPart | undefined = undefined;
  /** The multipart upload, once there are enough bytes for a part: it also contains the bytes of all pieces. */
  #upload: ObjectUpload | undefined = undefined;
  #base = 0;
  #isDoubted = false;
  /** Whether an earlier attempt may have stored the object. */
  #mayBeStored: boolean;
  /** Whether the store may have a note of the multipart upload, even if the response to the note's request was lost. */
  #isNoted: boolean;
  readonly #touchEvery: number;
  readonly #touching: Interval;

  /** @param touchEvery The time in ms after which a session that is acquired, or receives bytes, is touched. */
  constructor(
    bucket: S3Bucket,
    small: SmallObjects,
    touchEvery: number,
    id: string,
    record: SessionRecord,
    state: State,
  ) {
    this.id = id;
    this.#bucket = bucket;
    this.#context = contexts.get(bucket)!;
    this.#small = small;
    this.record = record;
    this.#mayBeStored = record.state !== "open";
    this.#recordKey = state.record;
    this.touched = Math.max(0, state.touched);
    this.#parts = state.parts;
    this.#isNoted = state.parts !== undefined;
    this.#pieces = state.pieces;
    this.#data = state.data;
    this.#spent = [...state.spent];
    this.#kept = this.#end = offsetOf(state);
    this.#touchEvery = touchEvery;
    this.#touching = new Interval(touchEvery, () => void this.#touch(), { keepsAlive: false });
  }

  get offset(): number {
    return this.record.state === "stored" ? this.record.bytes ?? 0 : this.#end;
  }

  async save(record: SessionRecord): Promise<void> {
    await this.settle();
    const key = recordKey(this.id, record, this.#now());
    await this.#small.put(key, JSON.stringify(record));
    const past = this.#recordKey;
    this.record = record;
    this.#recordKey = key;
    // The old object no longer counts, and is removed with the session.
    if (past !== undefined) await this.#bucket.delete(past).catch(() => {});
  }

  /** Appends bytes, which survive the process only once {@linkcode settle} has resolved. */
  async append(pieces: readonly Uint8Array[]): Promise<void> {
    if (this.#data !== undefined) throw new Error(`The upload ${this.id} is whole: nothing can be appended`);
    if (Date.now() - this.touched > this.#touchEvery) await this.#touch();
    await this.#orDrop(async () => {
      for (const piece of pieces) {
        const upload = this.#upload ?? await this.#openFor(piece.length);
        if (upload !== undefined) await upload.write(piece);
        else await (this.#pending ??= new GatheredPart(0, this.#context.storage)).append(piece);
        this.#end += piece.length;
      }
      const upload = this.#isDoubted ? undefined : this.#upload;
      const unnoted = (upload?.stored.count ?? 0) - (this.#parts?.count ?? 0);
      if (unnoted >= UNNOTED_PARTS) await this.#noteParts(upload!);
    });
  }

  async settle(): Promise<void> {
    if (this.#end !== this.#kept && !this.#isDoubted) await this.#orDrop(() => this.#keep());
  }

  async #orDrop(step: () => Promise<void>): Promise<void> {
    await step().catch(async (error) => {
      await this.#drop(error);
      throw await this.#lossOf(error);
    });
  }

  doubt(): Promise<void> {
    this.#isDoubted = true;
    return Promise.resolve();
  }

  async vouch(): Promise<void> {
    this.#isDoubted = false;
    await this.settle();
  }

  async dropDoubted(): Promise<void> {
    await this.#drop(undefined);
  }

  async *read(): AsyncGenerator<Uint8Array> {
    const data = await this.#seal();
    if (data !== undefined) yield* this.#bucket.readable(data.key, { ifMatch: data.etag });
  }

  async dropData(): Promise<void> {
    await this.#remove(({ key }) => !isStoredRecord(key));
  }

  async store(name: string, { overwrite, claim }: StoreOptions): Promise<undefined> {
    await this.settle();
    const there = await objectAt(this.#bucket, name);
    if (this.#isOwn(there)) return; // the object was stored before a kill
    const isNewer = there !== undefined && there.etag !== this.record.found?.etag;
    if (there !== undefined && (!overwrite || isNewer && claim !== undefined)) throw nameTaken(name);
    if (isNewer && this.#mayBeStored) throw nameLost(name);
    this.#mayBeStored = true;
    claim?.check(there && { mtimeMs: there.lastModified.getTime(), etag: there.etag });
    // The conditions were checked for `there`, so only that object may be replaced.
    const only = claim && there && { ifMatch: there.etag };
    await this.#join(name, only ?? { overwrite: overwrite && claim === undefined });
  }

  async remove(): Promise<void> {
    this.#touching.stop();
    const hasUpload = this.#parts !== undefined || this.#upload !== undefined;
    await this.#drop(new Error("the upload is removed"));
    await this.#remove(() => true);
    const { store } = this.#context;
    if (hasUpload) {
      for await (const upload of listUploads(store, folderOf(this.id))) {
        await abortUpload(store, upload);
      }
    }
    this.#parts = this.#data = undefined;
    this.#pieces = [];
    this.#kept = this.#end = 0;
  }

  async release(): Promise<void> {
    this.#touching.stop();
    await this.settle().catch(() => {}); // the append has reported the failure
    await this.#drop(undefined);
  }

  async #join(name: string, condition: Pick<S3PutOptions, "ifMatch" | "overwrite">): Promise<void> {
    const data = await this.#seal().catch(async (error) => {
      throw await this.#lossOf(error);
    });
    const fields = { contentType: storableType(this.record.contentType), metadata: { [MARK]: this.#mark } };
    try {
      await this.#bucket.join(data ? [data] : [], name, { ...fields, ...condition });
    } catch (error) {
      const { status } = error as { status?: unknown };
      if (status !== 404 && status !== 412) throw error;
      // An attempt with a lost response, or another server, may have stored the object.
      if (this.#isOwn(await this.#bucket.head(name))) return;
      throw status === 404 && condition.ifMatch === undefined ? await this.#lossOf(error) : nameTaken(name, error);
    }
  }

  /** The mark of the object. The id is secret, and everyone who may read an object gets its metadata. */
  get #mark(): string {
    return createHash("sha256").update(this.id).digest("hex");
  }

  #isOwn(object: S3Object | undefined): boolean {
    return object?.metadata?.[MARK] === this.#mark;
  }

  /** Maps an error that may mean that another server has joined the object into a part, or the whole. */
  async #lossOf(error: unknown): Promise<unknown> {
    const { status, code } = error as { status?: unknown; code?: unknown };
    if (status !== 404) return error;
    if (code === "NoSuchUpload" && this.#parts !== undefined) {
      const { parts, data } = stateOf(await listed(this.#bucket, folderOf(this.id)));
      if (parts?.key === this.#parts.key && data === undefined) {
        await this.remove().catch(() => {}); // it expires instead
        return new Refusal("NOT_FOUND", "The store has removed what it had of the upload: begin anew", {}, error);
      }
    }
    return new LockLostError(`the upload ${this.id}`);
  }

  /** Returns the time for a name: later names have later times. */
  #now(): number {
    return this.touched = Math.max(Date.now(), this.touched + 1);
  }

  /** Keeps the session from expiring: its request may take a long time before it stores another object. */
  async #touch(): Promise<void> {
    const key = `${folderOf(this.id)}touch-${this.#now()}`;
    await this.#small.put(key, "").then(() => this.#spent.push(key), () => {}); // the next touch may succeed
  }

  /** Returns the multipart upload if the pending bytes and `length` more are enough for a part. */
  async #openFor(length: number): Promise<ObjectUpload | undefined> {
    const size = this.#parts?.size ?? partSizeFor(this.record.length ?? 0);
    const isFilled = this.#end - (this.#parts?.end ?? 0) + length >= size;
    return isFilled || this.#pieces.length >= MAX_PIECES ? await this.#open() : undefined;
  }

  /** Continues or begins the multipart upload, with the bytes after its parts. */
  async #open(): Promise<ObjectUpload> {
    const { length, contentType } = this.record;
    const options = writableOptions({ size: length, contentType: storableType(contentType) });
    const parts = this.#parts;
    let start = this.#base = parts?.end ?? 0;
    const begun = parts && { uploadId: await this.#begun(parts), skipped: parts.count, partSize: parts.size };
    const resumed = { ...begun, parts: [], isLeft: true };
    const upload = this.#upload = new ObjectUpload(dataKey(this.id), this.#context, options, resumed);
    for (let i = 0; i < this.#pieces.length; i += READ_AT_ONCE) {
      const some = this.#pieces.slice(i, i + READ_AT_ONCE);
      const isSmall = ({ start, end }: Piece): boolean => end - start <= SMALL;
      const read = await Promise.all(some.map((piece) => isSmall(piece) ? this.#small.read(piece.key) : undefined));
      for (const [index, { key, etag: ifMatch, start: from, end }] of some.entries()) {
        const range = { start: start - from, end: end - from };
        const small = read[index]?.subarray(range.start);
        if (small !== undefined) await upload.write(small);
        else for await (const chunk of this.#bucket.readable(key, { range, ifMatch })) await upload.write(chunk);
        start = end;
      }
    }
    const pending = this.#pending;
    if (pending === undefined) return upload;
    for await (const chunk of pending.open()) await upload.write(chunk);
    this.#pending = undefined;
    await pending.discard();
    return upload;
  }

  async #begun({ key }: Parts): Promise<string> {
    return JSON.parse(await this.#small.readText(key)).uploadId;
  }

  async #keep(): Promise<void> {
    const isWhole = this.record.length === this.#end;
    const upload = this.#upload ?? (isWhole && this.#parts !== undefined ? await this.#open() : undefined);
    // The last bytes of a complete upload become its last part, if there are others.
    const isLast = isWhole && upload?.uploadId !== undefined;
    await upload?.settle(isLast);
    if (upload !== undefined) await this.#noteParts(upload);
    const rest = upload?.rest ?? this.#pending;
    if (rest !== undefined && rest.length > 0) await this.#putPiece(rest);
    this.#kept = this.#end;
    // Objects that cannot be removed now are removed together with the session.
    await deleteObjects(this.#context.store, this.#spent.splice(0)).catch(() => {});
  }

  /** Stores the number of parts; pieces before their end are then obsolete. */
  async #noteParts({ uploadId, partSize, stored }: ObjectUpload): Promise<void> {
    if (stored.count === (this.#parts?.count ?? 0)) return;
    const counted = { count: stored.count, size: partSize, end: this.#base + stored.size };
    const parts = partsNote(this.id, counted, this.#now());
    this.#isNoted = true;
    await this.#small.put(parts.key, JSON.stringify({ uploadId }));
    this.#spent = this.#spent.concat(this.#parts?.key ?? [], this.#pieces.map(({ key }) => key));
    this.#parts = parts;
    this.#pieces = [];
    this.#kept = parts.end;
  }

  /** Stores bytes that are too few for a part: the new ones, or in a multipart upload all after its parts. */
  async #putPiece(bytes: GatheredPart): Promise<void> {
    const isNew = bytes === this.#pending;
    const [start, end] = [isNew ? this.#kept : this.#parts?.end ?? 0, this.#end];
    const key = pieceKey(this.id, start, end, this.#now());
    const { etag } = await putObject(this.#context.store, key, bytes);
    if (bytes.length <= SMALL) this.#small.remember(key, await bytes.whole());
    if (!isNew) this.#spent = this.#spent.concat(this.#pieces.map(({ key }) => key));
    this.#pieces = [...(isNew ? this.#pieces : []), { key, etag, start, end }];
    if (!isNew) return;
    this.#pending = undefined;
    await bytes.discard();
  }

  /** Leaves the multipart upload, and discards the appended bytes that are not stored. Never rejects. */
  async #drop(reason: unknown): Promise<void> {
    const [upload, pending] = [this.#upload, this.#pending];
    this.#upload = this.#pending = undefined;
    await upload?.leave(reason ?? new Error("the upload is left"));
    // Otherwise the sender sends the bytes again.
    if (upload !== undefined && !this.#isDoubted) await this.#noteParts(upload).catch(() => {});
    const { key, uploadId } = upload ?? {};
    if (uploadId !== undefined && !this.#isNoted) {
      await abortUpload(this.#context.store, { key: key!, uploadId }).catch(() => {}); // old uploads are removed later
    }
    await pending?.discard().catch(() => {}); // the bytes were given up
    this.#end = this.#kept;
  }

  /** Joins the data to one object, once it is complete; undefined if it has no bytes. */
  async #seal(): Promise<Pick<S3Object, "key" | "size" | "etag"> | undefined> {
    await this.settle();
    const [piece, ...others] = this.#pieces;
    if (this.#data !== undefined || this.#end === 0) return this.#data;
    if (this.#parts === undefined && others.length === 0) return { ...piece!, size: this.#end };
    const { store } = this.#context;
    const key = dataKey(this.id);
    const upload = piece === undefined ? undefined : this.#upload ?? await this.#open();
    let stored: { readonly etag: string };
    if (this.#parts === undefined) stored = await putObject(store, key, upload!.rest);
    else {
      await upload?.settle(true);
      const begun = { key, uploadId: await this.#begun(this.#parts) };
      stored = await this.#complete(begun, upload?.stored.count ?? this.#parts.count);
    }
    const data = this.#data = { key, size: this.#end, etag: stored.etag };
    await this.#drop(undefined);
    return data;
  }

  async #complete(
    begun: { readonly key: string; readonly uploadId: string },
    count: number,
  ): Promise<{ readonly etag: string }> {
    const { store } = this.#context;
    try {
      const counted = (await listParts(store, begun)).slice(0, count);
      const size = counted.reduce((sum, part) => sum + part.size, 0);
      if (size === this.#end) return await completeUpload(store, begun, counted, {});
      throw new Error(`The store has ${size} of the ${this.#end} bytes of the upload ${this.id}`);
    } catch (error) {
      // Another server, or an earlier attempt, has completed the upload.
      const there = await this.#bucket.head(begun.key).catch(() => undefined);
      if (there?.size !== this.#end) throw error;
      return there;
    }
  }

  async #remove(isRemoved: (object: S3Object) => boolean): Promise<void> {
    const objects = (await listed(this.#bucket, folderOf(this.id))).filter(isRemoved);
    await deleteObjects(this.#context.store, objects.map(({ key }) => key));
  }
}
