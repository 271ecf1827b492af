import { Buffer } from "node:buffer";
import { createServer, type RequestListener, type Server } from "node:http";
import http2, { type ClientHttp2Session, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { createStaticHandler, type StaticHandler } from "../../../lib/static/mod.ts";
import { exchange } from "../../support/raw_exchange.ts";
import { serveFetch } from "../fetch_server.ts";
import { type FieldLines, type Particulars, type SiteName, sites } from "./rfc_case.ts";

/** The entry point of a request: as a `Request`, by a server for fetch handlers, or by `node:http` or `node:http2`. */
export type Entry = "fetch" | "serve" | "node" | "http2";

/** A request, with nothing left to fill in. */
export interface Question {
  readonly method: string;
  readonly target: string;
  readonly fields: FieldLines;
  readonly version: "1.0" | "1.1";
  readonly content: string | undefined;
}

/** The response to a question. */
export interface Reply {
  readonly status: number;
  /** The fields by lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** Returns the question of a case. */
export function questionOf(
  target: string,
  fields: FieldLines,
  { method, version, content }: Particulars = {},
): Question {
  return { method: method ?? "GET", target, fields, version: version ?? "1.1", content };
}

type Ask = (question: Question) => Promise<Reply>;

/** Handlers of a folder and their servers, started on first use. */
export class Handlers {
  readonly #directory: string;
  readonly #handlers = new Map<SiteName, Promise<StaticHandler>>();
  readonly #asking = new Map<string, Promise<Ask>>();
  readonly #closing: (() => unknown)[] = [];
  /** The handlers' warnings: there should be none. */
  readonly warnings: string[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Sends a question to the handler with that name. */
  async ask(site: SiteName, entry: Entry, question: Question): Promise<Reply> {
    const key = `${site} ${entry}`;
    const starting = this.#asking.get(key) ?? this.#start(site, entry);
    this.#asking.set(key, starting);
    return (await starting)(question);
  }

  /** Closes all that was started, also where something else could not be. */
  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
  }

  async #start(site: SiteName, entry: Entry): Promise<Ask> {
    const creating = this.#handlers.get(site) ?? this.#create(site);
    this.#handlers.set(site, creating);
    const handler = await creating;
    if (entry === "fetch") return (question) => askFetch(handler, question);
    if (entry === "serve") {
      const server = await serveFetch(handler.fetch);
      this.#closing.push(() => server.close());
      return (question) => askServer(server.port, question);
    }
    const answer = listenerOf(site, handler);
    if (entry === "node") {
      const port = await this.#listen(createServer(answer));
      return (question) => askServer(port, question);
    }
    // Its requests and responses are made to be used as those of node:http.
    const port = await this.#listen(http2.createServer(answer as unknown as Parameters<typeof http2.createServer>[1]));
    const session = http2.connect(`http://127.0.0.1:${port}`);
    this.#closing.push(() => session.destroy());
    return (question) => askSession(session, question);
  }

  async #create(site: SiteName): Promise<StaticHandler> {
    const onWarning = ({ path, message }: { path: string; message: string }) => {
      this.warnings.push(`${site}: ${path}: ${message}`);
    };
    const handler = await createStaticHandler(this.#directory, { ...sites[site], onWarning });
    this.#closing.push(() => handler.close());
    return handler;
  }

  /** Makes a server listen at a free port, and returns the port. */
  async #listen(server: Server | Http2Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#closing.push(() => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as AddressInfo).port;
  }
}

function listenerOf(site: SiteName, handler: StaticHandler): RequestListener {
  if (site !== "middleware") return (request, response) => handler.node(request, response);
  return (request, response) => {
    handler.node(request, response, () => {
      response.writeHead(299, { "Content-Length": "5" });
      response.end("next\n");
    });
  };
}

async function askFetch({ fetch }: StaticHandler, { method, target, fields, content }: Question): Promise<Reply> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    for (const line of [value].flat()) headers.append(name, line);
  }
  const request = new Request(`http://127.0.0.1${target}`, { method, headers, body: content });
  const response = await fetch(request);
  const body = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, fields: new Map(response.headers), body };
}

async function askServer(port: number, { method, target, fields, version, content }: Question): Promise<Reply> {
  const lines = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((line) => `${name}: ${line}`));
  if (content !== undefined) lines.push(`content-length: ${content.length}`);
  const head = [`${method} ${target} HTTP/${version}`, "host: 127.0.0.1", ...lines, "connection: close", "", ""];
  const answer = await exchange(port, Buffer.from(head.join("\r\n") + (content ?? ""), "latin1"), method);
  if (answer === undefined) throw new Error(`no answer to ${method} ${target}`);
  return answer;
}

function askSession(session: ClientHttp2Session, { method, target, fields, content }: Question): Promise<Reply> {
  return new Promise((resolve, reject) => {
    // The client takes several lines of few fields only; joined they mean the same (RFC 9110, section 5.2).
    const lines = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, [value].flat().join(", ")]));
    const stream = session.request({ ...lines, ":method": method, ":path": target });
    const chunks: Uint8Array[] = [];
    let reply: Pick<Reply, "status" | "fields"> | undefined;
    stream.on("response", (headers) => {
      const named = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
      reply = { status: headers[":status"]!, fields: new Map(named.map(([name, value]) => [name, String(value)])) };
    });
    stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    stream.on("end", () => reply && resolve({ ...reply, body: Buffer.concat(chunks) }));
    stream.on("error", reject);
    stream.on("close", () => reject(new Error(`no whole answer to ${method} ${target}`)));
    stream.end(content);
  });
}
