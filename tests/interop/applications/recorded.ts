import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { within } from "../../support/waits.ts";

/** A module that drives an application: its scenarios by name, each of which resolves with what JSON can hold. */
export interface Application {
  readonly scenarios: Readonly<Record<string, () => Promise<unknown>>>;
}

/** A stream's chunks in order, with bytes as text, and the error that ended it. */
export interface Read {
  readonly chunks: readonly unknown[];
  readonly error?: string;
}

/** Reads a stream, or an iterable, to its end. */
export async function read(stream: AsyncIterable<unknown> | null): Promise<Read> {
  const chunks: unknown[] = [];
  const decoder = new TextDecoder();
  const iterator = stream?.[Symbol.asyncIterator]();
  try {
    while (iterator) {
      const { done, value } = await within(iterator.next(), "a chunk");
      if (done) break;
      chunks.push(value instanceof Uint8Array ? decoder.decode(value) : value);
    }
  } catch (error) {
    return { chunks, error: toText(error) };
  }
  return { chunks };
}

/** Reads a stream whose chunks are as the network cuts them. */
export async function readWhole(stream: AsyncIterable<unknown> | null): Promise<{ text: string; error?: string }> {
  const { chunks, ...rest } = await read(stream);
  return { text: chunks.join(""), ...rest };
}

/** Returns an error as text, with its code. */
export function toText(error: unknown): string {
  const { name, message, code } = Object(error) as { name?: string; message?: string; code?: unknown };
  if (name === undefined) return `no error: ${String(error)}`;
  return `${name}${code === undefined ? "" : ` (${String(code)})`}: ${message}`;
}

/** Returns a response: its status, its fields and its body. */
export async function answerOf(response: Response): Promise<unknown> {
  const { status } = response;
  return { status, fields: fieldsOf(response.headers), body: await read(response.body) };
}

/** Returns what {@linkcode answerOf} does, for a response that came over the network. */
export async function received(response: Response): Promise<unknown> {
  const { status } = response;
  return { status, fields: fieldsOf(response.headers), body: await readWhole(response.body) };
}

/** Fields without those that change from one time to the next. */
export function fieldsOf(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !["date", "keep-alive", "connection"].includes(name)).sort();
}

/** Returns the outcome of a promise: its value or its error. */
export async function settled(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    return { value: await within(Promise.resolve(promise), "the end") };
  } catch (error) {
    return { error: toText(error) };
  }
}

/** Serves by `node:http` on a free port until `use` is done. */
export async function withServer<T>(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Waits for some turns of the event loop, in which work that has begun goes on. */
export function turns(count = 5): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): void => void (left === 0 ? resolve() : setTimeout(turn, 1, left - 1));
    turn(count);
  });
}
