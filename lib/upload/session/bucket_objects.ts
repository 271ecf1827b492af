import { randomUUID } from "node:crypto";
import type { S3Bucket, S3Object } from "../../s3/mod.ts";
import { type SessionRecord, SESSIONS } from "./session_storage.ts";

/** The maximum bytes of small objects that a handler caches, so that each piece of a sender is read at most once. */
const MAX_CACHED_BYTES = 8 * 2 ** 20;
/** The order of a record's states: a later state takes precedence over an earlier one. */
const RANKS: Readonly<Record<SessionRecord["state"], number>> = { open: 1, storing: 2, stored: 3 };
const STORED = /^record-3-/;

export function folderOf(id: string): string {
  return `${SESSIONS}/${id}/`;
}

export function sessionOf(key: string): string {
  return key.split("/")[1];
}

function nameIn(key: string): string {
  return key.split("/").slice(2).join("/");
}

export function dataKey(id: string): string {
  return `${folderOf(id)}data`;
}

export function recordKey(id: string, { state }: SessionRecord, time: number): string {
  return `${folderOf(id)}record-${RANKS[state]}-${time}`;
}

export function isStoredRecord(key: string): boolean {
  return STORED.test(nameIn(key));
}

/** The consecutive parts of a session's multipart upload in the store. */
export interface Parts {
  readonly key: string;
  readonly count: number;
  /** The size of all parts but the last, in bytes. */
  readonly size: number;
  /** The total size of the parts in bytes. */
  readonly end: number;
}

export function partsNote(id: string, { count, size, end }: Omit<Parts, "key">, time: number): Parts {
  return { key: `${folderOf(id)}parts-${end}-${size}-${count}-${time}-${unique()}`, count, size, end };
}

/** A small object with bytes of the data behind all parts. */
export interface Piece {
  readonly key: string;
  readonly etag: string;
  /** The offset of the piece's first byte in the data, and of its end. */
  readonly start: number;
  readonly end: number;
}

export function pieceKey(id: string, start: number, end: number, time: number): string {
  return `${folderOf(id)}piece-${start}-${end}-${time}-${unique()}`;
}

/** Returns a random text, which distinguishes objects that two servers make of the same bytes. */
function unique(): string {
  return randomUUID().slice(0, 8);
}

export interface State {
  readonly record: string | undefined;
  readonly parts: Parts | undefined;
  /** The pieces after the parts; if one overlaps its predecessor, only the rest counts. */
  readonly pieces: readonly Piece[];
  /** The data as one object, once it is complete and joined. */
  readonly data: Pick<S3Object, "key" | "size" | "etag"> | undefined;
  /** The time of the session's last change, in ms since 1970, by the servers' clocks. */
  readonly touched: number;
  readonly spent: readonly string[];
}

/** The index of the time among the numbers in a name, by kind. */
const TIMES: Readonly<Record<string, number>> = { record: 1, parts: 3, piece: 2, touch: 0 };

/** Computes a session's state from the names of its objects, which describe their content: no server ever changes an object. */
export function stateOf(objects: readonly S3Object[]): State {
  let record: { key: string; rank: number; time: number } | undefined;
  let parts: Parts | undefined;
  let data: S3Object | undefined;
  let touched = -Infinity;
  const pieces: Piece[] = [];
  const keys = new Set<string>();
  for (const object of objects) {
    const { key, etag } = object;
    const [kind, ...texts] = nameIn(key).split("-");
    const numbers = texts.map(Number);
    if (kind === "record") {
      const [rank, time] = numbers;
      const isLater = record === undefined || rank > record.rank || (rank === record.rank && time > record.time);
      if (isLater) record = { key, rank, time };
    } else if (kind === "parts") {
      const [end, size, count] = numbers;
      if (end > (parts?.end ?? 0)) parts = { key, count, size, end };
    } else if (kind === "piece") {
      pieces.push({ key, etag, start: numbers[0], end: numbers[1] });
    } else if (kind !== "touch") {
      if (key === dataKey(sessionOf(key))) data = object;
      continue;
    }
    touched = Math.max(touched, numbers[TIMES[kind]]);
    keys.add(key);
  }
  const chain = chainOf(pieces, parts?.end ?? 0);
  const offset = offsetOf({ data, parts, pieces: chain });
  for (const { key } of [...chain, ...pieces.filter(({ end }) => end > offset)]) keys.delete(key);
  if (record !== undefined) keys.delete(record.key);
  if (parts !== undefined) keys.delete(parts.key);
  return { record: record?.key, parts, pieces: chain, data, touched, spent: [...keys] };
}

/** Returns the pieces that extend farthest from the byte `start` on, without a gap. */
function chainOf(pieces: readonly Piece[], start: number): Piece[] {
  const chain: Piece[] = [];
  let end = start;
  let best: Piece | undefined;
  for (const piece of pieces.toSorted((a, b) => a.start - b.start)) {
    if (best !== undefined && piece.start > end) {
      chain.push(best);
      end = best.end;
      best = undefined;
    }
    if (piece.start > end) break;
    if (piece.end > (best?.end ?? end)) best = piece;
  }
  return best === undefined ? chain : [...chain, best];
}

export function offsetOf({ data, parts, pieces }: Pick<State, "data" | "parts" | "pieces">): number {
  return data?.size ?? pieces.at(-1)?.end ?? parts?.end ?? 0;
}

export async function listed(bucket: S3Bucket, prefix: string): Promise<S3Object[]> {
  return await Array.fromAsync(bucket.list({ prefix }));
}

/** A cache of the small objects that were last stored or read; objects never change. */
export class SmallObjects {
  readonly #bucket: S3Bucket;
  readonly #remembered = new Map<string, Uint8Array>();
  #size = 0;

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  async put(key: string, text: string): Promise<void> {
    await this.#bucket.put(key, text);
    this.remember(key, new TextEncoder().encode(text));
  }

  /** @throws {S3Error} with the status 404 if the object was removed meanwhile. */
  async read(key: string): Promise<Uint8Array> {
    const bytes = this.#remembered.get(key) ?? await new Response(this.#bucket.readable(key)).bytes();
    this.remember(key, bytes);
    return bytes;
  }

  async readText(key: string): Promise<string> {
    return new TextDecoder().decode(await this.read(key));
  }

  remember(key: string, bytes: Uint8Array): void {
    this.#size += bytes.length - (this.#remembered.get(key)?.length ?? 0);
    this.#remembered.delete(key); // moves the object to the end
    this.#remembered.set(key, bytes);
    for (const [first, { length }] of this.#remembered) {
      if (this.#size <= MAX_CACHED_BYTES) return;
      this.#remembered.delete(first);
      this.#size -= length;
    }
  }
}
