import assert from "node:assert/strict";
import { pause } from "../support/waits.ts";
import type { Generations, StoredForm } from "./generations.ts";
import { PersistentConnection, type ReceivedAnswer } from "./persistent_connection.ts";

/** The progress of the deploys. */
export interface Progress {
  /** The generation that is being put in place, or is. */
  begun: number;
  /** The last one that a `reload()` was fulfilled for. */
  served: number;
}

/** The numbers of responses of each kind that visitors received so far. */
export interface Counts {
  whole: number;
  notModified: number;
  parts: number;
  /** Assets of the page of a former generation. */
  former: number;
  /** 503, while a file was being replaced. */
  unavailable: number;
}

/** The state common to the visitors of a site. */
export interface Visit {
  readonly port: number;
  readonly generations: Generations;
  readonly progress: Progress;
  readonly counts: Counts;
  /** Whether files are replaced one by one where they are served, so that a request for some may have to be repeated. */
  readonly isInPlace: boolean;
  /** Requests of a page's assets that wait for the deploy after it, and are sent before the deploy after that. */
  readonly held: (() => Promise<void>)[];
  /** Whether visitors have to leave, and requests wait no longer. */
  isOver: boolean;
  /** The representation of each entity tag seen so far, for all visitors. */
  readonly byTag: Map<string, StoredForm>;
}

const acceptable = ["br", "gzip", "zstd", "identity", "gzip, br", "gzip, deflate, br, zstd", "br;q=0.2, gzip;q=0.9"];

/** A client that sends successive requests, and rejects responses that mix generations. */
export class Visitor {
  readonly #visit: Visit;
  readonly #connection: PersistentConnection;
  /** The entity tags of cached files, by path. */
  readonly #tags = new Map<string, string>();

  constructor(visit: Visit) {
    this.#visit = visit;
    this.#connection = new PersistentConnection(visit.port);
  }

  /** Sends visits until they are over, which a failure ends for all visitors. */
  async stay(): Promise<void> {
    try {
      while (!this.#visit.isOver) {
        await this.#viewPage();
        await this.#revalidate("data.json");
        await this.#ask("HEAD", "data.json");
        await this.#revalidate("large.bin");
        await this.#resume("large.bin");
        await pause(2); // two cores, and the server's needs one
      }
    } finally {
      this.#visit.isOver = true;
      this.#connection.close();
    }
  }

  async #viewPage(): Promise<void> {
    const form = await this.#ask("GET", "index.html", { "Accept-Encoding": "identity" });
    if (form === undefined) return;
    const page = new TextDecoder().decode(form.bytes);
    const assets = new Set([...page.matchAll(/href="\/([^"]+)"/g)].map(([, path]) => path));
    assert.equal(assets.size, 2, page);
    const ask = async (): Promise<void> => {
      for (const path of assets) await this.#ask("GET", path, {}, form.generation);
    };
    // One visitor at most, so that the others send requests during the deploy.
    const { held, isOver } = this.#visit;
    if (held.length > 0 || isOver) return await ask();
    await new Promise<void>((resolve, reject) => held.push(() => ask().then(resolve, reject)));
  }

  #revalidate(path: string): Promise<StoredForm | undefined> {
    const tag = this.#tags.get(path);
    return this.#ask("GET", path, tag === undefined || Math.random() < 0.2 ? {} : { "If-None-Match": tag });
  }

  #resume(path: string): Promise<StoredForm | undefined> {
    const tag = this.#tags.get(path);
    const start = Math.floor(Math.random() * 100_000);
    return this.#ask("GET", path, { Range: `bytes=${start}-`, ...(tag && { "If-Range": tag }) });
  }

  /**
   * Asks for something that must be there: if `pageOf` is given, as long as that generation is at most the former one.
   */
  async #ask(
    method: string,
    path: string,
    fields: Readonly<Record<string, string>> = {},
    pageOf?: number,
  ): Promise<StoredForm | undefined> {
    const { progress, counts, isInPlace } = this.#visit;
    const oldest = progress.served;
    const coding = acceptable[Math.floor(Math.random() * acceptable.length)];
    const target = path === "index.html" ? "/" : `/${path}`;
    const answer = await this.#connection.ask(method, target, { "Accept-Encoding": coding, ...fields });
    const newest = progress.begun;
    const what = `${method} ${target} ${JSON.stringify(fields)} of ${oldest} to ${newest}`;
    assert.ok(answer.isWhole, `${what}: cut off`);
    if (pageOf !== undefined && newest > pageOf + 1) return undefined;
    if (answer.status === 503 && isInPlace && oldest < newest) {
      assert.equal(answer.fields.get("retry-after"), "1", what);
      counts.unavailable++;
      return undefined;
    }
    const form = this.#formOf(answer, method, what, fields);
    if (form === undefined) return undefined; // HEAD, of a form that has not been downloaded yet
    assert.equal(form.path, path, what);
    const isRight = form.generation === pageOf || (form.generation >= oldest && form.generation <= newest);
    assert.ok(isRight, `${what}: generation ${form.generation}`);
    if (pageOf !== undefined && pageOf < oldest) counts.former++;
    this.#tags.set(path, answer.fields.get("etag")!);
    return form;
  }

  /** Returns the representation a response was made from; throws if the response mixes several. */
  #formOf(
    answer: ReceivedAnswer,
    method: string,
    what: string,
    asked: Readonly<Record<string, string>>,
  ): StoredForm | undefined {
    const { counts, byTag, generations } = this.#visit;
    const { status, fields, body } = answer;
    const tag = fields.get("etag");
    assert.ok(tag, `${what}: ${status} without a tag: ${body.toString("latin1", 0, 200)}`);
    const known = byTag.get(tag);
    if (status === 304) {
      counts.notModified++;
      assert.equal(tag, asked["If-None-Match"], what);
      assert.equal(body.length, 0);
      return known;
    }
    if (status === 206) return this.#partOf(answer, known, what);
    assert.equal(status, 200, what);
    const form = method === "HEAD" ? known : generations.formOf(body);
    if (form === undefined) {
      assert.equal(
        method,
        "HEAD",
        `${what}: ${body.length} bytes of no generation: ${body.toString("latin1", 0, 100)}`,
      );
      return undefined;
    }
    counts.whole++;
    // The content identifies the form: the fields must always be the same, and a tag must never belong to another
    // content.
    assert.equal(form, known ?? form, `${what}: ${tag} stood for another content`);
    byTag.set(tag, form);
    if (!fields.has("transfer-encoding")) assert.equal(Number(fields.get("content-length")), form.bytes.length, what);
    assert.equal(fields.get("content-encoding") ?? "identity", form.coding, what);
    return form;
  }

  #partOf({ fields, body }: ReceivedAnswer, known: StoredForm | undefined, what: string): StoredForm | undefined {
    this.#visit.counts.parts++;
    const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(fields.get("content-range") ?? "") ?? [];
    assert.ok(size !== undefined, `${what}: 206 without a range`);
    assert.equal(body.length, Number(end) + 1 - Number(start), what);
    if (known === undefined) return undefined; // it has not been downloaded whole yet
    assert.equal(Number(size), known.bytes.length, what);
    assert.ok(body.equals(known.bytes.subarray(Number(start), Number(end) + 1)), `${what}: a part of something else`);
    return known;
  }
}
