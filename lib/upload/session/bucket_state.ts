import type { S3Bucket, S3Object } from "../../s3/mod.ts";
import { isState, pieceKey } from "./bucket_keys.ts";
import { parseRecord, type SessionRecord } from "./session_record.ts";

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

/**
 * The state of a session: what the last holder that noted one has noted, and what it has stored since.
 *
 * @returns undefined if it is being written, or removed.
 */
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
