import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { S3Bucket, type S3BucketOptions } from "../../../lib/s3/mod.ts";
import { createUploadHandler, type UploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { noise } from "../../support/bytes.ts";
import { tries } from "../../support/long_run.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { cannotMount, onSmallDisk } from "../../files/written.ts";
import { realStores, startStore } from "../../s3/real_stores.ts";
import { inUploads } from "../handler/serving_handler.ts";

const SESSIONS = ".millrace-uploads";
const TUS = { "tus-resumable": "1.0.0" };
const DAY = 24 * 60 * 60;
/** The number of programs of 40 steps that are tried. */
const SEEDS = Number(process.env.MILLRACE_SENDERS ?? tries(24));
/** The number of them to a store, whose requests take ten times as long. */
const STORE_SEEDS = Number(process.env.MILLRACE_SENDERS ?? tries(12));

/** An unfinished upload, as its sender knows it. */
interface Upload {
  readonly url: string;
  readonly protocol: "tus" | "draft";
  /** Undefined of a part of another upload. */
  readonly name: string | undefined;
  readonly content: Buffer<ArrayBuffer>;
  /** The number of acknowledged bytes. */
  offset: number;
}

/** The place where files are stored. */
interface Place {
  readonly options: Pick<UploadHandlerOptions, "directory" | "storage">;
  /** Returns the names of all files. */
  names(): Promise<string[]>;
  read(name: string): Promise<Uint8Array>;
  /** Requires that of unfinished uploads nothing is left, and of others only the response. */
  requireNoRest(): Promise<void>;
  /** Makes an upload expire; undefined where only time does. */
  readonly expire: ((url: string) => void) | undefined;
}

function folderPlace(folder: string): Place {
  return {
    options: { directory: folder },
    names: () => Promise.resolve(readdirSync(folder).filter((name) => name !== SESSIONS)),
    read: (name) => Promise.resolve(readFileSync(join(folder, name))),
    requireNoRest() {
      for (const name of readdirSync(join(folder, SESSIONS))) {
        if (!/^[0-9a-f]{32}$/.test(name)) continue; // of those that are finished, only the response is kept
        assert.deepEqual(readdirSync(join(folder, SESSIONS, name)), ["record.json"]);
      }
      return Promise.resolve();
    },
    expire(url) {
      const old = Date.now() / 1000 - 2 * DAY;
      for (const name of ["data", "record.json"]) utimesSync(join(folder, SESSIONS, url.slice(1), name), old, old);
    },
  };
}

function bucketPlace(options: S3BucketOptions): Place {
  const storage = new S3Bucket(options);
  const keys = async (prefix: string): Promise<string[]> =>
    (await Array.fromAsync(storage.list({ prefix }))).map(({ key }) => key);
  return {
    options: { storage },
    names: () => keys("file-"),
    read: (name) => new Response(storage.readable(name) as BodyInit).bytes(),
    async requireNoRest() {
      for (const key of await keys(SESSIONS)) assert.match(key, /\/record-3-\d+$/);
    },
    expire: undefined,
  };
}

/** Random senders to one place, and their acknowledged uploads. */
class Senders {
  readonly #place: Place;
  readonly #random: (below: number) => number;
  #handler: UploadHandler;
  /** The files that there must be. */
  readonly #files = new Map<string, Buffer<ArrayBuffer>>();
  readonly #uploads: Upload[] = [];
  #made = 0;
  /** The number of requests that found the disk full. */
  full = 0;

  constructor(place: Place, seed: number) {
    this.#place = place;
    this.#random = randomNumbers(seed);
    this.#handler = this.#start();
  }

  #start(): UploadHandler {
    return createUploadHandler({
      ...this.#place.options,
      overwrite: true,
      resumable: { maxAge: DAY * 1000 },
      name: ({ path, metadata, filename }) => path || metadata?.filename || filename || "unnamed",
      log: () => {},
    });
  }

  async step(): Promise<void> {
    const upload = this.#uploads[this.#random(this.#uploads.length)];
    const kinds = [
      () => this.#put(),
      () => this.#form(),
      () => this.#create("tus"),
      () => this.#create("draft"),
      () => this.#create("part"),
      () => this.#concatenate(),
      ...upload === undefined ? [] : [
        () => this.#append(upload),
        () => this.#append(upload),
        () => this.#append(upload),
        () => this.#cut(upload),
        () => this.#cancel(upload),
        ...this.#place.expire ? [() => this.#expire(upload)] : [],
        () => this.#restart(),
      ],
    ];
    await kinds[this.#random(kinds.length)]();
    await this.#check();
  }

  /** Cancels the unfinished uploads, and requires that nothing is left of them. */
  async end(): Promise<void> {
    for (const upload of [...this.#uploads]) await this.#cancel(upload);
    await this.#place.requireNoRest();
    await this.#handler.close();
  }

  /** Requires every acknowledged upload, and no other file. */
  async #check(): Promise<void> {
    assert.deepEqual((await this.#place.names()).sort(), [...this.#files.keys()].sort());
    for (const [name, content] of this.#files) assert.ok(content.equals(await this.#place.read(name)), name);
    for (const { url, protocol, offset } of this.#uploads) {
      if (this.#random(4) > 0) continue; // each is looked at again soon
      const { status, headers } = await this.#ask("HEAD", url, protocol === "draft" ? {} : TUS);
      if (this.#isFull(status)) continue;
      assert.equal(status, protocol === "draft" ? 204 : 200);
      assert.equal(headers.get("upload-offset"), String(offset));
    }
  }

  async #ask(method: string, path: string, headers: HeadersInit, body?: BodyInit | null): Promise<Response> {
    const init = { method, headers, body: body ?? null, duplex: "half" } as RequestInit;
    return await this.#handler.fetch(new Request(new URL(path, "http://localhost"), init));
  }

  /** Whether the disk had no room for a request. */
  #isFull(status: number): boolean {
    if (status === 507) this.full++;
    return status === 507;
  }

  #content(): Buffer<ArrayBuffer> {
    return Buffer.from(noise(this.#random(4) === 0 ? 0 : 1 + this.#random(200_000), ++this.#made));
  }

  #name(): string {
    return `file-${this.#random(6)}`;
  }

  async #put(): Promise<void> {
    const [name, content] = [this.#name(), this.#content()];
    const isNew = this.#random(3) === 0;
    const { status } = await this.#ask("PUT", `/${name}`, isNew ? { "if-none-match": "*" } : {}, content);
    if (isNew && this.#files.has(name)) return assert.equal(status, 412);
    if (this.#isFull(status)) return;
    assert.equal(status, this.#files.has(name) ? 200 : 201);
    this.#files.set(name, content);
  }

  async #form(): Promise<void> {
    const form = new FormData();
    const files = new Map(Array.from({ length: 1 + this.#random(3) }, () => [this.#name(), this.#content()]));
    for (const [name, content] of files) form.append("file", new File([content], name));
    const { status } = await this.#ask("POST", "/", {}, form);
    if (this.#isFull(status)) return;
    assert.equal(status, 201);
    for (const [name, content] of files) this.#files.set(name, content);
  }

  async #create(kind: "tus" | "draft" | "part"): Promise<void> {
    const [name, content] = [this.#name(), this.#content()];
    const metadata = `filename ${Buffer.from(name).toString("base64")}`;
    const length = { "upload-length": String(content.length) };
    const { status, headers } = kind === "draft"
      ? await this.#ask("PUT", `/${name}`, { "upload-complete": "?0", ...length }, "")
      : await this.#ask("POST", "/", {
        ...TUS,
        ...length,
        ...(kind === "part" ? { "upload-concat": "partial" } : { "upload-metadata": metadata }),
      });
    if (this.#isFull(status)) return;
    assert.equal(status, 201);
    if (kind === "tus" && content.length === 0) return void this.#files.set(name, content);
    const protocol = kind === "draft" ? kind : "tus";
    const own = kind === "part" ? undefined : name;
    this.#uploads.push({ url: headers.get("location")!, protocol, name: own, content, offset: 0 });
  }

  /** Sends a part of the remaining bytes, often all of them. */
  async #append(upload: Upload): Promise<void> {
    const left = upload.content.length - upload.offset;
    const length = this.#random(2) === 0 ? left : this.#random(left + 1);
    const { status } = await this.#patch(
      upload,
      upload.content.subarray(upload.offset, upload.offset + length),
      length,
    );
    if (this.#isFull(status)) return await this.#cancel(upload);
    if (upload.name === undefined && left === 0) return; // it waits to be a part of another
    upload.offset += length;
    const isWhole = upload.offset === upload.content.length && upload.name !== undefined;
    const success = upload.protocol === "draft" && isWhole ? [200, 201] : [204];
    assert.ok(success.includes(status), String(status));
    if (!isWhole) return;
    this.#files.set(upload.name!, upload.content);
    this.#forget(upload);
  }

  async #patch({ url, protocol, offset, content }: Upload, body: BodyInit, length: number): Promise<Response> {
    const isLast = offset + length === content.length;
    return await this.#ask("PATCH", url, {
      "upload-offset": String(offset),
      ...(protocol === "tus"
        ? { ...TUS, "content-type": "application/offset+octet-stream" }
        : { "content-type": "application/partial-upload", "upload-complete": isLast ? "?1" : "?0" }),
    }, body);
  }

  /** Sends a part and disconnects: the received bytes must be kept. */
  async #cut(upload: Upload): Promise<void> {
    const { content, offset, protocol, url } = upload;
    const left = content.length - offset;
    if (left < 2) return;
    const piece = content.subarray(offset, offset + 1 + this.#random(left - 1));
    let isSent = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (isSent) controller.error(new Error("the sender has left"));
        else controller.enqueue(piece.slice());
        isSent = true;
      },
    }, { highWaterMark: 0 });
    assert.ok((await this.#patch(upload, body, 0)).status >= 400);
    const { status, headers } = await this.#ask("HEAD", url, protocol === "draft" ? {} : TUS);
    if (this.#isFull(status)) return await this.#cancel(upload);
    const kept = Number(headers.get("upload-offset"));
    assert.ok(kept >= offset && kept <= offset + piece.length, `${kept} of ${offset} and ${piece.length}`);
    upload.offset = kept;
  }

  /** Makes a file of parts, which stay. */
  async #concatenate(): Promise<void> {
    const parts = this.#uploads.filter(({ name, offset, content }) => name === undefined && offset === content.length);
    if (parts.length === 0) return;
    const some = Array.from({ length: 1 + this.#random(3) }, () => parts[this.#random(parts.length)]);
    const name = this.#name();
    const { status } = await this.#ask("POST", "/", {
      ...TUS,
      "upload-concat": `final;${some.map(({ url }) => url).join(" ")}`,
      "upload-metadata": `filename ${Buffer.from(name).toString("base64")}`,
    });
    if (this.#isFull(status)) return;
    assert.equal(status, 201);
    this.#files.set(name, Buffer.concat(some.map(({ content }) => content)));
  }

  async #cancel(upload: Upload): Promise<void> {
    const { status } = await this.#ask("DELETE", upload.url, upload.protocol === "draft" ? {} : TUS);
    assert.equal(status, 204);
    this.#forget(upload);
  }

  /** Makes an upload expire, and requires that only this one is removed. */
  async #expire(upload: Upload): Promise<void> {
    this.#place.expire!(upload.url);
    this.#forget(upload);
    assert.equal((await this.#ask("HEAD", upload.url, upload.protocol === "draft" ? {} : TUS)).status, 404);
  }

  /** Closes the handler and continues with a new one. */
  async #restart(): Promise<void> {
    await this.#handler.close();
    this.#handler = this.#start();
  }

  #forget(upload: Upload): void {
    this.#uploads.splice(this.#uploads.indexOf(upload), 1);
  }
}

/** Runs 40 steps of a seed's senders to a place; returns the number of requests refused by a full disk. */
async function run(place: Place, seed: number): Promise<number> {
  const senders = new Senders(place, seed);
  let step = 0;
  try {
    for (; step < 40; step++) await senders.step();
    await senders.end();
    return senders.full;
  } catch (error) {
    throw new Error(`seed ${seed}, step ${step}: ${(error as Error).message}`, { cause: error });
  }
}

test("of what random senders were told nothing is lost, nothing unfinished is seen, and all can be removed", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    await inUploads(async (folder) => assert.equal(await run(folderPlace(folder), seed), 0));
  }
});

test("so it is on a disk that is full now and then", { skip: cannotMount }, async () => {
  let full = 0;
  for (let seed = 1; seed <= Math.max(2, Math.ceil(SEEDS / 3)); seed++) {
    await onSmallDisk(500, async (disk) => void (full += await run(folderPlace(disk), seed)));
  }
  assert.ok(full > 0);
});

test("so it is in a bucket of versitygw", { skip: realStores.versitygw.skip }, async () => {
  const store = await startStore("versitygw");
  try {
    for (let seed = 1; seed <= STORE_SEEDS; seed++) {
      const place = bucketPlace(store.options);
      assert.equal(await run(place, seed), 0);
      const { storage } = place.options;
      for await (const { key } of storage!.list()) await storage!.delete(key);
      await storage!.close();
    }
  } finally {
    await store.stop();
  }
});
