import { randomUUID } from "node:crypto";
import type { S3Bucket, S3Object } from "../../s3/mod.ts";
import { UploadError } from "../body/upload_error.ts";
import { SESSIONS } from "./disk_sessions.ts";
import { parseRecord, type SessionRecord } from "./session_record.ts";
import { SessionBusyError, type SessionHold, type SessionStorage } from "./session_storage.ts";

/** Bytes of the first pieces of data; after each run of pieces they are twice as large, as parts of an object are. */
const PIECE = 8 * 1024 * 1024;
const RUN = 1000;
/** How many pieces are on their way to the store at a time. */
const UNDER_WAY = 2;
/** How many objects are removed at a time. */
const REMOVED_AT_ONCE = 8;
/** How often a session is read anew whose holder changes it meanwhile. */
const TRIES = 5;
/** The metadata that tells of which session an object is. */
const MARK = "millrace-upload";

/** A piece of the data of a session. */
type Piece = Pick<S3Object, "key" | "size" | "etag">;

/** The state of a session, as its last holder noted it. */
interface State {
  readonly record: SessionRecord;
  /** The pieces that make the data. */
  readonly pieces: readonly Piece[];
  /** The number of the next piece of that holder: those from it on, without a gap, are data too. */
  readonly next: number;
}

/**
 * Sessions in a bucket. There are no locks in it: who takes a session writes a claim of a higher number than all others,
 * notes what data there was when the claim could be seen, and puts its own pieces beside its claim. What a former holder
 * still stores counts no more, and it tells its sender nothing before it has seen that there is no higher claim. This
 * holds where a store shows in listings what was stored before, as S3 does.
 */
