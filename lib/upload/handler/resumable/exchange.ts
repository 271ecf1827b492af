import { ALGORITHMS, type DigestAlgorithm, essenceOf, formatDigest, formatHTTPDate } from "../../../semantics/mod.ts";
import { type Announced, Digester, parseDigestField, verifyDigests } from "../../body/announced.ts";
import { fieldOf, takeAll } from "../../body/body_source.ts";
import { receiveBody } from "../../body/receive_body.ts";
import { Refusal, UploadError } from "../../body/upload_error.ts";
import type { HoldOptions, OpenSession, SessionRecord } from "../../session/session_storage.ts";
import type { Lease, Sessions } from "../../session/sessions.ts";
import type { UploadInfo } from "../handler_options.ts";
import { type Answer, headersOf, refusalOf, type UploadRequest } from "../incoming.ts";
import { pathBelow } from "../naming.ts";
import { completed, stored, underConditions } from "../reception.ts";
import type { Settings } from "../settings.ts";
import { requireConditions } from "../storage.ts";

export type Fields = Readonly<Record<string, string>>;

export interface Exchange {
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly request: UploadRequest;
}

const ID = /^[0-9a-f]{32}$/;

/** Returns the session that a request's path names, or undefined. */
export function sessionIn({ target }: UploadRequest, basePath: string): string | undefined {
  const below = pathBelow(target, basePath);
  return below !== undefined && ID.test(below) ? below : undefined;
}

