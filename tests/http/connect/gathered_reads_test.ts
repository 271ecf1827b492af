import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import test from "node:test";
import { ReadCoalescer, SocketTransport } from "../../../lib/http/connect/socket_transport.ts";
import { turn } from "../../support/waits.ts";

const KIB = 1024;
/** The start and length of a view. */
type Place = readonly [start: number, length: number];

/** Adds views of one memory, and returns the chunks passed on, with their memory. */
async function gathered(places: readonly Place[], end?: "flush" | "drop"): Promise<Place[]> {
  const memory = new ArrayBuffer(64 * KIB);
  const given: Place[] = [];
  const reads = new ReadCoalescer((chunk) => {
    assert.equal(chunk.buffer, memory);
    given.push([chunk.byteOffset, chunk.length]);
  });
  for (const [start, length] of places) reads.take(new Uint8Array(memory, start, length));
  if (end !== undefined) reads[end]();
  const early = given.length;
  await turn();
  await turn();
  if (end !== undefined) assert.equal(given.length, early);
  return given;
}

const QUARTERS: Place[] = [0, 1, 2, 3].map((index) => [index * 16 * KIB, 16 * KIB]);

test("chunks that fill their memory are given on as one", async () => {
  assert.deepEqual(await gathered(QUARTERS), [[0, 64 * KIB]]);
  assert.deepEqual(await gathered([...QUARTERS, ...QUARTERS]), [[0, 64 * KIB], [0, 64 * KIB]]);
});

test("chunks that do not fill it are given on at the end of the turn, or with the last small one", async () => {
  assert.deepEqual(await gathered(QUARTERS.slice(0, 3)), [[0, 48 * KIB]]);
  assert.deepEqual(await gathered([QUARTERS[0], [16 * KIB, 5]]), [[0, 16 * KIB + 5]]);
  assert.deepEqual(await gathered([[0, 5], [5, 7]]), [[0, 5], [5, 7]]);
});

test("chunks that do not follow each other stay apart, in order", async () => {
  assert.deepEqual(await gathered([QUARTERS[0], QUARTERS[2]]), [QUARTERS[0], QUARTERS[2]]);
  assert.deepEqual(await gathered([QUARTERS[1], QUARTERS[0], QUARTERS[1]]), [QUARTERS[1], [0, 32 * KIB]]);
});

test("what was kept can be given on at once, or dropped", async () => {
  assert.deepEqual(await gathered(QUARTERS.slice(1, 3), "flush"), [[16 * KIB, 32 * KIB]]);
  assert.deepEqual(await gathered(QUARTERS.slice(1, 3), "drop"), []);
});

/** Returns a gathering transport and its events; `onFirst` is called at its first chunk. */
function gathering(onFirst: (transport: SocketTransport) => void): { socket: Duplex; told: string[] } {
  const socket = new Duplex({ read() {}, write: (_, __, done) => done() });
  const transport = new SocketTransport(socket, { bottom: socket });
  transport.keepProcess(false); // nothing closes it
  const told: string[] = [];
  transport.attach({
    onData: (chunk, isOwn) => {
      if (told.push(`${chunk[0]} ${chunk.length} ${isOwn}`) === 1) onFirst(transport);
    },
    onDrain: () => {},
    onEnd: () => void told.push("end"),
    onClose: () => {},
  });
  transport.gather(true);
  return { socket, told };
}

/** The first quarter of memory that is larger. */
const quarter = (value: number): Uint8Array => new Uint8Array(64 * KIB).fill(value).subarray(0, 16 * KIB);

test("what comes behind the end of a response is known at once, though it would have been gathered", () => {
  const { socket, told } = gathering((transport) => transport.gather(false));
  socket.emit("data", quarter(1));
  assert.deepEqual(told, []);
  socket.emit("data", quarter(2));
  assert.deepEqual(told, ["1 16384 false", "2 16384 false"]);
  socket.destroy();
});

test("what was gathered comes before the end of the connection, and not after destroy()", async () => {
  const ended = gathering(() => {});
  ended.socket.emit("data", quarter(1));
  ended.socket.emit("end");
  assert.deepEqual(ended.told, ["1 16384 false", "end"]);
  ended.socket.destroy();

  const destroyed = gathering((transport) => transport.destroy());
  for (const value of [1, 2, 3]) destroyed.socket.emit("data", quarter(value));
  await turn();
  await turn();
  assert.deepEqual(destroyed.told, ["1 16384 false"]);
});

test("a transport whose socket is gone never has sent what is written then", () => {
  const socket = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done(), destroy() {} });
  const transport = new SocketTransport(socket, { bottom: socket });
  transport.keepProcess(false); // nothing closes it
  transport.write(new Uint8Array(1));
  assert.equal(transport.waiting, 0);
  socket.destroy();
  transport.write(new Uint8Array(1));
  assert.equal(transport.waiting, Infinity);
  assert.equal(transport.empty, false);
});
