import type { S3Bucket } from "../../s3/mod.ts";
import { pieceKey } from "./bucket_keys.ts";
import type { Piece } from "./bucket_state.ts";

/** Bytes of the first pieces of data; after each run of pieces they are twice as large, as parts of an object are. */
const PIECE = 8 * 1024 * 1024;
const RUN = 1000;

/** A piece that is written. */
interface OpenPiece {
  readonly key: string;
  readonly most: number;
  readonly stream: ReturnType<S3Bucket["writable"]>;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  size: number;
}

/** Writes data into objects of a size, several of which are on their way to the store at a time. */
export class PieceWriter {
  readonly #bucket: S3Bucket;
  readonly #folder: string;
  #open: OpenPiece | undefined = undefined;
  /** Pieces that are on their way, in order. */
  readonly #underWay: Promise<Piece>[] = [];
  /** The number of the next piece; none is used twice. */
  #next: number;
  #pending = 0;

  /** @param next The number of the first piece. */
  constructor(bucket: S3Bucket, folder: string, next: number) {
    this.#bucket = bucket;
    this.#folder = folder;
    this.#next = next;
  }

  /** The number of the next piece. */
  get next(): number {
    return this.#next;
  }

  /** Bytes that were written and are not stored yet. */
  get pending(): number {
    return this.#pending;
  }

  /** How many pieces are on their way. */
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
      this.#pending += part.length;
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
    this.#pending -= piece.size;
    return piece;
  }

  /** Drops what is not stored. Never rejects. */
  async drop(reason: unknown): Promise<void> {
    await this.#open?.writer.abort(reason).catch(() => {}); // there is nothing of it
    this.#open = undefined;
    await Promise.allSettled(this.#underWay);
    this.#underWay.length = 0;
    this.#pending = 0;
  }

  #begin(before: number): OpenPiece {
    const count = before + this.#underWay.length;
    const key = pieceKey(this.#folder, this.#next++);
    const stream = this.#bucket.writable(key);
    const writer = stream.getWriter();
    writer.closed.catch(() => {}); // told by writes, and by close()
    return { key, most: PIECE * 2 ** Math.floor(count / RUN), stream, writer, size: 0 };
  }
}
