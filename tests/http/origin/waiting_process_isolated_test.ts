import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { within } from "../../support/waits.ts";
import { Child } from "../faults/child.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { Listener } from "../faults/listener.ts";
import type { ServerRequest } from "../faults/server_request.ts";

test("a process does not end while a call waits: for a connection, an interceptor, or an answer over any stream", async () => {
  const owner = {
    settings: {},
    violations: [],
    onRequest(request: ServerRequest): void {
      request.head(200);
      request.data(Buffer.from("some"));
    },
  };
  const h1 = await new Listener({}, (socket) => void new Http1Peer(socket, owner)).start();
  const h2 = await new Listener({}, (socket) => void new Http2Peer(socket, owner)).start();
  const child = new Child(new URL("waits_and_ends.ts", import.meta.url), [`${h1.origin}/`, `${h2.origin}/h2c`]);
  try {
    assert.equal(await within(child.line(), "the end of one call"), "QUEUE_TIMEOUT");
    assert.equal(await within(child.line(), "the end of the other"), "QUEUE_TIMEOUT");
    assert.equal(await within(child.line(), "the end of the intercepted one"), "TIMEOUT");
    assert.equal(await within(child.line(), "the end of those over streams"), "HEADERS_TIMEOUT fine");
    assert.equal(await within(child.ended, "the end of the process"), 0);
  } finally {
    child.kill();
    await Promise.all([h1.stop(), h2.stop()]);
  }
});
