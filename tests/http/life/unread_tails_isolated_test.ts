import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { pause, until, within } from "../../support/waits.ts";
import { Child } from "../faults/child.ts";
import { FrameType, numberFrame, Setting } from "../faults/http2_frames.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { Listener } from "../faults/listener.ts";
import type { ServerRequest } from "../faults/server_request.ts";

const SIZE = 400_000;

test("a process that ends by itself after early 2xx has its servers read all of the bodies, however late they do", async () => {
  const requests: ServerRequest[] = [];
  const owner = {
    settings: { [Setting.initialWindowSize]: 2 * SIZE },
    violations: [],
    onRequest(request: ServerRequest): void {
      requests.push(request);
      request.head(200);
      request.data(Buffer.from("early"));
      if (request.path.includes("whole")) request.end();
      else request.onWhole = () => request.end();
      request.socket.pause();
    },
  };
  const h2 = await new Listener({}, (socket) => {
    new Http2Peer(socket, owner).send(numberFrame(FrameType.windowUpdate, 0, 2 * SIZE));
  }).start();
  const h1 = await new Listener({}, (socket) => void new Http1Peer(socket, owner)).start();
  const urls = ["whole/bytes", "whole/stream", "open/bytes", "open/stream"].map((path) => `${h2.origin}/h2c/${path}`);
  const child = new Child(new URL("uploads_and_ends.ts", import.meta.url), [...urls, `${h1.origin}/whole/bytes`]);
  try {
    assert.equal(await within(child.line(), "the responses"), "done");
    await Promise.race([child.ended, pause(400)]); // one that does not wait has ended
    for (const { socket } of requests) socket.resume();
    assert.equal(await within(child.ended, "the end of the process"), 0);
    await until(() => requests.every(({ isWhole, isGone }) => isWhole || isGone), "the ends of the bodies");
    assert.equal(requests.length, 5);
    assert.deepEqual(requests.map(({ received, isWhole }) => [received, isWhole]), requests.map(() => [SIZE, true]));
  } finally {
    child.kill();
    await Promise.all([h1.stop(), h2.stop()]);
  }
});
