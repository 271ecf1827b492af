import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { HttpClient } from "../../../lib/http/mod.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { until } from "../../support/waits.ts";
import { chosenSeed, SeededRandom } from "../faults/seeded_random.ts";

/** A connection to a server that answers the first bytes, and takes them only when it is released. */
class HeldConnection extends Duplex {
  /** The bytes of bodies that the server has taken; each is a 1. */
  received = 0;
  /** Whether the client has ended its side, and not only destroyed it. */
  hasEnded = false;
  readonly #fields: string;
  #isAnswered = false;
  #isReleased = false;
  #take: (() => void) | undefined = undefined;

  constructor(fields: string) {
    super();
    this.#fields = fields;
  }

  /** Whether some of the body waits for it. */
  get isOffered(): boolean {
    return this.#take !== undefined;
  }

  /** Takes what waits for it. */
  takeSome(): void {
    this.#take?.();
  }

  release(): void {
    this.#isReleased = true;
    this.#take?.();
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (!this.#isAnswered) this.push(Buffer.from(`HTTP/1.1 200 OK\r\n${this.#fields}content-length: 2\r\n\r\nok`));
    this.#isAnswered = true;
    this.#take = () => {
      this.#take = undefined;
      for (const byte of chunk) if (byte === 1) this.received++;
      done();
    };
    if (this.#isReleased) this.#take();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.hasEnded = true;
    done();
  }
}

function streamOf(pieces: readonly Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

const ways = ["connection: close", "close()", "no time to idle", "the next request"] as const;

test("http/1.1: after an early 2xx a connection has sent all of the body before it is left or carries more", async () => {
  const seed = chosenSeed();
  const random = new SeededRandom(seed);
  for (let run = 0; run < 80; run++) {
    const way = ways[run % ways.length];
    const connections: HeldConnection[] = [];
    const connect = (): Duplex => {
      const connection = new HeldConnection(way === "connection: close" ? "connection: close\r\n" : "");
      connections.push(connection);
      return connection;
    };
    const client = new HttpClient({ connect, idleTimeout: way === "no time to idle" ? 1 : 60_000 });
    const pieces = Array.from({ length: 1 + random.below(4) }, () => {
      return new Uint8Array(1 + random.below(random.pick([10, 8000, 40_000]))).fill(1);
    });
    const all = Buffer.concat(pieces);
    const body = random.pick([() => all, () => new Blob([all]), () => streamOf(pieces)])();
    const what = `seed ${seed}, run ${run}: ${all.length} bytes of ${body.constructor.name}, ${way}`;
    const answer = await client.fetch("http://test/", { method: "POST", body });
    assert.equal(await answer.text(), "ok", what);
    const [connection] = connections;
    assert.equal(client.stats().active, 1, what);
    const closed = way === "close()" ? client.close() : undefined;
    if (way === "the next request") {
      assert.equal(await (await client.fetch("http://test/next")).text(), "ok", what);
      assert.equal(connections.length, 2, what);
    }
    assert.equal(connection.destroyed, false, what);
    connection.release();
    await until(() => connection.received === all.length || connection.destroyed, what);
    assert.equal(connection.received, all.length, what);
    if (way !== "the next request") {
      await until(() => connection.destroyed, what);
      assert.equal(connection.hasEnded, true, what);
    }
    await closed;
    client.destroy();
  }
});

test("http/1.1: a server that goes on taking a body after an early 2xx gets all of it, however long that takes", async () => {
  const ones = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length).fill(1);
  // Each is taken in 11 steps or more: bytes are written in pieces of 256 KiB, others of 64.
  for (
    const [body, length] of [
      [ones(3_000_000), 3_000_000],
      [new Blob([ones(700_000)]), 700_000],
      [streamOf([ones(700_000)]), 700_000],
    ] as const
  ) {
    using clock = new FakeClock();
    const connection = new HeldConnection("");
    const client = new HttpClient({ connect: () => connection, bodyTimeout: 500 });
    const response = await client.fetch("http://test/", { method: "POST", body });
    assert.equal(await response.text(), "ok");
    const steps = setInterval(() => {
      if (!connection.isOffered) return;
      clock.turn(450);
      connection.takeSome();
    }, 5);
    await until(() => connection.received === length || connection.destroyed, "the end of the body");
    clearInterval(steps);
    assert.equal(connection.received, length, body.constructor.name);
    client.destroy();
  }
});
