import { randomUUID } from "node:crypto";
import type { S3Bucket, S3Object } from "../../s3/mod.ts";
import { SESSIONS } from "./disk_sessions.ts";

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

/** The session that an object is of. */
export function sessionOf(key: string): string {
  return key.split("/")[1];
}

/** A claim of a number, which no other has. */
export function claimOf(number: number): string {
  return `${String(number).padStart(8, "0")}-${randomUUID().slice(0, 8)}`;
}

/** The claim behind another, or the first one. */
export function claimAfter(last: string | undefined): string {
  return claimOf(last === undefined ? 1 : Number.parseInt(last, 10) + 1);
}

/** The key of a claim. */
export function claimKey(id: string, claim: string): string {
  return `${folderOf(id)}claims/${claim}`;
}

/** The beginning of the keys of what a holder has written. */
export function holdFolder(id: string, claim: string): string {
  return `${folderOf(id)}${claim}/`;
}

/** The key of the state that a holder has noted. */
export function stateKey(id: string, claim: string, isStored: boolean): string {
  return `${folderOf(id)}${claim}${isStored ? STORED : OPEN}`;
}

/** Whether a key is that of a state. */
export function isState(key: string): boolean {
  return key.endsWith(OPEN) || isStoredState(key);
}

/** Whether a key is that of the state of an upload that is stored. */
export function isStoredState(key: string): boolean {
  return key.endsWith(STORED);
}

/** The key of a piece of data. */
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

/** Removes objects, several at a time. */
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
