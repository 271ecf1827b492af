import {
  headerReferences,
  pageReferences,
  type Reference,
  type ReferenceKind,
  scriptReferences,
  styleReferences,
} from "../pages/mod.ts";
import { contentOf, lifetimeOf, type Received, textOf } from "./received.ts";

type Fields = Readonly<Record<string, string>>;
/** Sends a request without following redirects; bodies are returned as sent. */
export type Ask = (url: string, headers: Fields) => Promise<Pick<Response, "status" | "headers" | "body">>;

/** Returns the location of a resolved reference; `isWhole`: the reference is not relative to its file. */
export type Locate = (url: URL, isWhole: boolean) => string;

interface Answer {
  readonly url: string;
  readonly response: Awaited<ReturnType<Ask>>;
}

export interface Limits {
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

interface Wanted {
  readonly url: string;
  readonly kind: ReferenceKind | "page";
}

/** The number of simultaneous requests, as in browsers. */
const AT_A_TIME = 6;
/** The maximum number of redirects, as in browsers. */
const MAX_REDIRECTS = 20;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** The maximum number of references of a file that are read, which takes about a second. */
const MAX_REFERENCES = 100_000;

/** Types that browsers treat as a page, or as styles; without a type, they examine the content. */
const HTML = /^\s*(?:$|text\/html|application\/xhtml\+xml)/i;
const CSS = /^\s*(?:$|text\/css)/i;
const SCRIPT = /^\s*(?:$|(?:text|application)\/(?:x-)?(?:java|ecma)script)/i;

const accepted: Readonly<Record<Wanted["kind"], string>> = {
  page: "text/html,application/xhtml+xml,*/*;q=0.8",
  style: "text/css,*/*;q=0.1",
  image: "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8",
  script: "*/*",
  font: "*/*",
  other: "*/*",
};

/** Loads a page and its files like a browser, each once. */
export class Visitor {
  readonly received: Received[] = [];
  readonly limits: Set<string> = new Set();
  elsewhere = 0;
  readonly #ask: Ask;
  readonly #locate: Locate;
  readonly #limits: Limits;
  /** The requested URLs, and those to which redirects led. */
  readonly #seen = new Set<string>();
  readonly #loaded = new Set<string>();
  #asked = 0;
  readonly #onFile: (done: number, known: number) => void;
  readonly #origins: Set<string>;
  #bytes = 0;

  constructor(
    site: { readonly ask: Ask; readonly locate: Locate },
    limits: Limits,
    origins: readonly string[],
    onFile: (done: number, known: number) => void,
  ) {
    [this.#ask, this.#locate, this.#limits, this.#onFile] = [site.ask, site.locate, limits, onFile];
    this.#origins = new Set(origins);
  }

  /** Loads a page and all files it refers to. */
  async visit(url: string): Promise<void> {
    this.#seen.add(url);
    this.#asked++;
    const page = await this.#load({ url, kind: "page" }).catch((cause: Error) => {
      if (cause.message !== this.#byteLimit) throw cause;
      throw new Error(`${url} has ${this.#byteLimit}, which is all that may be loaded`, { cause });
    });
    if (page === undefined) return;
    this.#origins.add(new URL(page.url).origin);
    await this.loadAll(this.#wantedBy(page));
  }

  /** Loads files, and the files they refer to. */
  async loadAll(wanted: Iterable<Wanted>): Promise<void> {
    const queue: Wanted[] = [];
    const add = (more: Iterable<Wanted>): void => {
      for (const each of more) {
        if (this.#seen.has(each.url)) continue;
        this.#seen.add(each.url);
        queue.push(each);
      }
    };
    add(wanted);
    const loading = new Set<Promise<void>>();
    while (queue.length + loading.size > 0 && !this.#limits.signal.aborted) {
      if (queue.length === 0 || loading.size === AT_A_TIME) {
        await Promise.race(loading);
      } else if (this.#asked === this.#limits.maxFiles) {
        this.limits.add(`more than ${this.#limits.maxFiles} files`);
        queue.length = 0;
      } else {
        this.#asked++;
        const load = this.#tryToLoad(queue.shift()!).then((file) => {
          loading.delete(load);
          if (file && !this.#limits.signal.aborted) add(this.#wantedBy(file));
        });
        loading.add(load);
      }
    }
    await Promise.all(loading);
  }

  async #tryToLoad(wanted: Wanted): Promise<Received | undefined> {
    try {
      return await this.#load(wanted);
    } catch (error) {
      const { message } = error as Error;
      if (!this.#limits.signal.aborted) {
        this.limits.add(message === this.#byteLimit ? message : `${wanted.url}: ${message}`);
      }
      return undefined;
    }
  }

  async #load({ url, kind }: Wanted): Promise<Received | undefined> {
    if (this.#bytes >= this.#limits.maxBytes) return void this.limits.add(this.#byteLimit);
    const headers = { accept: accepted[kind], "accept-encoding": "gzip, br, zstd" };
    const answer = await this.#follow(url, kind, headers);
    if (answer === undefined || this.#loaded.has(answer.url)) return undefined;
    this.#loaded.add(answer.url);
    const { response: { status, headers: fields } } = answer;
    const bytes = await this.#bytesOf(answer.response);
    const statusAgain = status === 200 ? await this.#statusAgain(answer.url, headers, fields) : undefined;
    const content = await contentOf(bytes, fields);
    const file = { url: answer.url, kind, status, headers: fields, bytes, content, statusAgain };
    this.received.push(file);
    this.#onFile(this.received.length, this.#seen.size);
    return file;
  }

  /** Follows redirects: for a page to any origin, for a file within the analyzed origins. */
  async #follow(url: string, kind: Wanted["kind"], headers: Fields): Promise<Answer | undefined> {
    let at = url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await this.#ask(at, headers);
      const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
      if (location === null) return { response, url: at };
      await response.body?.cancel();
      const next = URL.parse(location, at);
      if (next === null || !/^https?:$/.test(next.protocol)) {
        throw new Error(`${at} redirects to ${JSON.stringify(location)}, where nothing can be loaded`);
      }
      next.hash = "";
      if (kind !== "page" && !this.#origins.has(next.origin)) return void this.elsewhere++;
      at = next.href;
    }
    throw new Error(`${url} redirects more than ${MAX_REDIRECTS} times`);
  }

  /** Reads a body. All simultaneously read bodies share one limit. */
  async #bytesOf({ body }: Pick<Response, "body">): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      this.#bytes += chunk.length;
      if (this.#bytes > this.#limits.maxBytes) throw new Error(this.#byteLimit);
    }
    const bytes = new Uint8Array(size);
    for (let i = 0, at = 0; i < chunks.length; at += chunks[i++]!.length) bytes.set(chunks[i]!, at);
    return bytes;
  }

