import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { availableDictionary, mayUseDictionary, useAsDictionary, useAsDictionaryBelow } from "../../semantics/mod.ts";
import { addToVary, type Exchange } from "../policy.ts";
import type { DictionaryOptions, DictionaryRoute } from "./options.ts";
import { type BodyRecorder, Recorders, TemplateMaker } from "./recorders.ts";

class Dictionary {
  readonly bytes: Uint8Array;
  /** The SHA-256 in base64, as in the field `Available-Dictionary`. */
  readonly hash: string;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.hash = createHash("sha256").update(bytes).digest("base64");
  }
}

/** The maximum number of versions of one resource that are kept. */
const MAX_VERSIONS = 4;

/** The approximate overhead of a stored version, in bytes. */
const OVERHEAD = 512;

/** Returns the accounted size of a version. It includes the name, since clients choose names of any length. */
function sizeOf(resource: string, { bytes }: Dictionary): number {
  return bytes.length + resource.length + OVERHEAD;
}

/** The latest versions of public responses, within a limit of bytes. */
class FormerVersions {
  readonly #most: number;
  /** The versions by resource, least recently used resource first; in each list, the newest version is last. */
  readonly #versions = new Map<string, Dictionary[]>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(resource: string, bytes: Uint8Array): void {
    const versions = this.#take(resource);
    const newest = versions.at(-1)?.bytes;
    if (newest === undefined || !Buffer.from(newest.buffer, newest.byteOffset, newest.length).equals(bytes)) {
      const version = new Dictionary(bytes);
      versions.push(version);
      this.#held += sizeOf(resource, version);
      if (versions.length > MAX_VERSIONS) this.#held -= sizeOf(resource, versions.shift()!);
    }
    this.#versions.set(resource, versions);
    for (const [oldest, dropped] of this.#versions) {
      if (this.#held <= this.#most) break;
      this.#versions.delete(oldest);
      for (const version of dropped) this.#held -= sizeOf(oldest, version);
    }
  }

  find(resource: string, hash: string): Dictionary | undefined {
    const versions = this.#take(resource);
    if (versions.length > 0) this.#versions.set(resource, versions);
    return versions.find((version) => version.hash === hash);
  }

  #take(resource: string): Dictionary[] {
    const versions = this.#versions.get(resource) ?? [];
    this.#versions.delete(resource);
    return versions;
  }
}

/** Fields of a request that may make the response personal. */
const OF_A_USER = ["authorization", "cookie"];

/** Whether a response is a page, and not personal by its fields: no other response becomes part of a dictionary. */
export function isShareable({ method, status, request, fields }: Exchange): boolean {
  if (method !== "GET" || status !== 200) return false;
  // An event stream is endless, and no page.
  if (fields.get("content-type")?.toLowerCase().startsWith("text/event-stream")) return false;
  if (OF_A_USER.some((name) => request(name))) return false;
  if (fields.get("set-cookie") !== undefined) return false;
  if (/(?:^|[,\s])(?:private|no-store)(?:$|[,;=\s])/i.test(fields.get("cache-control") ?? "")) return false;
  return !/(?:^|[,\s])(?:\*|cookie|authorization)(?:$|[,\s])/i.test(fields.get("vary") ?? "");
}

/** Whether a response is public and may be stored: a requirement for dictionaries. */
export function isPublic(exchange: Exchange): boolean {
  const control = exchange.fields.get("cache-control") ?? "";
  return isShareable(exchange) && /(?:^|[,\s])public(?:$|[,\s])/i.test(control) &&
    /\b(?:max-age|stale-while-revalidate)=0*[1-9]/i.test(control) && !/\bno-cache\b/i.test(control);
}

/** The number of hash digits in a dictionary's path. */
const NAME_LENGTH = 32;

export interface DictionaryUse {
  /** A dictionary that the client has, and that the response may be compressed with. */
  readonly dictionary: Dictionary | undefined;
  /** Records the body, if it may become a dictionary. */
  readonly recorder: BodyRecorder | undefined;
  /** Adds the fields that announce dictionaries for later requests. */
  offer(): void;
}

class Route {
  readonly maker = new TemplateMaker();
  template: Dictionary | undefined;
  readonly #path: string;
  /** The path before the `*`, and the path after it, undefined without a `*`. */
  readonly #before: string;
  readonly #after: string | undefined;

