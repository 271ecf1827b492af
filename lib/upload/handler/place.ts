import { lstatSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { ifMatchHolds, ifNoneMatchLists, ifUnmodifiedSinceHolds } from "../../semantics/mod.ts";
import { fieldOf } from "../body/body_source.ts";
import { UploadError } from "../body/upload_error.ts";
import type { Incoming } from "./incoming.ts";
import { Refusal } from "./problem.ts";
import type { Place } from "./storage.ts";

/**
 * Returns the status of the file or link at an upload's name; undefined if there is none. Looking is synchronous: it
 * takes some µs, and a turn of the event loop would let more of the body arrive before it can be held back.
 *
 * @param name A checked name.
 * @throws {Refusal} if its folder is missing: as with WebDAV (RFC 4918, section 9.7.1), none is made.
 * @throws {UploadError} `EXISTS` if it is something that no file can replace, `BAD_NAME` if the name is too long.
 */
export function statusOfPlace(directory: string, name: string): Stats | undefined {
  try {
    requireFolder(directory, name);
    const path = join(directory, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    const isLink = status?.isSymbolicLink() && !statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (status === undefined || status.isFile() || isLink) return status;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "ENAMETOOLONG") throw cause;
    throw new UploadError("BAD_NAME", `${JSON.stringify(name)} is no name for a file: it is too long`, { cause });
  }
  throw new UploadError("EXISTS", `Cannot store ${JSON.stringify(name)}: there is something else of that name`);
}

function requireFolder(directory: string, name: string): void {
  const end = name.lastIndexOf("/");
  if (end === -1) return;
  const folder = name.slice(0, end);
  let status: Stats | undefined;
  try {
    status = statSync(join(directory, folder), { throwIfNoEntry: false });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOTDIR") throw error;
  }
  if (status?.isDirectory()) return;
  throw new Refusal("NO_FOLDER", `Cannot store ${JSON.stringify(name)}: there is no folder ${JSON.stringify(folder)}`);
}

/**
 * Sees that the conditions under which a file may be stored hold. Files on a disk have no entity tags, so that none
 * matches.
 *
 * @throws {Refusal} with the status 412.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2}
 */
export function requireConditions({ source }: Incoming, status: Place | undefined): void {
  const ifMatch = fieldOf(source, "if-match");
  if (ifMatch !== undefined && (status === undefined || !ifMatchHolds(ifMatch, status.etag))) {
    throw conditionFailed("If-Match");
  }
  const since = ifMatch === undefined ? fieldOf(source, "if-unmodified-since") : undefined;
  const hasChanged = status && since !== undefined && !ifUnmodifiedSinceHolds(since, status.mtimeMs);
  if (hasChanged) throw conditionFailed("If-Unmodified-Since");
  if (status && wantsNone(source, status.etag)) throw conditionFailed("If-None-Match");
}

/** Whether the file must not be there, or not with that entity tag. */
export function wantsNone(source: Incoming["source"], etag?: string): boolean {
  const field = fieldOf(source, "if-none-match");
  return field !== undefined && ifNoneMatchLists(field, etag);
}

/** The refusal that a precondition asks for. */
export function conditionFailed(field: string, cause?: unknown): Refusal {
  return new Refusal("PRECONDITION_FAILED", `The condition of ${field} does not hold`, {}, cause);
}