export class BucketSessions implements SessionStorage {
  readonly #bucket: S3Bucket;

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  async create(id: string, record: SessionRecord): Promise<SessionHold> {
    const hold = new BucketHold(this.#bucket, id, claimOf(1), { record, pieces: [], next: 0 });
    await this.#bucket.put(claimKey(id, hold.claim), "");
    await hold.save(record);
    return hold;
  }

  async hold(id: string): Promise<SessionHold | undefined> {
    for (let tries = 0; tries < TRIES; tries++) {
      const claims = await claimsOf(this.#bucket, id);
      const [last] = claims.slice(-1);
      if (last === undefined) return undefined;
      const claim = claimOf(Number.parseInt(last, 10) + 1);
      await this.#bucket.put(claimKey(id, claim), "");
      const objects = await listed(this.#bucket, folderOf(id));
      const others = objects.filter(({ key }) => key.startsWith(claimKey(id, "")));
      if (others.some(({ key }) => key > claimKey(id, claim))) throw new SessionBusyError();
      const found = await stateIn(this.#bucket, objects);
      if (found === undefined) continue; // a former holder has written another meanwhile, or all is gone
      const hold = new BucketHold(this.#bucket, id, claim, found, touchedAt(objects));
      await hold.save(found.record);
      const past = objects.filter(({ key }) => key < claimKey(id, claim) && key.startsWith(claimKey(id, "")));
      // What is left goes with the session.
      await removeAll(this.#bucket, [...past, ...objects.filter(({ key }) => key.endsWith(STATE))]).catch(() => {});
      return hold;
    }
    return undefined;
  }

  async countOpen(): Promise<number> {
    const open = new Set<string>();
    for await (const { key } of this.#bucket.list({ prefix: `${SESSIONS}/` })) {
      if (!key.endsWith(STATE) && !key.includes("/claims/")) open.add(key.split("/")[1]);
    }
    return open.size;
  }

  async removeExpired(ms: number): Promise<number> {
    const sessions = new Map<string, S3Object[]>();
    for await (const object of this.#bucket.list({ prefix: `${SESSIONS}/` })) {
      const id = object.key.split("/")[1];
      sessions.set(id, [...sessions.get(id) ?? [], object]);
    }
    let removed = 0;
    for (const [id, objects] of sessions) {
      if (Date.now() - touchedAt(objects) < ms) continue;
      // A claim of ours: who comes meanwhile finds the session incomplete, and who has it acknowledges nothing more.
      const last = (await claimsOf(this.#bucket, id)).at(-1) ?? "0";
      await this.#bucket.put(claimKey(id, claimOf(Number.parseInt(last, 10) + 1)), "");
      const now = await listed(this.#bucket, folderOf(id));
      await removeAll(this.#bucket, now.filter(({ key }) => !key.startsWith(claimKey(id, ""))));
      await removeAll(this.#bucket, now.filter(({ key }) => key.startsWith(claimKey(id, ""))));
      removed++;
    }
    return removed;
  }
}

const STATE = "/state.json";

function folderOf(id: string): string {
  return `${SESSIONS}/${id}/`;
}

/** A claim of a number, which no other has. */
function claimOf(number: number): string {
  return `${String(number).padStart(8, "0")}-${randomUUID().slice(0, 8)}`;
}

function claimKey(id: string, claim: string): string {
  return `${folderOf(id)}claims/${claim}`;
}

async function claimsOf(bucket: S3Bucket, id: string): Promise<string[]> {
  const prefix = claimKey(id, "");
  return (await listed(bucket, prefix)).map(({ key }) => key.slice(prefix.length)).sort();
}

async function listed(bucket: S3Bucket, prefix: string): Promise<S3Object[]> {
  const objects: S3Object[] = [];
  for await (const object of bucket.list({ prefix })) objects.push(object);
  return objects;
}

/** The state of a session: what the last holder that noted one has noted, and what it has stored since. */
async function stateIn(bucket: S3Bucket, objects: readonly S3Object[]): Promise<State | undefined> {
  const key = objects.map(({ key }) => key).filter((key) => key.endsWith(STATE)).sort().at(-1);
  if (key === undefined) return undefined;
  const text = await new Response(bucket.readable(key)).text().catch((error) => {
    if ((error as { status?: unknown }).status === 404) return "";
    throw error;
  });
  const state = parseState(text);
  if (state === undefined) return undefined;
  const { record, pieces, next } = state;
  const folder = key.slice(0, -STATE.length + 1);
  const found = new Map(objects.map((object) => [object.key, object]));
  const chain: Piece[] = [...pieces];
  if (chain.some((piece) => !found.has(piece.key))) return undefined; // it is being removed
  for (let index = next, piece = found.get(pieceKey(folder, index)); piece !== undefined;) {
    chain.push({ key: piece.key, size: piece.size, etag: piece.etag });
    piece = found.get(pieceKey(folder, ++index));
  }
  return { record, pieces: chain, next: 0 };
}

function parseState(text: string): State | undefined {
  try {
    const { record, pieces, next } = JSON.parse(text) as State;
    const parsed = parseRecord(JSON.stringify(record));
    return parsed && Array.isArray(pieces) ? { record: parsed, pieces, next } : undefined;
  } catch {
    return undefined;
  }
}

function pieceKey(folder: string, index: number): string {
  return `${folder}${String(index).padStart(8, "0")}`;
}

function touchedAt(objects: readonly S3Object[]): number {
  return Math.max(...objects.map(({ lastModified }) => lastModified.getTime()));
}

async function removeAll(bucket: S3Bucket, objects: readonly Piece[]): Promise<void> {
  for (let i = 0; i < objects.length; i += REMOVED_AT_ONCE) {
    await Promise.all(objects.slice(i, i + REMOVED_AT_ONCE).map(({ key }) => bucket.delete(key)));
  }
}

/** A piece that is written. */
interface OpenPiece {
  readonly key: string;
  readonly most: number;
  readonly stream: ReturnType<S3Bucket["writable"]>;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  size: number;
}

class BucketHold implements SessionHold {
  readonly id: string;
  readonly claim: string;
  readonly #bucket: S3Bucket;
  #record: SessionRecord;
  #pieces: Piece[];
  #open: OpenPiece | undefined = undefined;
  /** Pieces that are on their way, in order. */
  #underWay: Promise<Piece>[] = [];
  /** Bytes of them, and of the one that is written. */
  #pending = 0;
  #isDirty = false;
  /** The number of the next piece; none is used twice. */
  #next: number;
  /** Whether a number was used in vain, so that what comes behind it must be noted. */
  #hasGap = false;
  #touched: number;

  constructor(
    bucket: S3Bucket,
    id: string,
    claim: string,
    { record, pieces, next }: State,
    touched: number = Date.now(),
  ) {
    this.#bucket = bucket;
    this.id = id;
    this.claim = claim;
    this.#record = record;
    this.#pieces = [...pieces];
    this.#next = next;
    this.#touched = touched;
  }

  get record(): SessionRecord {
    return this.#record;
  }

  get offset(): number {
    if (this.#record.state === "stored") return this.#record.bytes ?? 0;
    return this.#pieces.reduce((sum, { size }) => sum + size, this.#pending);
  }

  get touched(): number {
    return this.#touched;
  }

  async save(record: SessionRecord): Promise<void> {
    await this.settle();
    const isStored = record.state === "stored"; // what data there was, the record tells
    const state: State = { record, pieces: isStored ? [] : this.#pieces, next: this.#next };
    await this.#bucket.put(`${this.#folder}state.json`, JSON.stringify(state));
    this.#record = record;
    this.#hasGap = false;
  }

  get #folder(): string {
    return `${folderOf(this.id)}${this.claim}/`;
  }

  /** The bytes outlive the process once {@linkcode settle} has resolved. */
  async append(pieces: readonly Uint8Array[]): Promise<void> {
    if (this.#hasGap) await this.save(this.#record);
    for (const piece of pieces) {
      for (let start = 0; start < piece.length;) {
        const open = this.#open ??= this.#begin();
        const part = piece.subarray(start, start + open.most - open.size);
        await open.writer.write(part);
        open.size += part.length;
        this.#pending += part.length;
        start += part.length;
        if (open.size === open.most) this.#finish();
      }
    }
    if (this.#underWay.length > UNDER_WAY) await this.#oldest();
  }

  async settle(): Promise<void> {
    if (!this.#isDirty) return;
    try {
      this.#finish();
      while (this.#underWay.length > 0) await this.#oldest();
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
      kept.push(await this.#bucket.put(`${this.#folder}cut-${this.#next++}`, rest));
    }
    this.#pieces = kept;
    await this.save(this.#record);
    await removeAll(this.#bucket, dropped);
  }

  async *read(): AsyncGenerator<Uint8Array> {
    await this.settle();
    for (const { key, etag } of this.#pieces) yield* this.#bucket.readable(key, { ifMatch: etag });
  }

  async concatenate(others: readonly SessionHold[]): Promise<void> {
    for (const other of others) {
      for await (const piece of other.read()) await this.append([piece]);
    }
    await this.settle();
  }

  /** Nothing is made in the store that is not to be there. */
  get stage(): undefined {
    return undefined;
  }

  clearStage(): Promise<void> {
    return Promise.resolve();
  }

  async dropData(): Promise<void> {
    await this.#clear();
  }

  async store(name: string, { overwrite }: { readonly overwrite: boolean }): Promise<undefined> {
    await this.settle();
    await this.#requireHeld();
    const there = await this.#bucket.head(name);
    if (there?.metadata?.[MARK] === this.id) return undefined; // it was stored before a kill
    const { contentType } = this.#record;
    try {
      if (there !== undefined && !overwrite) throw exists(name);
      await this.#bucket.join(this.#pieces, name, { contentType, metadata: { [MARK]: this.id }, overwrite });
    } catch (error) {
      throw (error as { status?: unknown }).status === 412 && !overwrite ? exists(name, error) : error;
    }
    return undefined;
  }

  async remove(): Promise<void> {
    await this.#drop(new Error("the upload is removed"));
    await this.#requireHeld();
    const objects = await listed(this.#bucket, folderOf(this.id));
    const claims = claimKey(this.id, "");
    await removeAll(this.#bucket, objects.filter(({ key }) => !key.startsWith(claims)));
    await removeAll(this.#bucket, objects.filter(({ key }) => key.startsWith(claims)));
    this.#pieces = [];
  }

  async release(): Promise<void> {
    await this.settle().catch(() => {}); // what failed was told by the append
    await this.#drop(undefined);
  }

  #begin(): OpenPiece {
    this.#isDirty = true;
    const count = this.#pieces.length + this.#underWay.length;
    const key = pieceKey(this.#folder, this.#next++);
    const stream = this.#bucket.writable(key);
    const writer = stream.getWriter();
    writer.closed.catch(() => {}); // told by writes, and by close()
    return { key, most: PIECE * 2 ** Math.floor(count / RUN), stream, writer, size: 0 };
  }

  /** Sends the piece that is written. */
  #finish(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { key, size, stream, writer } = open;
    // Of a stream that has failed, close() does not tell why.
    const stored = writer.close().catch(() => writer.closed).then(() => ({ key, size, etag: stream.stored!.etag }));
    stored.catch(() => {}); // told by whoever waits for it
    this.#underWay.push(stored);
  }

  /** Removes the data, and what former holders have left. */
  async #clear(): Promise<void> {
    this.#pieces = [];
    const kept = [claimKey(this.id, ""), `${this.#folder}state.json`];
    const objects = await listed(this.#bucket, folderOf(this.id));
    await removeAll(this.#bucket, objects.filter(({ key }) => !kept.some((prefix) => key.startsWith(prefix))));
  }

  /** Waits until the oldest of the pieces under way is stored. */
  async #oldest(): Promise<void> {
    const piece = await this.#underWay[0];
    this.#underWay.shift();
    this.#pieces.push(piece);
    this.#pending -= piece.size;
    this.#touched = Date.now();
  }

  /** Drops what is not stored. Never rejects. */
  async #drop(reason: unknown): Promise<void> {
    if (this.#isDirty) this.#hasGap = true;
    await this.#open?.writer.abort(reason).catch(() => {}); // there is nothing of it
    this.#open = undefined;
    await Promise.allSettled(this.#underWay);
    this.#underWay = [];
    this.#pending = 0;
    this.#isDirty = false;
  }

  /** @throws {SessionBusyError} if another has taken the session. */
  async #requireHeld(): Promise<void> {
    const claims = await claimsOf(this.#bucket, this.id);
    if (claims.at(-1) !== this.claim) throw new SessionBusyError();
  }
}

function exists(name: string, cause?: unknown): UploadError {
  const message = `Cannot store ${JSON.stringify(name)}: there is a file of that name`;
  return new UploadError("EXISTS", message, cause === undefined ? undefined : { cause });
}
