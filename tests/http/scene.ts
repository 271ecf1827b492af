import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { HttpClientOptions } from "../../lib/http/mod.ts";
import { Http1Peer } from "./faults/http1_peer.ts";
import { Http2Peer } from "./faults/http2_peer.ts";
import { respond, type ServerRequest } from "./faults/server_request.ts";
import { leavesNothing, type Scene } from "./leaves_nothing.ts";

export const PROTOCOLS = ["http/1.1", "h2c"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** A client with one connection to a server whose answers the test sets; `/fine` is always answered. */
export function scene(
  protocol: Protocol,
  client: HttpClientOptions,
  onRequest: (request: ServerRequest) => void,
  act: (scene: Scene & { requests: ServerRequest[] }) => Promise<void>,
): Promise<void> {
  const requests: ServerRequest[] = [];
  const owner = {
    settings: {},
    violations: [],
    onRequest: (request: ServerRequest): void => {
      requests.push(request);
      if (request.path.startsWith("/fine")) respond(request, 200, Buffer.from("fine"));
      else onRequest(request);
    },
  };
  const onSocket = (socket: Socket): void =>
    void (protocol === "h2c" ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner));
  const options = { h2c: protocol === "h2c", connections: 1, maxConcurrentStreams: 1, ...client };
  return leavesNothing({ client: options, onSocket }, async (made) => {
    await act({ ...made, requests });
    assert.equal(await (await made.client.fetch(`${made.url}/fine/after`)).text(), "fine");
  });
}
