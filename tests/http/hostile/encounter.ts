import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import { HttpClient, type HttpClientOptions, HttpError, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { until, within } from "../../support/waits.ts";
import { type Asked, HostileServer } from "./hostile_server.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

export const NOTHING: Uint8Array = new Uint8Array(0);
export const OK: string[] = [":status", "200"];

/** Returns the bytes of an attack, as the response to a request. */
export type Attack = (asked: Asked) => Uint8Array[];

/** Returns the code that the request, or the reading of its response, fails with. */
export async function failureOf(response: Promise<Response>): Promise<string> {
  try {
    const body = await (await response).text();
    return `no failure, but ${JSON.stringify(body)}`;
  } catch (error) {
    assert.ok(error instanceof HttpError, `not an HttpError: ${(error as Error)?.stack}`);
    assert.ok(error.cause instanceof Error, "no cause");
    return error.code;
  }
}

/** Runs a client against a hostile server; in the end the client must be well, and close. */
export async function encounter(
  options: HttpClientOptions,
  act: (server: HostileServer, client: HttpClient) => Promise<void>,
): Promise<void> {
  const server = await HostileServer.start();
  const client = new HttpClient({ h2c: true, connections: 1, retries: 0, ...options });
  try {
    await within(act(server, client), "the encounter");
    const response = await within(client.fetch(`${server.url}/fine`), "a request afterwards");
    assert.equal(await response.text(), "hello /fine");
    const { active, queued } = client.stats();
    assert.deepEqual({ active, queued }, { active: 0, queued: 0 });
    await within(client.close(), "close()");
  } finally {
    client.destroy();
    await server.stop();
  }
  assert.deepEqual(unhandled, []);
}

/** Attacks one request while another one is pending. */
export async function attackOne(
  attack: Attack,
  init: HttpRequestInit,
  judge: (code: string, other: Promise<Response>, server: HostileServer, asked: Asked) => Promise<void>,
): Promise<void> {
  await encounter({}, async (server, client) => {
    let attacked: Asked | undefined;
    const waiting: Asked[] = [];
    server.onRequest = (asked) => {
      if (asked.path === "/other") waiting.push(asked);
      else attacked = asked;
    };
    // The first request makes the connection, and brings the server's SETTINGS to the client.
    assert.equal(await (await client.fetch(`${server.url}/fine/first`)).text(), "hello /fine/first");
    const other = client.fetch(`${server.url}/other`);
    other.catch(() => {});
    const response = client.fetch(`${server.url}/attack`, init);
    response.catch(() => {});
    await until(() => attacked !== undefined && waiting.length === 1, "the requests");
    attacked!.connection.send(...attack(attacked!));
    const code = await failureOf(response);
    waiting.forEach(({ connection, stream }) => connection.answer(stream, "unharmed"));
    await judge(code, other, server, attacked!);
  });
}

/** Returns `part` repeated `count` times. */
export function times(count: number, part: Uint8Array): Uint8Array[] {
  return [Buffer.concat(Array<Uint8Array>(count).fill(part))];
}
