import { Buffer } from "node:buffer";
import { Agent as HttpAgent, type IncomingMessage, request } from "node:http";
import process from "node:process";
import { Agent, fetch as undiciFetch } from "undici/index.js"; // by its file: Bun has its own `undici`
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";

/** A client's result for a response. */
export interface Answer {
  /** undefined for a request that failed before its response's head or in its body, which users of `text()` cannot tell apart. */
  readonly status?: number;
  /** Names in lower case; values of one name together, in their order. */
  readonly fields?: ReadonlyMap<string, string>;
  readonly body?: Buffer;
  readonly error?: string;
  /** Whether the error is an {@link HttpError}, as all errors of this package are. */
  readonly isTyped?: boolean;
}

/** A client with its own connections. */
export interface Client {
  ask(url: string, method: string): Promise<Answer>;
  close(): void;
}

/** A client's name, and how one is made. */
export interface Contestant {
  readonly name: string;
  /** Whether the client returns bodies in the content coding in which they arrived. */
  readonly isRaw: boolean;
  readonly open: () => Client;
}

/** A client that says nothing for so long, in ms, hangs. */
const LIMIT = 5000;

/** The error of a client that said nothing for so long. */
export const HANGS = "hangs";

/** Returns an answer, or an error after a while: not every client ends when it is closed. */
async function inTime(answer: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Answer>((resolve) => timer = setTimeout(() => resolve({ error: HANGS }), LIMIT));
  const result = await Promise.race([answer, late]);
  clearTimeout(timer);
  return result;
}

function failed(error: unknown): Answer {
  const { message, cause } = error as Error;
  return {
    error: `${message}${cause instanceof Error ? ` (${cause.message})` : ""}`,
    isTyped: error instanceof HttpError,
  };
}

async function answerOf(response: Response): Promise<Answer> {
  const fields = new Map<string, string>();
  response.headers.forEach((value, name) =>
    fields.set(name, name === "set-cookie" && fields.has(name) ? `${fields.get(name)}, ${value}` : value)
  );
  return { status: response.status, fields, body: Buffer.from(await response.arrayBuffer()) };
}

function byFetch(fetch: (url: string, init: RequestInit) => Promise<Response>, close: () => void): Client {
  const ask = async (url: string, method: string): Promise<Answer> => {
    const body = method === "POST" ? "hello" : undefined;
    return await answerOf(await fetch(url, { method, body, redirect: "manual" }));
  };
  return { ask: (url, method) => inTime(ask(url, method).catch(failed)), close };
}

function ours(decompress: boolean): Client {
  const client = new HttpClient({ retries: 0, connections: 1, decompress });
  return byFetch((url, init) => client.fetch(url, init) as unknown as Promise<Response>, () => client.destroy());
}

function undici(): Client {
  const dispatcher = new Agent({ connections: 1 });
  const fetch = (url: string, init: RequestInit): Promise<Response> =>
    undiciFetch(url, { ...init, dispatcher } as never) as unknown as Promise<Response>;
  return byFetch(fetch, () => void dispatcher.destroy());
}

function nodeHttp(): Client {
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
  const ask = (url: string, method: string): Promise<Answer> =>
    new Promise((resolve) => {
      const fail = (error: unknown): void => resolve(failed(error));
      const sent = request(url, { agent, method }, (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", fail);
        response.on("aborted", () => fail(new Error("aborted")));
        response.on("end", () => {
          if (!response.complete) return fail(new Error("not complete"));
          const headers = new Map<string, string>();
          for (let i = 0; i < response.rawHeaders.length; i += 2) {
            const name = response.rawHeaders[i].toLowerCase();
            const value = response.rawHeaders[i + 1];
            headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
          }
          resolve({ status: response.statusCode!, fields: headers, body: Buffer.concat(chunks) });
        });
      });
      sent.on("error", fail);
      sent.on("upgrade", (_, socket) => {
        socket.destroy();
        fail(new Error("upgrade"));
      });
      sent.end(method === "POST" ? "hello" : undefined);
    });
  return { ask: (url, method) => inTime(ask(url, method)), close: () => agent.destroy() };
}

export const oursDecoding: Contestant = { name: "ours", isRaw: false, open: () => ours(true) };
export const oursRaw: Contestant = { name: "ours, raw", isRaw: true, open: () => ours(false) };

const native: Contestant = {
  name: process.versions.bun ? "Bun's fetch" : "Deno's fetch",
  isRaw: false,
  open: () => byFetch(globalThis.fetch, () => {}),
};

/** The peers compared with. Node's own fetch is undici's; on Deno a body that undici fails to read hangs. */
export const peers: readonly Contestant[] = [
  ...process.versions.deno ? [] : [{ name: "undici", isRaw: false, open: undici }],
  { name: "node:http", isRaw: true, open: nodeHttp },
  ...process.versions.bun || process.versions.deno ? [native] : [],
];
