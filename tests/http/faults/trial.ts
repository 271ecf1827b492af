import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  HttpClient,
  type HttpClientOptions,
  HttpError,
  type HttpErrorCode,
  type HttpRequestInit,
} from "../../../lib/http/mod.ts";

import { until, within } from "../../support/waits.ts";
import { certificates } from "../certificates.ts";
import { Origin, type OriginOptions, type Protocol } from "./origin.ts";
import { respond, type ServerRequest } from "./server_request.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

export interface Trial {
  readonly origin: Origin;
  readonly client: HttpClient;
  /** URL of a path at the origin. */
  url(path: string): string;
}

export interface TrialOptions extends OriginOptions {
  client?: HttpClientOptions;
}

/** Bodies of a few bytes up to 1 MiB are cut out of this. */
export const pattern: Buffer<ArrayBuffer> = Buffer.alloc(
  1 << 20,
  "the mill race turns the wheel whatever the weather; ",
);

/**
 * Runs a client against an origin, and checks that nothing is left: the client answers one more request, no request is
 * pending, close() ends all sockets, the client has kept to the standard, and no rejection was unhandled.
 */
export async function trial(
  protocol: Protocol,
  options: TrialOptions,
  act: (trial: Trial) => Promise<void>,
): Promise<void> {
  const origin = await new Origin(protocol, options).start();
  const client = newClient({ h2c: protocol === "h2c", ...options.client });
  try {
    await within(act({ origin, client, url: (path) => `${origin.url}${path}` }), "the trial");
    await within(answersAgain(client, origin), "one more request");
    await settled(client);
    await within(client.close(), "close()");
    await until(() => origin.listener.sockets.size === 0, "the end of all sockets");
    assert.deepEqual(origin.violations, []);
    assert.equal(client.stats().connections, 0);
  } finally {
    client.destroy();
    await origin.stop();
  }
  assert.deepEqual(unhandled, []);
}

/** Returns a client that trusts the certificates of tests. */
export function newClient(options: HttpClientOptions): HttpClient {
  return new HttpClient({ tls: { ca: certificates.ca }, ...options });
}

/** Waits until no request is pending. */
export async function settled(client: HttpClient): Promise<void> {
  const isIdle = (): boolean => {
    const { active, queued, connecting } = client.stats();
    return active === 0 && queued === 0 && connecting === 0;
  };
  await until(isIdle, `nothing under way (${JSON.stringify(client.stats())})`);
}

async function answersAgain(client: HttpClient, origin: Origin): Promise<void> {
  origin.onRequest = (request) => respond(request, 200, Buffer.from("well again"));
  const response = await client.fetch(`${origin.url}/after`);
  assert.equal(await response.text(), "well again");
}

/** Which code a promise fails with; fails if it does not fail, or with something else than an HttpError. */
export async function failureOf(promise: Promise<unknown>): Promise<HttpErrorCode> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof HttpError, `not an HttpError: ${(error as Error)?.stack ?? String(error)}`);
    assert.ok(error.cause instanceof Error, `${error.code} has no cause`);
    return error.code;
  }
  throw new assert.AssertionError({ message: "it did not fail" });
}

/** Returns the code that a request and the reading of its response end with; `ok` if they do not fail. */
export async function outcomeOf(response: Promise<Response>): Promise<HttpErrorCode | "ok"> {
  try {
    await (await response).arrayBuffer();
    return "ok";
  } catch (error) {
    assert.ok(error instanceof HttpError, `not an HttpError: ${(error as Error)?.stack ?? String(error)}`);
    return error.code;
  }
}

/** Returns the count of each outcome. */
export function tally<T extends string>(outcomes: readonly T[]): Partial<Record<T, number>> {
  const counts: Partial<Record<T, number>> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** Starts `count` requests, of which the index is in the path. */
export function burst(
  trial: Trial,
  count: number,
  init: (index: number) => HttpRequestInit = () => ({}),
): Promise<Response>[] {
  return Array.from({ length: count }, (_, index) => trial.client.fetch(trial.url(`/${index}`), init(index)));
}

/** Answers with the request's path. */
export function echoPath(request: ServerRequest): void {
  respond(request, 200, Buffer.from(request.path));
}

/** Checks that each response of a {@link burst} is the one to its own request. */
export async function checkEchoes(responses: readonly Promise<Response>[]): Promise<void> {
  const texts = await Promise.all(responses.map(async (response) => (await response).text()));
  assert.deepEqual(texts, responses.map((_, index) => `/${index}`));
}
