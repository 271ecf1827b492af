import { AwsV4Signer } from "aws4fetch";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { HttpClient, type HttpRequestInit } from "../../http/mod.ts";
import { parseHTTPDate } from "../../semantics/mod.ts";
import { sleep, TimeLimit } from "../../timers/mod.ts";
import { requireOption } from "../../streams/internal.ts";
import {
  checkCredentials,
  endpointOf,
  s3BucketOptions,
  type S3BucketSettings,
  type S3Credentials,
} from "../s3_bucket_options.ts";
import { S3Error, type S3ErrorCode } from "../s3_error.ts";
import { EMPTY_SHA256, encoded, objectPath, type SentBody } from "./signed_request.ts";
import { answeredFailure, brokenFailure, isExpiry, isPassing, pauseBefore, type Subject } from "./failures.ts";
import { parseAnswer, type XmlResponse } from "./xml.ts";

/** The bytes of a body for which an attempt gets another second. */
const SLOWEST = 128 * 1024;
/** The factor of an attempt's time for requests that copy or join. */
const SLOW = 10;
/** The maximum time for a complete response other than an object, as a multiple of the time for its head. */
const SLOWEST_ANSWER = 10;
/** The maximum bytes of a response other than an object: 1000 keys in XML have at most 4 MB. */
const MAX_RESPONSE_LENGTH = 16 * 2 ** 20;
const MAX_ERROR_LENGTH = 64 * 1024;
/** The difference in ms to the store's clock up to which signatures are accepted. */
const SKEW = 5 * 60 * 1000;
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/;

export interface StoreRequest {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT";
  readonly action: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: SentBody;
  /** Whether the signature does not cover the body, which has a checksum. */
  readonly isBodyUnsigned?: boolean;
  readonly isSlow?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Whether one attempt may be sent and finish after the signal is aborted, within {@linkcode Store.timeout}. */
  readonly isFinished?: boolean;
  /** The code of a failure that is not retried. */
  readonly final?: S3ErrorCode;
  readonly onRetry?: () => void;
  readonly retries?: number;
}

export type ReadAnswer<T> = (answer: StoreAnswer) => Promise<T>;

/** A bucket of a store: signs requests, retries them if that may help, and limits every wait. */
export class Store {
  readonly bucket: string;
  readonly timeout: number;
  readonly retries: number;
  readonly checksums: boolean;
  /** Whether parts are signed with their SHA-256: if they cannot be changed in transit, their CRC-32 suffices. */
  readonly signsParts: boolean;
  /** Whether `fetch` is this package's: bodies arrive without decoding, and can be sent in pieces. */
  readonly isOwn: boolean;
  readonly #url: string;
  readonly #region: string;
  readonly #credentials: NonNullable<S3BucketSettings["credentials"]>;
  /** The keys returned by a function, and the time until which they are used. */
  #kept: { readonly keys: S3Credentials; readonly until: number } | undefined = undefined;
  readonly #client: HttpClient | undefined;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** The time in ms by which the store's clock is ahead of the local one, if signatures need it. */
  #ahead = 0;
  /** The derived signing keys, each valid for a day. */
  readonly #keys = new Map<string, ArrayBuffer>();
  readonly #closing = new AbortController();
  readonly closing: AbortSignal = this.#closing.signal;

