import { described, requireKnown } from "../streams/internal.ts";
import { MAX_TIMER_DELAY } from "../timers/mod.ts";

/**
 * The keys that requests are signed with.
 *
 * @example Keys of a session
 * ```ts
 * import type { S3Credentials } from "@millrace/streams/s3";
 *
 * const credentials: S3Credentials = { accessKeyId: "ASIA…", secretAccessKey: "…", sessionToken: "…" };
 * console.log(Object.keys(credentials).length); // 3
 * ```
 */
export interface S3Credentials {
  /** The name of the key. */
  accessKeyId: string;
  /** The key. */
  secretAccessKey: string;
  /** The token that goes with keys of a session. */
  sessionToken?: string;
}

/**
 * The bucket, and how it is spoken to.
 *
 * @example A store in the same rack, and keys that change
 * ```ts
 * import { S3Bucket, type S3BucketOptions } from "@millrace/streams/s3";
 *
 * const options: S3BucketOptions = {
 *   endpoint: "http://10.0.0.5:3900",
 *   region: "garage",
 *   bucket: "films",
 *   credentials: () => ({ accessKeyId: "id", secretAccessKey: "secret" }),
 *   timeout: 5000,
 * };
 * console.log(new S3Bucket(options).name); // films
 * ```
 */
export interface S3BucketOptions {
  /** The store's URL, without the bucket: `https://s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:3900`. */
  endpoint: string | URL;
  /** The bucket's name. */
  bucket: string;
  /** The keys, or a function that is asked for them before each request, and again when they have expired meanwhile. */
  credentials: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /**
   * The region that requests are signed for.
   *
   * @default "us-east-1"
   */
  region?: string;
  /**
   * The function that sends requests. With another than that of an `HttpClient` of Millrace, which is made by default,
   * parts are in memory while they are sent.
   *
   * @default `fetch` of an `HttpClient` of its own
   */
  fetch?: (url: string, init?: RequestInit) => Promise<Response>;
  /**
   * How often a request is sent again that failed for a reason that may pass: no connection, no answer, 429, 5xx.
   *
   * @default 4
   */
  retries?: number;
  /**
   * How long an attempt may take until its answer begins, in ms, and a second more for each 128 KiB of its body; and how
   * long the answer may then pause.
   *
   * @default 30_000
   */
  timeout?: number;
  /**
   * How many parts are sent at a time, over all uploads.
   *
   * @default 16
   */
  concurrency?: number;
  /**
   * Bytes of parts that are kept in memory, over all uploads; beyond that they are in temporary files.
   *
   * @default 16_777_216
   */
  memory?: number;
  /**
   * The folder of those files, which have no names there.
   *
   * @default the system's
   */
  temporary?: string;
  /**
   * Whether checksums are stored with objects: a SHA-256 of those that are sent in one request, which is held against what
   * is read, and others of parts. Without them, the store holds what arrives against the SHA-256 of the signature alone.
   *
   * @default true
   */
  checksums?: boolean;
}

const known: Readonly<Record<keyof S3BucketOptions, true>> = {
  endpoint: true,
  bucket: true,
  credentials: true,
  region: true,
  fetch: true,
  retries: true,
  timeout: true,
  concurrency: true,
  memory: true,
  temporary: true,
  checksums: true,
};

const ranges: readonly (readonly [name: "retries" | "timeout" | "concurrency" | "memory", from: number, to: number])[] =
  [
    ["retries", 0, 100],
    ["timeout", 1, MAX_TIMER_DELAY],
    ["concurrency", 1, 1024],
    ["memory", 0, Infinity],
  ];

/** Sees that options are ones. */
export function checkBucketOptions(options: S3BucketOptions): void {
  requireKnown(options, known, "S3Bucket");
  for (const name of ["bucket", "region", "temporary"] as const) {
    const value: unknown = options[name];
    if (name !== "bucket" && value === undefined) continue;
    if (typeof value !== "string" || value === "") {
      throw new TypeError(`${name} must be a name, not ${described(value)}`);
    }
  }
  const { fetch, checksums = true, credentials } = options;
  if (fetch !== undefined && typeof fetch !== "function") {
    throw new TypeError(`fetch must be a function, not ${described(fetch)}`);
  }
  if (typeof checksums !== "boolean") throw new TypeError(`checksums must be a boolean, not ${described(checksums)}`);
  if (typeof credentials !== "function") checkCredentials(credentials);
  for (const [name, from, to] of ranges) {
    const value: unknown = options[name];
    if (value === undefined) continue;
    if (typeof value !== "number") throw new TypeError(`${name} must be a number, not ${described(value)}`);
    if (!(value >= from && value <= to)) throw new RangeError(`${name} must be a number from ${from} on, not ${value}`);
  }
}

/** Sees that credentials are ones. */
export function checkCredentials(credentials: unknown): S3Credentials {
  const { accessKeyId, secretAccessKey, sessionToken } = (credentials ?? {}) as Record<string, unknown>;
  if (typeof accessKeyId !== "string" || typeof secretAccessKey !== "string") {
    throw new TypeError("credentials must have the strings accessKeyId and secretAccessKey");
  }
  if (sessionToken === undefined) return { accessKeyId, secretAccessKey };
  if (typeof sessionToken !== "string") throw new TypeError("sessionToken of credentials must be a string");
  return { accessKeyId, secretAccessKey, sessionToken };
}

/** The URL of a store, without a slash at its end. */
export function endpointOf(endpoint: unknown): string {
  if (String(endpoint).includes("@")) {
    throw new TypeError("endpoint must be a URL without a user: credentials tell the keys");
  }
  const url = URL.parse(String(endpoint));
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.pathname !== "/") {
    throw new TypeError(`endpoint must be a URL such as https://s3.example.com, not ${described(endpoint)}`);
  }
  return url.origin;
}
