import { randomUUID } from "node:crypto";
import type { S3Bucket, S3Object } from "../../s3/mod.ts";
import { parseRecord, type SessionRecord, SESSIONS } from "./session_storage.ts";

/** How many objects are removed at a time. */
const REMOVED_AT_ONCE = 8;

/** The state of a session whose upload is not stored. */
const OPEN = "/state.json";
/** The state of a session whose upload is stored. By their names they are told from the others, which count. */
const STORED = "/stored.json";

/** The beginning of the keys of a session's objects. */
export function folderOf(id: string): string {
  return `${SESSIONS}/${id}/`;
}

export function sessionOf(key: string): string {
  return key.split("/")[1];
}

/** The claim behind another, or the first one: a number, and what no other claim has. */
export function claimAfter(last: string | undefined): string {
  const number = last === undefined ? 1 : Number.parseInt(last, 10) + 1;
  return `${String(number).padStart(8, "0")}-${randomUUID().slice(0, 8)}`;
}

export function claimKey(id: string, claim: string): string {
  return `${folderOf(id)}claims/${claim}`;
}

/** The beginning of the keys of what a holder has written. */
export function holdFolder(id: string, claim: string): string {
  return `${folderOf(id)}${claim}/`;
}

export function stateKey(id: string, claim: string, isStored: boolean): string {
  return `${folderOf(id)}${claim}${isStored ? STORED : OPEN}`;
}

export function isState(key: string): boolean {
  return key.endsWith(OPEN) || isStoredState(key);
}

/** Whether a key is that of the state of an upload that is stored. */
export function isStoredState(key: string): boolean {
  return key.endsWith(STORED);
}

export function pieceKey(folder: string, index: number): string {
  return `${folder}${String(index).padStart(8, "0")}`;
}

/** The key of a file that is made of the data of a session. Whoever makes it, it is the same. */
export function stagedKey(id: string, part: string): string {
  return `${folderOf(id)}stage/${part}`;
}

/** The claims of a session, in their order. */
export async function claimsOf(bucket: S3Bucket, id: string): Promise<string[]> {
  const prefix = claimKey(id, "");
  return (await listed(bucket, prefix)).map(({ key }) => key.slice(prefix.length)).sort();
}

/** All objects whose keys begin so. */
export async function listed(bucket: S3Bucket, prefix: string): Promise<S3Object[]> {
  const objects: S3Object[] = [];
  for await (const object of bucket.list({ prefix })) objects.push(object);
  return objects;
}

export async function removeAll(bucket: S3Bucket, objects: readonly Pick<S3Object, "key">[]): Promise<void> {
  for (let i = 0; i < objects.length; i += REMOVED_AT_ONCE) {
    await Promise.all(objects.slice(i, i + REMOVED_AT_ONCE).map(({ key }) => bucket.delete(key)));
  }
}

/** Removes the objects of a session: claims last, so that whoever comes meanwhile finds it incomplete. */
export async function removeSession(bucket: S3Bucket, id: string): Promise<void> {
  const objects = await listed(bucket, folderOf(id));
  const claims = claimKey(id, "");
  await removeAll(bucket, objects.filter(({ key }) => !key.startsWith(claims)));
  await removeAll(bucket, objects.filter(({ key }) => key.startsWith(claims)));
}

/** When the last of objects was stored, in ms since 1970. */
export function touchedAt(objects: readonly S3Object[]): number {
  return objects.reduce((last, { lastModified }) => Math.max(last, lastModified.getTime()), -Infinity);
}

/** A piece of the data of a session. */
export type Piece = Pick<S3Object, "key" | "size" | "etag">;

/** The state of a session, as its last holder noted it. */
export interface State {
  readonly record: SessionRecord;
  /** The pieces that make the data. */
  readonly pieces: readonly Piece[];
  /** The number of the next piece of that holder: those from it on, without a gap, are data too. */
  readonly next: number;
  /** When the session was changed last, in ms since 1970. */
  readonly touched: number;
}

/** Returns what the last holder that noted a state has noted and stored since; undefined while that is changed. */
export async function stateIn(bucket: S3Bucket, objects: readonly S3Object[]): Promise<State | undefined> {
  const key = objects.map(({ key }) => key).filter(isState).sort().at(-1);
  if (key === undefined) return undefined;
  const text = await new Response(bucket.readable(key)).text().catch((error) => {
    if ((error as { status?: unknown }).status === 404) return "";
    throw error;
  });
  const state = parseState(text);
  if (state === undefined) return undefined;
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const found = new Map(objects.map((object) => [object.key, object]));
  const pieces: Piece[] = [...state.pieces];
  if (pieces.some((piece) => !found.has(piece.key))) return undefined; // it is being removed
  let { next, touched } = state;
  for (
    let piece = found.get(pieceKey(folder, next));
    piece !== undefined;
    piece = found.get(pieceKey(folder, ++next))
  ) {
    pieces.push({ key: piece.key, size: piece.size, etag: piece.etag });
    touched = Math.max(touched, piece.lastModified.getTime());
  }
  return { record: state.record, pieces, next: 0, touched };
}

function parseState(text: string): State | undefined {
  try {
    const { record, pieces, next, touched } = JSON.parse(text) as State;
    const parsed = parseRecord(JSON.stringify(record));
    return parsed && Array.isArray(pieces) ? { record: parsed, pieces, next, touched } : undefined;
  } catch {
    return undefined;
  }
}