  constructor(settings: S3BucketSettings) {
    const { region, retries, timeout, checksums, fetch } = settings;
    this.bucket = requireOption(s3BucketOptions, settings, "bucket");
    this.retries = retries;
    this.timeout = timeout;
    this.checksums = checksums;
    this.#url = bucketURL(requireOption(s3BucketOptions, settings, "endpoint"), this.bucket, settings.addressing);
    const { protocol, hostname } = new URL(this.#url);
    this.signsParts = !checksums || !(protocol === "https:" || LOOPBACK.test(hostname));
    this.#region = region;
    this.#credentials = requireOption(s3BucketOptions, settings, "credentials");
    this.isOwn = fetch === undefined;
    this.#client = this.isOwn ? new HttpClient({ decompress: false, retries: 0 }) : undefined;
    this.#fetch = fetch ?? this.#client!.fetch as (url: string, init: RequestInit) => Promise<Response>;
  }

  close(): void {
    this.#closing.abort();
    this.#client?.destroy();
  }

  /** Sends a request until it succeeds, fails permanently, or has no retries left; once more if clocks differ, or keys may have expired. */
  async send<T>(request: StoreRequest, read: ReadAnswer<T>): Promise<T> {
    const url = this.#urlOf(request);
    let isCorrected = false;
    for (let attempt = 0;; attempt++) {
      const ahead = this.#ahead;
      try {
        return await this.#attempt(url, request, read);
      } catch (error) {
        if (request.signal?.aborted) throw request.isFinished ? error : request.signal.reason;
        // A response to HEAD has no document that reports expired keys.
        const isDoubtful = this.#kept !== undefined && request.method === "HEAD" && (error as S3Error).status === 400;
        if (isExpiry(error) || isDoubtful) this.#kept = undefined;
        if ((this.#ahead !== ahead || isDoubtful) && !isCorrected) {
          isCorrected = true;
          continue;
        }
        // The condition is undecided because another request changed the object. A multipart upload has ended then.
        const isUndecided = request.method === "PUT" && (error as S3Error).code === "ConditionalRequestConflict";
        const isExpired = typeof this.#credentials === "function" && isExpiry(error);
        const isWorthIt = isPassing(error) || isUndecided || isExpired;
        const isLast = attempt >= (request.retries ?? this.retries) || (error as S3Error).code === request.final;
        if (isLast || !isWorthIt) throw error;
        await this.pause(pauseBefore(attempt, error), request.signal);
        request.onRetry?.();
      }
    }
  }

  /** Waits until the next attempt is due, or the store is closed. */
  async pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { closing } = this;
    const end = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    await sleep(ms, end).catch(() => signal?.throwIfAborted()); // the next attempt reports a closed store
  }

  async presigned({ method, key, query, headers = {} }: StoreRequest): Promise<string> {
    const url = this.#urlOf({ key: key!, query: query! });
    const signer = await this.#signer({ method, url, headers, signQuery: true, allHeaders: true });
    const { url: signed } = await signer.sign();
    // The query is encoded as in the signature: URLs write a space as +, which some stores misread.
    signed.search = [...signed.searchParams].map((pair) => pair.map(encoded).join("=")).join("&");
    return signed.href;
  }

  /** Signs a form. @see {@link https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html} */
  async presignedForm(
    fields: Readonly<Record<string, string>>,
    conditions: readonly unknown[],
    expiresIn: number,
  ): Promise<{ url: string; fields: Record<string, string> }> {
    const { accessKeyId, secretAccessKey, sessionToken } = await this.#currentKeys();
    const datetime = this.#datetime();
    const scope = [datetime.slice(0, 8), this.#region, "s3", "aws4_request"];
    const signed = {
      ...fields,
      "x-amz-algorithm": "AWS4-HMAC-SHA256",
      "x-amz-credential": [accessKeyId, ...scope].join("/"),
      "x-amz-date": datetime,
      ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
    };
    const kept = Object.entries({ bucket: this.bucket, ...signed }).map(([name, value]) => ({ [name]: value }));
    const expiration = new Date(Date.now() + this.#ahead + expiresIn * 1000).toISOString();
    const policy = Buffer.from(JSON.stringify({ expiration, conditions: [...kept, ...conditions] })).toString("base64");
    const key = scope.reduce<string | Buffer>(
      (key, part) => createHmac("sha256", key).update(part).digest(),
      `AWS4${secretAccessKey}`,
    );
    const signature = createHmac("sha256", key).update(policy).digest("hex");
    return { url: this.#url, fields: { ...signed, policy, "x-amz-signature": signature } };
  }

  subjectOf({ action, key }: Pick<StoreRequest, "action" | "key">): Subject {
    return { action, key, bucket: this.bucket };
  }

  async #attempt<T>(url: string, request: StoreRequest, read: ReadAnswer<T>): Promise<T> {
    const { body, isSlow = false, isFinished = false } = request;
    const signal = isFinished ? undefined : request.signal;
    signal?.throwIfAborted();
    const subject = this.subjectOf(request);
    const { closing } = this;
    if (closing.aborted) throw brokenFailure(subject, "CLOSED", "the bucket was closed");
    const patience = this.timeout * (isSlow ? SLOW : 1);
    const time = patience + Math.ceil((body?.length ?? 0) / SLOWEST) * 1000;
    const deadline = new TimeLimit(time, signal, closing);
    const hasten = (): void => deadline.restart(this.timeout);
    if (isFinished) request.signal?.addEventListener("abort", hasten);
    let init: RequestInit | undefined;
    let response: Response | undefined;
    try {
      const onPiece = (): void => request.signal?.aborted ? undefined : deadline.restart(time);
      init = await deadline.within(this.#signed(url, request, onPiece));
      response = await deadline.within(this.#fetch(url, { ...init, signal: deadline.signal }));
      deadline.restart(patience);
      const answer = new StoreAnswer(response, subject, deadline, patience);
      if (!response.ok) {
        this.#noteClock(response);
        throw await answer.failure();
      }
      return await read(answer);
    } catch (error) {
      response?.body?.cancel(error).catch(() => {}); // the rest is not read
      if (error instanceof S3Error) throw error;
      signal?.throwIfAborted();
      if (closing.aborted) throw brokenFailure(subject, "CLOSED", "the bucket was closed", error);
      if (deadline.isOver) throw brokenFailure(subject, "TIMEOUT", "the store did not answer in time", error);
      if (init === undefined) throw error; // an error of the credentials function
      const reason = error instanceof Error ? error.message : String(error);
      throw brokenFailure(subject, "CONNECTION_FAILED", reason, error);
    } finally {
      deadline.stop();
      request.signal?.removeEventListener("abort", hasten);
    }
  }

  /** Records the store's clock, if the signature's time may be the reason of a refusal. */
  #noteClock({ status, headers }: Response): void {
    if (status !== 400 && status !== 403) return;
    const time = parseHTTPDate(headers.get("date") ?? "");
    if (time === undefined) return;
    const ahead = time - Date.now();
    if (Math.abs(ahead - this.#ahead) > SKEW) this.#ahead = ahead;
  }

  #urlOf({ key, query = {} }: Pick<StoreRequest, "key" | "query">): string {
    const path = key === undefined ? "" : objectPath(key);
    const search = Object.entries(query).map(([name, value]) => value === "" ? name : `${name}=${encoded(value)}`);
    return `${this.#url}${path}${search.length === 0 ? "" : `?${search.join("&")}`}`;
  }

  async #signed(url: string, request: StoreRequest, onPiece: () => void): Promise<RequestInit> {
    const { method, headers = {}, body, isBodyUnsigned, retries } = request;
    const sha256 = isBodyUnsigned ? "UNSIGNED-PAYLOAD" : await body?.sha256() ?? EMPTY_SHA256;
    const signer = await this.#signer({ method, url, headers: { ...headers, "x-amz-content-sha256": sha256 } });
    const { headers: signed } = await signer.sign();
    signed.set("accept-encoding", "identity");
    // No redirects: signatures bind the host, and tokens would leak.
    // Only `send()` retries a conditional request: an attempt whose response was lost may have met the condition.
    const isConditional = method !== "GET" && (signed.has("if-none-match") || signed.has("if-match"));
    const init: RequestInit & Pick<HttpRequestInit, "idempotent"> = {
      method,
      headers: signed,
      redirect: "manual",
      ...(this.isOwn && (isConditional || retries === 0) && { idempotent: false }),
    };
    if (body === undefined) return init;
    if (!this.isOwn) return { ...init, body: await body.whole() as BodyInit };
    signed.set("content-length", String(body.length));
    const sent = body.length === 0 ? new Uint8Array() : body.open(onPiece);
    return { ...init, body: sent as unknown as BodyInit };
  }

  /** Returns the keys. Keys with an expiration, returned by a function, are used until five minutes before it. */
  async #currentKeys(): Promise<S3Credentials> {
    if (typeof this.#credentials !== "function") return this.#credentials;
    if (this.#kept !== undefined && Date.now() < this.#kept.until) return this.#kept.keys;
    const keys = checkCredentials(await this.#credentials());
    this.#kept = keys.expiration && { keys, until: keys.expiration.getTime() - SKEW };
    return keys;
  }

  async #signer(
    request: { method: string; url: string; headers: HeadersInit; signQuery?: true; allHeaders?: true },
  ): Promise<AwsV4Signer> {
    const keys = await this.#currentKeys();
    if (this.#keys.size > 16) this.#keys.clear(); // one key for each day and region
    const datetime = this.#datetime();
    return new AwsV4Signer({ ...keys, ...request, service: "s3", region: this.#region, cache: this.#keys, datetime });
  }

  /** Returns the time of a signature, by the store's clock. */
  #datetime(): string {
    return new Date(Date.now() + this.#ahead).toISOString().replace(/[:-]|\.\d+/g, "");
  }
}

function bucketURL(given: string | URL, bucket: string, addressing: "path" | "host"): string {
  const endpoint = endpointOf(given);
  if (addressing === "path") return `${endpoint}/${encoded(bucket)}`;
  const url = endpoint.replace("://", `://${bucket}.`);
  if (/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(bucket) && URL.canParse(url)) return url;
  throw new TypeError(`${JSON.stringify(bucket)} can be no part of the host of ${endpoint}: use addressing: "path"`);
}

export class StoreAnswer {
  readonly response: Response;
  readonly #subject: Subject;
  readonly #deadline: TimeLimit;
  readonly #patience: number;

  constructor(response: Response, subject: Subject, deadline: TimeLimit, patience: number) {
    this.response = response;
    this.#subject = subject;
    this.#deadline = deadline;
    this.#patience = patience;
  }

  field(name: string): string | undefined {
    return this.response.headers.get(name) ?? undefined;
  }

  async document(name: string): Promise<XmlResponse> {
    const document = parseAnswer(await this.#text(MAX_RESPONSE_LENGTH));
    if (document?.name === name) return document;
    if (document?.name === "Error") throw answeredFailure(this.#subject, this.response, document);
    throw this.malformed(`the store's answer is no ${name}, or cut`);
  }

  async etagIn(name: string): Promise<string> {
    const etag = (await this.document(name)).text("ETag");
    if (etag) return etag;
    throw this.malformed(`the store's ${name} has no ETag`);
  }

  /** Reads the rest of a response of which only an error counts. */
  async end(): Promise<void> {
    const document = parseAnswer(await this.#text(MAX_RESPONSE_LENGTH));
    if (document?.name === "Error") throw answeredFailure(this.#subject, this.response, document);
  }

  /** Returns the failure that the response describes, by its status alone if its document is unreadable. */
  async failure(): Promise<S3Error> {
    const text = await this.#text(MAX_ERROR_LENGTH).catch(() => "");
    return answeredFailure(this.#subject, this.response, parseAnswer(text));
  }

  malformed(reason: string, cause?: unknown): S3Error {
    return brokenFailure(this.#subject, "MALFORMED_RESPONSE", reason, cause);
  }

  /** Requires that a checksum in the response, if any, equals that of the sent bytes. */
  requireChecksum(field: string, base64: string): void {
    const told = this.field(field);
    if (told === undefined || told === base64) return;
    throw brokenFailure(this.#subject, "CHECKSUM_MISMATCH", "the store has other bytes than were sent");
  }

  get etag(): string {
    const etag = this.field("etag");
    if (etag !== undefined) return etag;
    throw this.malformed("the store's answer has no ETag");
  }

  async #text(most: number): Promise<string> {
    const { body } = this.response;
    if (body === null) return "";
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const end = performance.now() + this.#patience * SLOWEST_ANSWER;
    let text = "";
    let length = 0;
    try {
      for (;;) {
        const { done, value } = await this.#deadline.within(reader.read());
        if (done) return text + decoder.decode();
        length += value.length;
        if (length > most) throw this.malformed(`the store's answer has more than ${most} bytes`);
        text += decoder.decode(value, { stream: true });
        this.#deadline.restart(Math.min(this.#patience, end - performance.now()));
      }
    } catch (error) {
      reader.cancel(error).catch(() => {}); // the failure is rethrown
      throw error;
    }
  }
}