  get #byteLimit(): string {
    return `more than ${this.#limits.maxBytes} bytes`;
  }

  /** Requests a file like a client with a stored copy, if such a client would; undefined if that fails, which is reported. */
  async #statusAgain(url: string, headers: Fields, stored: Headers): Promise<number | undefined> {
    const { isStored, fresh, hasValidator } = lifetimeOf(stored);
    if (!isStored || !hasValidator || fresh >= 86_400) return undefined;
    const [etag, modified] = [stored.get("etag"), stored.get("last-modified")];
    const conditions = {
      ...(etag !== null && { "if-none-match": etag }),
      ...(modified !== null && { "if-modified-since": modified }),
    };
    try {
      const response = await this.#ask(url, { ...headers, ...conditions });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      if (this.#limits.signal.aborted) throw error;
      return void this.limits.add(`${url}, asked for again: ${(error as Error).message}`);
    }
  }

  /** Returns the files of the analyzed origins that a file refers to. */
  #wantedBy({ kind, content, status, url, headers }: Received): Wanted[] {
    if ("fault" in content || status >= 300) return [];
    const type = headers.get("content-type") ?? "";
    const text = (): string => textOf(content, type);
    if (kind === "style") return CSS.test(type) ? this.#resolved(styleReferences(text()), url) : [];
    if (kind === "script") return SCRIPT.test(type) ? this.#resolved(scriptReferences(text()), url) : [];
    if (kind !== "page") return [];
    const early = this.#resolved(headerReferences(headers.get("link") ?? ""), url);
    if (!HTML.test(type)) return early;
    const { base = "", references } = pageReferences(text());
    return [...early, ...this.#resolved(references, URL.parse(base, url)?.href ?? url, base.startsWith("/"))];
  }

  #resolved(references: readonly Reference[], base: string, isBaseWhole = false): Wanted[] {
    const wanted: Wanted[] = [];
    const kinds = new Map<string, ReferenceKind>(); // the first reference determines the kind
    for (const { url, kind } of references) if (!kinds.has(url)) kinds.set(url, kind);
    if (kinds.size > MAX_REFERENCES) this.limits.add(`more than ${MAX_REFERENCES} references of one file`);
    for (const [url, kind] of [...kinds].slice(0, MAX_REFERENCES)) {
      const found = URL.parse(url, base);
      if (found === null || !/^https?:$/.test(found.protocol)) continue;
      found.hash = "";
      const isWhole = isBaseWhole || url.startsWith("/");
      if (this.#origins.has(found.origin)) wanted.push({ url: this.#locate(found, isWhole), kind });
      else this.elsewhere++;
    }
    return wanted;
  }
}
