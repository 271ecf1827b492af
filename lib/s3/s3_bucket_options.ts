import {
  bool,
  bytes,
  described,
  func,
  type Member,
  member,
  number,
  oneOf,
  requireOption,
  schema,
  type SchemaOf,
  secret,
  text,
} from "../streams/internal.ts";
import { lasting } from "../files/internal.ts";
import { MAX_TIMER_DELAY } from "../timers/mod.ts";

/**
 * The credentials with which requests are signed.
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
  /** The access key id. */
  accessKeyId: string;
  /** The secret access key. */
  secretAccessKey: string;
  /** The token of temporary credentials. */
  sessionToken?: string;
  /** The time at which they expire; they are reused until five minutes before it, then the function is called again. */
  expiration?: Date;
}

/**
 * The options of a bucket: its store, credentials, and limits.
 *
 * @example A store in the same rack, and keys that change
 * ```ts
 * import { S3Bucket, type S3BucketOptions } from "@millrace/streams/s3";
 *
 * const credentials = () => ({ accessKeyId: "id", secretAccessKey: "secret" });
 * const options: S3BucketOptions = { endpoint: "http://10.0.0.5:3900", region: "garage", bucket: "films", credentials };
 * console.log(new S3Bucket(options).name); // films
 * ```
 */
export interface S3BucketOptions {
  /**
   * The store's URL, without the bucket: `https://s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:3900`. It may have a
   * path, which is signed with requests: `https://id.supabase.co/storage/v1/s3`.
   */
  endpoint: string | URL;
  /** The bucket's name. */
  bucket: string;
  /** The credentials, or a function that returns them: called before each request, unless its last result is still valid. */
  credentials: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /**
   * The region that requests are signed for.
   *
   * @default "us-east-1"
   */
  region?: string;
  /**
   * The place of the bucket's name in URLs: the path, or the host, such as `films.s3.eu-central-1.amazonaws.com`.
   *
   * @default "path"
   */
  addressing?: "path" | "host";
  /**
   * The function that sends requests. With a function other than that of this package's `HttpClient`, parts are kept in
   * memory while they are sent.
   *
   * @default `fetch` of a new `HttpClient`
   */
  fetch?: (url: string, init?: RequestInit) => Promise<Response>;
  /**
   * The maximum retries of a request after a transient failure: no connection, no response, 429, 5xx.
   *
   * @default 4
   */
  retries?: number;
  /**
   * The maximum time in ms until the response to an attempt begins, plus a second for each 128 KiB of the request's
   * body, again from each piece of a part that is sent; also the maximum pause within the response.
   *
   * @default 30_000
   */
  timeout?: number;
  /**
   * The maximum number of parts sent in parallel, over all uploads.
   *
   * @default 16
   */
  concurrency?: number;
  /**
   * The maximum bytes of parts in memory, over all uploads; further parts are in temporary files.
   *
   * @default 16_777_216
   */
  memory?: number;
  /**
   * The folder for temporary files of parts, which have no names in it. The system's folder, often `/tmp`, may itself
   * be in memory.
   *
   * @default the system's
   */
  temporary?: string;
  /**
   * Whether checksums are stored with objects: a SHA-256 for an object sent in one request, which readers verify, and
   * other checksums for parts. Without them, the store verifies only the SHA-256 of the signature.
   *
   * @default true
   */
  checksums?: boolean;
}

const name = (): Member<string, undefined> => text(undefined, "a name", (value) => value !== "");

export const s3BucketOptions: SchemaOf<
  S3BucketOptions,
  "region" | "addressing" | "retries" | "timeout" | "concurrency" | "memory" | "checksums"
> = /* @__PURE__ */ schema("S3Bucket", () => ({
  endpoint: member<string | URL>(
    "a URL such as https://s3.example.com",
    (value) => typeof value === "string" || value instanceof URL,
  ),
  bucket: name(),
  credentials: {
    fallback: undefined,
    expected: "the keys, or a function that returns them",
    check: (value, path) => typeof value === "function" ? value as () => S3Credentials : checkCredentials(value, path),
  },
  region: { ...name(), fallback: "us-east-1" },
  addressing: oneOf(["path", "host"], "path"),
  fetch: func<NonNullable<S3BucketOptions["fetch"]>>(),
  retries: number(0, 100, 4),
  timeout: number(1, MAX_TIMER_DELAY, 30_000),
  concurrency: number(1, 1024, 16),
  memory: bytes(16 * 2 ** 20),
  temporary: lasting(name()),
  checksums: bool(true),
}));

export type S3BucketSettings = ReturnType<typeof s3BucketOptions>;

export const s3Credentials: SchemaOf<S3Credentials> = /* @__PURE__ */ schema(
  "S3Bucket",
  () => ({
    accessKeyId: secret(text()),
    secretAccessKey: secret(text()),
    sessionToken: secret(text()),
    expiration: member<Date>("a Date", (value) => value instanceof Date && !Number.isNaN(value.getTime())),
  }),
);

/** Names of members that may be misspelt: without a token, every request would fail. */
const ALIKE = /key|secret|token/i;

/** Checks credentials, and drops other members. */
export function checkCredentials(given: unknown, path = "credentials"): S3Credentials {
  if (typeof given !== "object" || given === null) {
    // The message omits the value, which may be a key.
    throw new TypeError(`${path} must be an object with accessKeyId and secretAccessKey`);
  }
  const { accessKeyId, secretAccessKey, sessionToken, expiration, ...others } = given as Partial<S3Credentials>;
  const alike = Object.entries(others).filter(([name]) => ALIKE.test(name));
  const members = { ...Object.fromEntries(alike), accessKeyId, secretAccessKey, sessionToken, expiration };
  const checked = s3Credentials(members, `${path}.`);
  return {
    accessKeyId: requireOption(s3Credentials, checked, "accessKeyId", `${path}.`),
    secretAccessKey: requireOption(s3Credentials, checked, "secretAccessKey", `${path}.`),
    ...(sessionToken !== undefined && { sessionToken }),
    ...(expiration !== undefined && { expiration }),
  };
}

export function endpointOf(endpoint: string | URL): string {
  if (String(endpoint).includes("@")) {
    throw new TypeError("endpoint must be a URL without a user: credentials tell the keys");
  }
  const url = URL.parse(String(endpoint));
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new TypeError(`endpoint must be a URL such as https://s3.example.com, not ${described(endpoint)}`);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}
