import { pageReferences, type ReferenceKind, styleReferences } from "../pages/mod.ts";
import { lifetimeOf } from "./lifetime.ts";
import { contentOf, type Received } from "./received.ts";

/** Sends a request; bodies come as they were sent, no more than `most` bytes of them. */
export type Ask = (
  url: string,
  headers: Readonly<Record<string, string>>,
  most: number,
) => Promise<Pick<Response, "status" | "headers" | "url" | "bytes">>;

/** The limits of a visit. */
export interface Limits {
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A file to ask for. */
interface Wanted {
  readonly url: string;
  readonly kind: ReferenceKind | "page";
}

/** Files that are asked for at a time, as browsers do. */
const AT_A_TIME = 6;

const accepted: Readonly<Record<Wanted["kind"], string>> = {
  page: "text/html,application/xhtml+xml,*/*;q=0.8",
  style: "text/css,*/*;q=0.1",
  image: "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8",
  script: "*/*",
  font: "*/*",
  other: "*/*",
};

/** A visitor that loads a page and its files as a browser would, each once. */
export class Visitor {
  readonly received: Received[] = [];
  readonly limits: Set<string> = new Set();
  elsewhere = 0;
  readonly #ask: Ask;
  readonly #limits: Limits;
  readonly #seen = new Set<string>();
  readonly #onFile: (done: number, known: number) => void;
  readonly #origins: Set<string>;
  #bytes = 0;

  constructor(ask: Ask, limits: Limits, origins: readonly string[], onFile: (done: number, known: number) => void) {
    [this.#ask, this.#limits, this.#onFile] = [ask, limits, onFile];
    this.#origins = new Set(origins);
  }

  /**
   * Loads a page and all that it refers to.
   *
   * @throws the error of the page's request.
   */
  async visit(url: string): Promise<void> {
    this.#seen.add(url);
    const page = await this.#load({ url, kind: "page" });
    if (page === undefined) return;
    this.#origins.add(new URL(page.url).origin);
    await this.loadAll(this.#wantedBy(page));
  }

  /** Loads files, and what they refer to. */
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
    while (queue.length > 0) {
      const room = Math.min(AT_A_TIME, this.#limits.maxFiles - this.received.length);
      if (room <= 0) return void this.limits.add(`more than ${this.#limits.maxFiles} files`);
      const loaded = await Promise.all(queue.splice(0, room).map((each) => this.#tryToLoad(each)));
      if (this.#limits.signal.aborted) return;
      for (const file of loaded) if (file) add(this.#wantedBy(file));
    }
  }

  async #tryToLoad(wanted: Wanted): Promise<Received | undefined> {
    try {
      return await this.#load(wanted);
    } catch (error) {
      if (!this.#limits.signal.aborted) this.limits.add(`${wanted.url}: ${(error as Error).message}`);
      return undefined;
    }
  }

  async #load({ url, kind }: Wanted): Promise<Received | undefined> {
    const most = this.#limits.maxBytes - this.#bytes;
    if (most <= 0) return void this.limits.add(`more than ${this.#limits.maxBytes} bytes`);
    const headers = { accept: accepted[kind], "accept-encoding": "gzip, br, zstd" };
    const response = await this.#ask(url, headers, most);
    const bytes = await response.bytes() as Uint8Array<ArrayBuffer>;
    this.#bytes += bytes.length;
    const final = response.url || url;
    if (kind !== "page" && !this.#origins.has(new URL(final).origin)) {
      this.elsewhere++;
      return undefined;
    }
    const file = {
      url: final,
      kind,
      status: response.status,
      headers: response.headers,
      bytes,
      content: await contentOf(bytes, response.headers),
      statusAgain: response.status === 200 ? await this.#statusAgain(final, headers, response.headers) : undefined,
    };
    this.received.push(file);
    this.#onFile(this.received.length, this.#seen.size);
    return file;
  }

  /** Asks for a file as a client does that has it, if one would ask. */
  async #statusAgain(
    url: string,
    headers: Readonly<Record<string, string>>,
    stored: Headers,
  ): Promise<number | undefined> {
    const { isStored, fresh, hasValidator } = lifetimeOf(stored);
    if (!isStored || !hasValidator || fresh >= 86_400) return undefined;
    const [etag, modified] = [stored.get("etag"), stored.get("last-modified")];
    const conditions = {
      ...(etag !== null && { "if-none-match": etag }),
      ...(modified !== null && { "if-modified-since": modified }),
    };
    const response = await this.#ask(url, { ...headers, ...conditions }, this.#limits.maxBytes);
    await response.bytes();
    return response.status;
  }

  /** The files that a file refers to, of the origins that are looked at. */
  #wantedBy({ kind, content, status, url }: Received): Wanted[] {
    if ((kind !== "page" && kind !== "style") || content === undefined || status >= 300) return [];
    const text = new TextDecoder().decode(content);
    const { base = "", references } = kind === "page" ? pageReferences(text) : { references: styleReferences(text) };
    const root = URL.parse(base, url) ?? url;
    const wanted: Wanted[] = [];
    for (const reference of references) {
      const found = URL.parse(reference.url, root);
      if (found === null || !/^https?:$/.test(found.protocol)) continue;
      found.hash = "";
      if (this.#origins.has(found.origin)) wanted.push({ url: found.href, kind: reference.kind });
      else this.elsewhere++;
    }
    return wanted;
  }
}
