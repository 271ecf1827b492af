import assert from "node:assert/strict";
import type { ClientHttp2Session } from "node:http2";
import type { Writable } from "node:stream";
import { it } from "node:test";
import { fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { pause, until } from "../support/waits.ts";
import { visitor, withHttp2Server, withHttpServer } from "./loopback.ts";

const VISITS = 100;

/** Returns a number below `limit`, the same in every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * limit);
  };
}

/** A server that responds to each request with another kind of pipe, and counts the outcomes of pipes and sources. */
class Pages {
  begun = 0;
  settled = 0;
  /** Sources that have closed or were cancelled. */
  ended = 0;
  readonly #pick: (limit: number) => number = numbers(1);

  send(writable: Writable): void {
    this.begun++;
    const pick = this.#pick;
    const abort = new AbortController();
    if (pick(10) === 0) setTimeout(() => abort.abort(new Error("closing time")), pick(20));
    const settle = (): void => void this.settled++;
    this.#source().pipeTo(fromNodeWritable(writable), { signal: abort.signal }).then(settle, settle);
  }

  #source(): ReadableStream<string | Uint8Array> {
    const pick = this.#pick;
    const isLarge = pick(3) === 0;
    let left = pick(60);
    return new ReadableStream({
      pull: async (controller) => {
        if (pick(5) === 0) await pause(pick(3));
        if (left-- > 0) return controller.enqueue(isLarge ? new Uint8Array(pick(60_000)) : "x".repeat(pick(300)));
        controller.close();
        this.ended++;
      },
      cancel: () => void this.ended++,
    });
  }

  async allEnd(): Promise<void> {
    assert.equal(this.begun, VISITS);
    await until(() => this.settled === VISITS && this.ended === VISITS, "the end of every pipe and source");
  }
}

it("every pipe into a response of node:http settles and its source ends, whenever visitors leave", async () => {
  const pages = new Pages();
  const pick = numbers(2);
  let expected = 0;
  const visit = async (port: number): Promise<void> => {
    const socket = await visitor(port);
    if (pick(3) > 0) socket.resume();
    await until(() => pages.begun === expected, "the requests");
    await pause(pick(30));
    socket.destroy();
  };
  await withHttpServer((response) => pages.send(response), async (port) => {
    while (expected < VISITS) {
      expected += 10;
      await Promise.all(Array.from({ length: 10 }, () => visit(port)));
    }
    await pages.allEnd();
  });
});

it("every pipe into a response of node:http2 settles and its source ends, whenever visitors leave", async () => {
  const pages = new Pages();
  const pick = numbers(3);
  const visit = async (session: ClientHttp2Session): Promise<void> => {
    const request = session.request({ ":path": "/" });
    request.on("error", () => {});
    if (pick(3) > 0) request.resume();
    await new Promise((resolve) => request.on("response", resolve).on("close", resolve));
    await pause(pick(30));
    request.close(8); // CANCEL
  };
  await withHttp2Server((server) => {
    server.on("request", (_request, response) => pages.send(response as unknown as Writable));
  }, async (session) => {
    for (let i = 0; i < VISITS; i += 10) await Promise.all(Array.from({ length: 10 }, () => visit(session)));
    await pages.allEnd();
  });
});
