/**
 * An origin in a process of its own. Arguments: the protocol, and the port if it is not to be any. It prints its port, and for each
 * line that it reads what it has seen. It ends with its input.
 *
 * GET /bytes/N has N bytes, /hang has no answer, /stuck an answer without an end; POST is answered with the number of bytes that came.
 */
import { Buffer } from "node:buffer";
import { createInterface } from "node:readline";
import { Setting } from "./http2_frames.ts";
import { Origin, type Protocol } from "./origin.ts";
import { respond, type ServerRequest, whenWhole } from "./server_request.ts";

const piece = Buffer.alloc(1 << 20, "the mill race turns the wheel whatever the weather; ");
const counts = { requests: 0, received: 0, sent: 0 };

/** Sends `size` bytes, with at most a few chunks queued beyond the client's demand. */
function sendBytes(request: ServerRequest, size: number): void {
  if (size <= piece.length) return respond(request, 200, piece.subarray(0, size));
  request.head(200, { "content-length": String(size) });
  let left = size;
  const timer = setInterval(() => {
    if (request.isGone) return clearInterval(timer);
    while (left > 0 && request.backlog < 2 * piece.length) {
      const part = piece.subarray(0, Math.min(left, piece.length));
      left -= part.length;
      counts.sent += part.length;
      request.data(part);
    }
    if (left > 0) return;
    clearInterval(timer);
    request.end();
  }, 10);
}

const origin = new Origin(process.argv[2] as Protocol, {
  settings: { [Setting.maxConcurrentStreams]: 250 },
  onRequest: (request) => {
    counts.requests++;
    const { path, method } = request;
    if (path === "/hang") return;
    if (path === "/stuck") {
      request.head(200);
      return request.data(piece.subarray(0, 100));
    }
    if (path.startsWith("/bytes/")) return sendBytes(request, Number(path.slice(7)));
    if (method === "GET") return respond(request, 200, Buffer.from(path));
    whenWhole(request, () => {
      counts.received += request.received;
      respond(request, 200, Buffer.from(String(request.received)));
    });
  },
});
origin.keepsRequests = false;
origin.listener.port = Number(process.argv[3] ?? 0);
await origin.start();
console.log(origin.listener.port);
for await (const _ of createInterface({ input: process.stdin })) {
  const { streams, violations, listener } = origin;
  const sockets = listener.sockets.size;
  console.log(JSON.stringify({ ...counts, sockets, accepted: listener.accepted, streams, violations }));
}
process.exit();
