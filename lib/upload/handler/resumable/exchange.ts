import { ALGORITHMS, type DigestAlgorithm, essenceOf, formatDigest } from "../../../semantics/mod.ts";
import type { Hash } from "node:crypto";
import { announcedOf, Digester, parseDigestField, verifyDigests } from "../../body/announced.ts";
import { fieldOf, takeAll } from "../../body/body_source.ts";
import { receiveBody } from "../../body/receive_body.ts";
import { Refusal, UploadError } from "../../body/upload_error.ts";
import { type HoldOptions, ID, type OpenSession, type SessionRecord } from "../../session/session_storage.ts";
import type { Lease, Sessions } from "../../session/sessions.ts";
import type { UploadInfo } from "../handler_options.ts";
import { type Admission, type Answer, headersOf, refusalOf, type UploadRequest } from "../incoming.ts";
import { completed, stored, underConditions } from "../reception.ts";
import type { Settings } from "../settings.ts";
import { requireConditions } from "../storage.ts";

export type Fields = Readonly<Record<string, string>>;

export interface Exchange {
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly request: UploadRequest;
}

export interface AdmittedExchange extends Exchange {
  readonly admission: Admission;
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

/** Appends the body of the request, up to the upload's length; with a checksum, which `hash` must then have, all of it or nothing. */
export async function appendRequest(
  { settings, request }: AdmittedExchange,
  { session, signal }: Lease,
  checksum?: { readonly hash: Hash; readonly expected: string },
): Promise<void> {
  const start = session.offset;
  const maxBytes = (session.record.length ?? settings.save.maxBytes) - start;
  const announced = announcedOf(request.source, { ...settings.save, maxBytes });
  // A Repr-Digest is one of the whole upload.
  const digests = new Map([...announced.digests].filter(([field]) => field === "Content-Digest"));
  const { length: expectedBytes } = session.record;
  const onProgress = ({ bytes }: { readonly bytes: number }): void => {
    request.bytes = bytes;
    settings.save.onProgress?.({ bytes: start + bytes, expectedBytes });
  };
  const options = { ...settings.save, maxBytes, signal, onProgress, decode: false };
  const isDoubted = checksum !== undefined || digests.size > 0;
  if (isDoubted) await session.doubt();
  const { body } = receiveBody(request.source, options, { ...announced, digests });
  let appending: Promise<void> = Promise.resolve();
  try {
    await takeAll(body, (pieces) => {
      for (const piece of pieces) checksum?.hash.update(piece);
      return appending = session.append(pieces);
    });
    if (checksum !== undefined && checksum.hash.digest("base64") !== checksum.expected) {
      throw new Refusal("CHECKSUM_MISMATCH", "The data is not what Upload-Checksum was made of");
    }
  } catch (error) {
    await appending.catch(() => {}); // bytes before a failure of the body are kept
    await body.cancel(error);
    if (checksum !== undefined || (error as UploadError).code === "DIGEST_MISMATCH") await session.dropDoubted();
    throw error;
  } finally {
    await session.settle();
    if (isDoubted) await session.vouch();
  }
}

/** Whether a request that repeats the last one of an upload has further bytes, which are not kept. */
export async function hasBytes({ settings, request, admission }: AdmittedExchange): Promise<boolean> {
  if ((admission.announced.expectedBytes ?? 0) > 0) return true;
  const announced = { ...admission.announced, digests: new Map() };
  const { body } = receiveBody(request.source, { ...settings.save, decode: false }, announced);
  if (await body.read() === undefined) return false;
  await body.cancel(new Error("the upload is complete"));
  return true;
}

export function refused({ settings }: Exchange, error: unknown, fields: Fields): Refusal {
  const { code, message, fields: own, cause, members } = refusalOf(
    settings.storage.explained(error, "the upload"),
    settings.save,
  );
  return new Refusal(code, message, { ...fields, ...own }, cause, members);
}

/** Whether a failure is final, so that the upload cannot be resumed. */
export function isFinal(error: unknown): boolean {
  return (error instanceof Refusal || error instanceof UploadError) && error.status < 499;
}

export function emptyAnswer(status: number, fields: Fields): Answer {
  return { status, fields: status === 204 ? fields : { ...fields, "Content-Length": "0" }, body: undefined };
}

export function uploadLimit(settings: Settings, session: OpenSession | undefined): string {
  const { maxBytes: maxSize } = settings.save;
  const { maxAge } = settings.sessions!;
  const left = session === undefined ? maxAge : Math.max(0, session.touched + maxAge - Date.now());
  return [...(maxSize === Infinity ? [] : [`max-size=${maxSize}`]), `max-age=${Math.floor(left / 1000)}`].join(", ");
}

export function requireSize(settings: Settings, length: number | undefined): void {
  const { maxBytes: maxSize } = settings.save;
  if (length === undefined || length <= maxSize) return;
  throw new Refusal("TOO_LARGE", `The upload has ${length} bytes, and at most ${maxSize} are accepted`);
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

/** Stores a session's data and returns the response, also again; removes the session if that fails permanently. */
export async function complete(exchange: Exchange, session: OpenSession): Promise<Answer> {
  try {
    return await store(exchange, session);
  } catch (error) {
    if (isFinal(error)) await session.remove().catch(() => {}); // the failure is the one to report
    throw error;
  }
}

async function store(exchange: Exchange, session: OpenSession): Promise<Answer> {
  const { settings, request } = exchange;
  const { method, contentType } = session.record;
  const name = session.record.name!;
  // The request that created the session, as far as storing depends on it.
  const source = new Request("http://localhost/", { method, headers: session.record.fields });
  if (session.record.state === "stored") {
    const { status, fields, body } = session.record.answer!;
    return { status, fields, body: new TextEncoder().encode(body) };
  }
  if (session.record.state === "open") {
    const digests = await verified(exchange, session);
    const there = await settings.storage.look(name);
    if (method === "PUT") requireConditions(source, there);
    const found = there && { mtimeMs: there.mtimeMs, ...(there.etag !== undefined && { etag: there.etag }) };
    await session.save({ ...session.record, state: "storing", bytes: session.offset, found, digests });
  }
  const { bytes, found, digests = {} } = session.record;
  const storeAs = session.store.bind(session, name);
  const path = await underConditions(settings, { method, source }, name, undefined, storeAs);
  const reported = ALGORITHMS.flatMap((name) => digests[name] === undefined ? [] : formatDigest(name, digests[name]));
  const algorithm = settings.save.digest;
  const digest = algorithm && digests[algorithm];
  const file = { name, bytes: bytes!, digest: digest && formatDigest(algorithm!, digest), contentType };
  await settings.onComplete?.(completed(file, path, infoOf(exchange, session.record)));
  const { status, fields, body } = stored(settings, request, [file], {}, found ? 200 : 201);
  const all = { ...fields, ...(reported.length > 0 && { "Repr-Digest": reported.join(", ") }) };
  const answer = { status, fields: all, body: new TextDecoder().decode(body) };
  await session.save({ ...session.record, state: "stored", answer });
  await session.dropData().catch(() => {}); // the upload is stored; the data expires with the session
  return { status, fields: all, body };
}

/** Checks the data against the digest in the creating request; returns the digests for the response. */
async function verified(
  { settings }: Exchange,
  session: OpenSession,
): Promise<Readonly<Partial<Record<DigestAlgorithm, string>>>> {
  const { "repr-digest": announced } = session.record.fields;
  const { digest } = settings.save;
  const expected = announced !== undefined ? parseDigestField("Repr-Digest", announced) : new Map();
  const algorithms = new Set<DigestAlgorithm>(expected.keys());
  if (digest !== undefined) algorithms.add(digest);
  if (algorithms.size === 0) return {};
  const digester = new Digester(algorithms);
  for await (const piece of session.read()) digester.update([piece]);
  const actual = digester.finish();
  verifyDigests("Repr-Digest", expected, actual);
  return Object.fromEntries(actual);
}
