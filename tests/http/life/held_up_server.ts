/**
 * A thread with a server of each protocol. Once `count` requests of a round are there, it does nothing until the program is held up:
 * then it answers them, and counts what the system has taken. Of /half the head and a part of the body come at once.
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { Listener } from "../faults/listener.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";

/** Rounds whose requests are there, rounds in which the program is held up, and answers that the system has. */
const { shared, count } = workerData as { shared: Int32Array; count: number };
let waiting: ServerRequest[] = [];

function answerAll(): void {
  Atomics.wait(shared, 1, Atomics.add(shared, 0, 1));
  const due = waiting;
  waiting = [];
  for (const request of due) {
    if (request.path === "/half") {
      request.data(Buffer.from("some"));
      request.end();
    } else {
      respond(request, 200, Buffer.from("somesome"));
    }
    request.socket.write("", () => {
      Atomics.add(shared, 2, 1);
      Atomics.notify(shared, 2);
    });
  }
}

const owner = {
  settings: {},
  violations: [],
  onRequest(request: ServerRequest): void {
    if (request.path === "/fine") return respond(request, 200, Buffer.from("fine"));
    if (request.path === "/half") {
      request.head(200, { "content-length": "8" });
      request.data(Buffer.from("some"));
    }
    waiting.push(request);
    if (waiting.length === count) request.socket.write("", () => setTimeout(answerAll));
  },
};
const h1 = await new Listener({}, (socket: Socket) => void new Http1Peer(socket, owner)).start();
const h2 = await new Listener({}, (socket: Socket) => void new Http2Peer(socket, owner)).start();
parentPort!.postMessage([h1.origin, h2.origin]);
