import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { HttpClient } from "../../../lib/http/mod.ts";
import { until } from "../../support/waits.ts";
import { certificates } from "../certificates.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Listener } from "../faults/listener.ts";
import type { ServerRequest } from "../faults/server_request.ts";

const SIZE = 400_000;
/** The number of bytes a throttle forwards at a time. */
const STEP = 20_000;

/** A connection that forwards its input slowly, in small steps. */
class Throttle extends Duplex {
  readonly #socket: Socket;
  readonly #kept: Buffer[] = [];
  readonly #steps = setInterval(() => this.#step(), 1);
  readonly #isEager: boolean;
  #done: (() => void) | undefined = undefined;

  /** @param isEager Whether all input is accepted at once, without waiting for the previous write. */
  constructor(port: number, isEager: boolean) {
    super();
    this.#isEager = isEager;
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.on("data", (bytes) => this.push(bytes)).on("end", () => this.push(null));
    this.#socket.on("error", () => {}).on("close", () => this.destroy());
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: string, done: () => void): void {
    for (let at = 0; at < chunk.length; at += STEP) this.#kept.push(Buffer.from(chunk.subarray(at, at + STEP)));
    if (this.#isEager) done();
    else this.#done = done;
  }

  override _final(done: () => void): void {
    this.#done = () => this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#steps);
    this.#socket.destroy();
    done(error);
  }

  #step(): void {
    const piece = this.#kept.shift();
    if (piece !== undefined) this.#socket.write(piece);
    if (this.#kept.length > 0) return;
    const done = this.#done;
    this.#done = undefined;
    done?.();
  }
}

for (const way of ["close()", "connection: close", "the idle timeout"]) {
  for (const scheme of ["http", "https"]) {
    test(`${scheme}: a user's stream forwards the tail of a body after an early 2xx before it ends by ${way}`, async () => {
      const requests: ServerRequest[] = [];
      const owner = {
        violations: [],
        onRequest(request: ServerRequest): void {
          requests.push(request);
          request.head(200, { "content-length": "5" });
          request.data(Buffer.from("early"));
          request.end();
        },
      };
      const certificate = scheme === "https" ? certificates : undefined;
      const server = await new Listener({ certificate }, (socket) => void new Http1Peer(socket, owner)).start();
      try {
        for (const isEager of [true, false]) {
          const client = new HttpClient({
            connect: ({ port }) => new Throttle(port, isEager),
            tls: { ca: certificates.ca },
            idleTimeout: way === "the idle timeout" ? 1 : 60_000,
          });
          const response = await client.fetch(`${scheme}://localhost:${server.port}/`, {
            method: "PUT",
            body: new Blob([new Uint8Array(SIZE)]).stream(),
            headers: way === "connection: close" ? { connection: "close" } : {},
          });
          assert.equal(await response.text(), "early");
          if (way === "close()") await client.close();
          const request = requests.at(-1)!;
          await until(() => request.isWhole || request.isGone, "the end of the body");
          assert.equal(
            request.received,
            SIZE,
            isEager ? "a stream that takes all at once" : "a stream that holds back",
          );
          assert.ok(request.isWhole);
          client.destroy();
        }
      } finally {
        await server.stop();
      }
    });
  }
}
