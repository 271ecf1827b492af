import assert from "node:assert/strict";
import { HttpClient, type HttpClientEvent, type HttpClientOptions } from "../../../lib/http/mod.ts";
import { certificates } from "../../http/certificates.ts";
import { within } from "../../support/waits.ts";
import type { Origins } from "./application.ts";

/** The features of servers that the tests use; not every server has all. */
export type Feature =
  | "lengths"
  | "duplex"
  | "large duplex"
  | "trailers"
  | "hints"
  | "brotli and zstd";

/** A protocol of one server. */
export interface Endpoint {
  /** The name that tests use: `nginx, h2`. */
  readonly name: string;
  readonly kind: Exclude<keyof Origins, "verified">;
  /** The reason to skip it; false if it is installed. */
  readonly skip: string | false;
  /** The features that the server lacks. */
  readonly lacks: ReadonlySet<Feature>;
  /** Returns the origin; callable once the server runs. */
  readonly origin: () => string;
}

/** Returns the protocol of an endpoint. */
export function protocolOf({ kind }: Endpoint): "h2" | "http/1.1" {
  return kind === "h2" || kind === "h2c" ? "h2" : "http/1.1";
}

/** A separate client, the server's origin, and the client's events. */
export interface Visit {
  readonly client: HttpClient;
  readonly origin: string;
  readonly events: readonly HttpClientEvent[];
}

/** Options for a client of servers of a kind. */
export function optionsFor(kind: keyof Origins): HttpClientOptions {
  return { tls: { ca: certificates.ca }, h2c: kind === "h2c" };
}

/** Runs `visit` with a client that is closed afterwards; closing must end, too. */
export async function visiting(
  options: HttpClientOptions,
  origin: string,
  visit: (visit: Visit) => Promise<void>,
): Promise<void> {
  const events: HttpClientEvent[] = [];
  const client = new HttpClient({ ...options, onEvent: (event) => void events.push(event) });
  try {
    await within(visit({ client, origin, events }), "the visit");
    await within(client.close(), `close() with ${JSON.stringify(client.stats())}`);
  } finally {
    client.destroy();
  }
}

/** Runs `visit` with a client of an endpoint. */
export function visitingEndpoint(endpoint: Endpoint, visit: (visit: Visit) => Promise<void>): Promise<void> {
  return visiting(optionsFor(endpoint.kind), endpoint.origin(), visit);
}

/** Returns the highest number of connections that a client has had at a time. */
export function mostConnections({ events }: Visit): number {
  let open = 0;
  let most = 0;
  for (const { type } of events) {
    if (type === "connect") most = Math.max(most, ++open);
    if (type === "disconnect") open--;
  }
  return most;
}

/**
 * Checks that requests one after the other took one connection; over HTTP/1.1, where one rests for a moment after each
 * response, a few that take turns.
 */
export function assertFewConnections(visit: Visit): void {
  const [connected] = visit.events;
  const most = connected.type === "connect" && connected.protocol === "h2" ? 1 : 9;
  const made = connectionsMade(visit);
  assert.ok(made >= 1 && made <= most, `${made} connections`);
}

/** Returns the number of connections that a client has made. */
export function connectionsMade({ events }: Visit): number {
  return events.filter(({ type }) => type === "connect").length;
}