/** Returns the session at the end of a URL's path, whatever proxies have put before it. */
export function sessionOfUrl(url: string): string | undefined {
  const last = url.replace(/[?#].*$/s, "").split("/").at(-1) ?? "";
  return ID.test(last) ? last : undefined;
}

export function requestField({ request }: Pick<Exchange, "request">, name: string): string | undefined {
  return fieldOf(request.source, name)?.trim();
}

/** Returns the media type of a request's content, without its parameters; empty if it has none. */
export function contentTypeOf({ request }: Pick<Exchange, "request">): string {
  return essenceOf(fieldOf(request.source, "content-type") ?? "");
}

/** Acquires a session while `use` runs. @throws {Refusal} `NOT_FOUND`, or `LOCKED` if another request has it. */
export async function withSession<T>(
  exchange: Exchange,
  id: string | undefined,
  protocol: "tus" | "rufh",
  use: (lease: Lease) => Promise<T>,
  options?: HoldOptions,
): Promise<T> {
  const lease = id === undefined ? undefined : await exchange.sessions.take(id, options);
  try {
    if (lease?.session.record.protocol === protocol) return await use(lease);
  } finally {
    await lease?.release();
  }
  throw new Refusal("NOT_FOUND", "There is no such unfinished upload: it may have expired");
}

export function removeSession(exchange: Exchange, id: string | undefined, protocol: "tus" | "rufh"): Promise<Answer> {
  return withSession(exchange, id, protocol, async ({ session }) => {
    await session.remove();
    return emptyAnswer(204, {});
  }, { toRemove: true });
}

/** A digest that a request announces for its data. */
export interface Checksum {
  update(pieces: readonly Uint8Array[]): void;
  /** @throws {Refusal} if the computed digest differs. */
  verify(): void;
}

/** Appends the body of the request, up to `maxBytes`; with a checksum, the whole body or nothing. */
export async function appendRequest(
  { settings, request }: Exchange,
  { session, signal }: Lease,
  announced: Announced,
  maxBytes: number,
  checksum?: Checksum,
): Promise<void> {
  const start = session.offset;
  const { length: expectedBytes } = session.record;
  const onProgress = ({ bytes }: { readonly bytes: number }): void => {
    request.bytes = bytes;
    settings.save.onProgress?.({ bytes: start + bytes, expectedBytes });
  };
  const options = { ...settings.save, maxBytes, signal, onProgress, decode: false };
  const isDoubted = checksum !== undefined || announced.digests.size > 0;
  if (isDoubted) await session.doubt();
  const { body } = receiveBody(request.open(), options, announced);
  let appending: Promise<void> = Promise.resolve();
  try {
    await takeAll(body, (pieces) => appending = session.append(pieces).then(() => checksum?.update(pieces)));
    checksum?.verify();
  } catch (error) {
    await appending.catch(() => {}); // bytes before a failure of the body are kept
    await body.cancel(error);
    if (checksum !== undefined || (error as UploadError).code === "DIGEST_MISMATCH") await session.truncate(start);
    throw error;
  } finally {
    await session.settle();
    if (isDoubted) await session.vouch();
  }
}

/** Returns the refusal of a failure, with `fields` added to its response. */
export function refused({ settings }: Exchange, error: unknown, fields: Fields): Refusal {
  return refusalOf(settings.storage.explained(error, "the upload"), settings.save).withFields(fields);
}

/** Whether a failure is final, so that the upload cannot be resumed. */
export function isFinal(error: unknown): boolean {
  if (error instanceof Refusal) return error.status < 500;
  return error instanceof UploadError && error.status < 499;
}

export function emptyAnswer(status: number, fields: Fields): Answer {
  return { status, fields: status === 204 ? fields : { ...fields, "Content-Length": "0" }, body: undefined };
}

export function maxSizeOf({ save }: Settings): number {
  return save.maxBytes ?? Infinity;
}

/** Returns the value of `Upload-Limit`, for one upload or for any. */
export function uploadLimit(settings: Settings, session: OpenSession | undefined): string {
  const maxSize = maxSizeOf(settings);
  const { maxAge } = settings.sessions!;
  const left = session === undefined ? maxAge : Math.max(0, session.touched + maxAge - Date.now());
  return [...(maxSize === Infinity ? [] : [`max-size=${maxSize}`]), `max-age=${Math.floor(left / 1000)}`].join(", ");
}

export function expiryOf({ sessions }: Settings, session: OpenSession): string {
  return formatHTTPDate(session.touched + sessions!.maxAge);
}

export function requireSize(settings: Settings, length: number | undefined): void {
  const maxSize = maxSizeOf(settings);
  if (length === undefined || length <= maxSize) return;
  throw new Refusal("TOO_LARGE", `The upload has ${length} bytes, and at most ${maxSize} are accepted`);
}

/** The fields of the creating request that affect how the complete representation is stored. */
const KEPT_FIELDS = ["if-match", "if-none-match", "if-unmodified-since", "repr-digest"] as const;

export function keptFields({ request }: Exchange): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_FIELDS) {
    const value = fieldOf(request.source, name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** Returns the request that created a session, as far as storing depends on it. */
export function requestOf({ method, fields }: SessionRecord): Request {
  return new Request("http://localhost/", { method, headers: fields });
}

export function infoOf({ request, settings }: Exchange, record: SessionRecord): UploadInfo {
  const { method, path, contentType, filename, metadata } = record;
  return {
    method,
    path,
    contentType,
    headers: settings.name ? headersOf(request) : new Headers(),
    ...(filename !== undefined && { filename }),
    ...(metadata !== undefined && { metadata }),
  };
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Stores the data of a session, calls `onComplete()`, and returns the response; repeated after a kill or a lost response. */
export async function complete(exchange: Exchange, session: OpenSession): Promise<Answer> {
  const { settings, request } = exchange;
  if (session.record.state === "stored") {
    const { status, fields, body } = session.record.answer!;
    return { status, fields, body: encoder.encode(body) };
  }
  if (session.record.state === "open") {
    const digests = await verified(exchange, session);
    const there = await settings.storage.look(session.record.name!);
    if (session.record.method === "PUT") requireConditions(requestOf(session.record), there);
    const isThere = there !== undefined;
    await session.save({ ...session.record, state: "storing", bytes: session.offset, isThere, digests });
  }
  const { name, bytes, isThere, contentType, digests = {}, method } = session.record;
  const source = requestOf(session.record);
  const path = await underConditions(
    settings,
    { method, source },
    name!,
    undefined,
    (each) => session.store(name!, each),
  );
  const reported = ALGORITHMS.flatMap((name) => digests[name] === undefined ? [] : formatDigest(name, digests[name]));
  const algorithm = settings.save.digest;
  const digest = algorithm && digests[algorithm];
  const file = { name: name!, bytes: bytes!, digest: digest && formatDigest(algorithm!, digest), contentType };
  await settings.onComplete?.(completed(file, path, infoOf(exchange, session.record)));
  const { status, fields, body } = stored(settings, request, [file], {}, isThere ? 200 : 201);
  const all = { ...fields, ...(reported.length > 0 && { "Repr-Digest": reported.join(", ") }) };
  await session.save({
    ...session.record,
    state: "stored",
    answer: { status, fields: all, body: decoder.decode(body) },
  });
  await session.dropData().catch(() => {}); // the upload is stored; the data expires with the session
  return { status, fields: all, body };
}

/** Checks the data against the digest in the creating request; returns the digests for the response. */
async function verified(
  { settings }: Exchange,
  session: OpenSession,
): Promise<Readonly<Partial<Record<DigestAlgorithm, string>>>> {
  const { "repr-digest": announced } = session.record.fields;
  const { verify = true, digest } = settings.save;
  const expected = verify && announced !== undefined ? parseDigestField("Repr-Digest", announced) : new Map();
  const algorithms = new Set<DigestAlgorithm>(expected.keys());
  if (digest !== undefined) algorithms.add(digest);
  if (algorithms.size === 0) return {};
  const digester = new Digester(algorithms);
  for await (const piece of session.read()) digester.update([piece]);
  const actual = digester.finish();
  verifyDigests("Repr-Digest", expected, actual);
  return Object.fromEntries(actual);
}