  constructor({ path, template }: DictionaryRoute) {
    this.#path = path;
    [this.#before, this.#after] = path.split("*");
    if (template === undefined) return;
    this.template = new Dictionary(
      typeof template === "string" ? new TextEncoder().encode(template) : new Uint8Array(template),
    );
  }

  /** Whether the template is not made yet. */
  get isOpen(): boolean {
    return this.template === undefined && !this.maker.isDone;
  }

  matches(path: string): boolean {
    const [before, after] = [this.#before, this.#after];
    if (after === undefined) return path === before;
    return path.length >= before.length + after.length && path.startsWith(before) && path.endsWith(after);
  }

  /** Returns the value of `Use-As-Dictionary`, with the paths that the template is for. */
  useAsDictionary(): string {
    const { length } = this.#before;
    return useAsDictionary(this.#path, this.#after === undefined ? undefined : { start: length, end: length + 1 });
  }
}

/** The dictionaries of routes and former versions, and their choice for a response. */
export class Dictionaries {
  readonly #options: Required<DictionaryOptions>;
  readonly #routes: readonly Route[];
  readonly #former: FormerVersions;
  readonly #recorders = new Recorders();

  constructor(options: Required<DictionaryOptions>) {
    this.#options = options;
    this.#routes = options.routes.map((route) => new Route(route));
    this.#former = new FormerVersions(options.memory);
  }

  /** Returns the template that is served at the URL of a request, and header fields with names in lower case. */
  served(url: string): { bytes: Uint8Array; fields: Readonly<Record<string, string>> } | undefined {
    const path = pathOf(url);
    if (!path.startsWith(this.#options.path)) return undefined;
    const route = this.#routes.find(({ template }) => template && this.#pathOf(template) === path);
    if (route === undefined) return undefined;
    return {
      bytes: route.template!.bytes,
      fields: {
        "content-type": "application/octet-stream",
        "cache-control": "public, max-age=31536000, immutable", // the path contains the hash
        "use-as-dictionary": route.useAsDictionary(),
        "x-content-type-options": "nosniff",
      },
    };
  }

  #pathOf({ hash }: Dictionary): string {
    return this.#options.path + hash.replace(/[^0-9A-Za-z]/g, "_").slice(0, NAME_LENGTH);
  }

  /** Whether a response at a URL may depend on its client's dictionaries, by the URL alone: a 304 has no more data. */
  mayUseFor(url: string): boolean {
    return this.#options.memory > 0 || this.#routeOf(pathOf(url)) !== undefined;
  }

  #routeOf(path: string): Route | undefined {
    return this.#routes.find((route) => route.matches(path));
  }

  /** Returns the dictionaries for a response, and adds to its `Vary`; undefined if there are none. */
  useFor(exchange: Exchange): DictionaryUse | undefined {
    const { url, request, fields } = exchange;
    const path = pathOf(url);
    const route = this.#routeOf(path);
    const mayBeKept = this.#options.memory > 0 && fields.get("use-as-dictionary") === undefined && isPublic(exchange);
    if (route === undefined && !mayBeKept) return undefined;
    addToVary(fields, "Available-Dictionary");
    const resource = mayBeKept ? `${request("host") ?? ""} ${path}` : undefined;
    const hash = hashIn(exchange);
    return {
      dictionary: hash === undefined ? undefined : this.#find(hash, route, resource),
      recorder: this.#recorder(exchange, route?.isOpen && mayBeInTemplate(exchange) ? route : undefined, resource),
      offer: () => {
        if (route?.template !== undefined && route.template.hash !== hash) {
          const link = `<${this.#pathOf(route.template)}>; rel="compression-dictionary"`;
          const others = fields.get("link");
          fields.set("link", others ? `${others}, ${link}` : link);
        }
        if (mayBeKept) fields.set("use-as-dictionary", useAsDictionaryBelow(path, useAsDictionary("")));
      },
    };
  }

  #find(hash: string, route: Route | undefined, resource: string | undefined): Dictionary | undefined {
    if (route?.template?.hash === hash) return route.template;
    return resource === undefined ? undefined : this.#former.find(resource, hash);
  }

  #recorder(exchange: Exchange, route: Route | undefined, resource: string | undefined): BodyRecorder | undefined {
    if (route === undefined && resource === undefined) return undefined;
    return this.#recorders.recorder(resource ?? pathOf(exchange.url), (body) => {
      // Fields may have been added after the head was checked, so both conditions are checked again.
      const fits = body.length <= this.#options.memory;
      if (resource !== undefined && fits && isPublic(exchange)) this.#former.add(resource, body);
      if (route === undefined || !mayBeInTemplate(exchange)) return;
      const template = route.maker.add(body);
      if (template !== undefined) route.template = new Dictionary(template);
    });
  }
}

/** Whether a response may become part of a template. Not with a query, which may be secret and which pages repeat. */
function mayBeInTemplate(exchange: Exchange): boolean {
  return isShareable(exchange) && !exchange.url.includes("?");
}

/** Returns the hash of the client's dictionary, if the page that made the request may read the response. */
function hashIn({ request, fields }: Exchange): string | undefined {
  const field = request("available-dictionary");
  if (!field) return undefined;
  const mayUse = mayUseDictionary({
    site: request("sec-fetch-site"),
    mode: request("sec-fetch-mode"),
    origin: request("origin"),
    allowOrigin: fields.get("access-control-allow-origin"),
  });
  return mayUse ? availableDictionary(field) : undefined;
}

function pathOf(url: string): string {
  if (!url.startsWith("/")) return URL.canParse(url) ? new URL(url).pathname : "";
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}
