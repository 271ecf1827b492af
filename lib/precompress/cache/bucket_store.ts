import { createReadStream } from "node:fs";
import { join } from "node:path";
import { removeTemporary, type TemporaryDirectory, temporaryDirectory } from "../../files/internal.ts";
import { openFileWritable } from "../../files/mod.ts";
import { environmentVariable } from "../../runtime/mod.ts";
import type { S3Bucket } from "../../s3/mod.ts";
import { ReadableStream } from "../../streams/mod.ts";
import { type CacheStore, entryPath, partsOf, type StoredEntry } from "./cache_store.ts";

/** The codes by which a store reports that an object is missing or has no bytes. */
const MISSING: readonly string[] = ["InvalidRange", "NoSuchKey", "NotFound"];

/** The objects of a bucket below a prefix, `PREFIX/12/34….variant` for the key `1234…`. */
export class BucketStore implements CacheStore {
  readonly #bucket: S3Bucket;
  readonly #prefix: string;
  readonly #signal: AbortSignal | undefined;
  /** The folder for downloads, created when needed. */
  #folder: Promise<TemporaryDirectory> | undefined = undefined;
  #downloads = 0;

  constructor(bucket: S3Bucket, prefix: string, signal: AbortSignal | undefined) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#signal = signal;
  }

  async get(key: string, most: number): Promise<StoredEntry | undefined> {
    this.#folder ??= temporaryDirectory();
    const path = join((await this.#folder).path, `${this.#downloads++}`);
    // One byte more than the maximum, so that a larger entry is recognized.
    const range = { start: 0, end: most + 1 };
    try {
      const object = this.#bucket.readable(this.#nameOf(key), { range, ...this.#stop });
      await object.pipeTo(await openFileWritable(path));
    } catch (error) {
      await removeTemporary(path);
      const { code } = error as { code?: string };
      if (code === undefined || !MISSING.includes(code)) throw error;
      return undefined;
    }
    return { path, release: async () => void await removeTemporary(path) };
  }

  async put(key: string, path: string, trailer: Uint8Array): Promise<void> {
    const name = this.#nameOf(key);
    await ReadableStream.from(piecesOf(path, trailer)).pipeTo(this.#bucket.writable(name, { ...this.#stop }));
  }

  end(): Promise<number> {
    return Promise.resolve(0); // the bucket's own rules remove old objects
  }

  async close(): Promise<void> {
    await this.#bucket.close();
    const folder = await this.#folder?.catch(() => undefined);
    await folder?.[Symbol.asyncDispose]();
  }

  get #stop(): { readonly signal?: AbortSignal } {
    return this.#signal === undefined ? {} : { signal: this.#signal };
  }

  #nameOf(key: string): string {
    return this.#prefix + entryPath(key);
  }
}

async function* piecesOf(path: string, trailer: Uint8Array): AsyncGenerator<Uint8Array> {
  for await (const piece of createReadStream(path)) yield piece as Uint8Array;
  yield trailer;
}

/** Opens the cache at `s3://BUCKET/PREFIX`, by the variables of AWS' tools. Throws a TypeError if a variable is invalid. */
export async function openBucketStore(address: string, signal: AbortSignal | undefined): Promise<BucketStore> {
  const { bucket, prefix } = partsOf(address);
  const required = (name: string): string => {
    const value = environmentVariable(name);
    if (value) return value;
    throw new TypeError(`cannot use ${address} as a cache: the environment has no ${name}`);
  };
  const region = environmentVariable("AWS_REGION") || environmentVariable("AWS_DEFAULT_REGION") || "us-east-1";
  const endpoint = environmentVariable("AWS_ENDPOINT_URL_S3") || environmentVariable("AWS_ENDPOINT_URL");
  const sessionToken = environmentVariable("AWS_SESSION_TOKEN");
  const { S3Bucket } = await import("../../s3/mod.ts"); // this module takes as long to load as all others
  const opened = new S3Bucket({
    endpoint: endpoint || `https://s3.${region}.amazonaws.com`,
    region,
    bucket,
    credentials: {
      accessKeyId: required("AWS_ACCESS_KEY_ID"),
      secretAccessKey: required("AWS_SECRET_ACCESS_KEY"),
      ...(sessionToken && { sessionToken }),
    },
  });
  return new BucketStore(opened, prefix, signal);
}
