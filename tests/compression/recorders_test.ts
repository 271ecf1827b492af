import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Recorders } from "../../lib/compression/dictionaries/recorders.ts";

const KIB = 1024;

/** Recorders with a stopped clock, and their records. */
class Recording {
  time = 0;
  readonly bodies: string[] = [];
  readonly recorders = new Recorders(() => this.time);

  of(name: string): ReturnType<Recorders["recorder"]> {
    return this.recorders.recorder(name, (body) => this.bodies.push(`${name} ${body.length}`));
  }
}

test("a body is recorded, whatever becomes of its chunks, and no longer held once it has ended", async () => {
  const chunks = [Uint8Array.of(1, 2), Buffer.from([1, 2]), Buffer.from([0, 1, 2]).subarray(1)];
  for (const chunk of chunks) {
    const recorders = new Recorders();
    const bodies: Uint8Array[] = [];
    const recorder = recorders.recorder("/", (body) => bodies.push(body));
    recorder.write(chunk);
    chunk.fill(0);
    recorder.write(Uint8Array.of(3));
    assert.equal(recorders.held, 3);
    recorder.end();
    assert.equal(recorders.held, 0);
    recorder.close();
    await nextTurn();
    assert.deepEqual(bodies, [Uint8Array.of(1, 2, 3)]);
  }
});

test("of the bodies of one name one is recorded at a time", async () => {
  const recording = new Recording();
  const [first, second, other] = [recording.of("/a"), recording.of("/a"), recording.of("/b")];
  for (const recorder of [first, second, other]) recorder.write(new Uint8Array(10));
  assert.equal(recording.recorders.held, 20);
  for (const recorder of [second, other, first]) recorder.end();
  const third = recording.of("/a");
  third.write(new Uint8Array(7));
  third.end();
  await nextTurn();
  assert.deepEqual(recording.bodies, ["/b 10", "/a 10", "/a 7"]);
});

test("a body that is given up makes room for the next, at once, and one that takes long after a while", async () => {
  const recording = new Recording();
  const first = recording.of("/a");
  first.write(new Uint8Array(1));
  first.close();
  first.write(new Uint8Array(1));
  assert.equal(recording.recorders.held, 0);
  const slow = recording.of("/a");
  slow.write(new Uint8Array(2));
  recording.time = 10_000;
  const third = recording.of("/a");
  third.write(new Uint8Array(3));
  slow.write(new Uint8Array(2));
  slow.end();
  third.end();
  await nextTurn();
  assert.deepEqual(recording.bodies, ["/a 3"]);
  assert.equal(recording.recorders.held, 0);
});

test("bodies under way hold 4 MiB together at most, and those above 512 KiB nothing", async () => {
  const recording = new Recording();
  const large = recording.of("/large");
  for (let i = 0; i < 20; i++) large.write(new Uint8Array(100 * KIB));
  assert.equal(recording.recorders.held, 0);
  large.end();
  const open = Array.from({ length: 100 }, (_, i) => recording.of(`/${i}`));
  for (let round = 0; round < 4; round++) {
    for (const recorder of open) {
      recorder.write(new Uint8Array(100 * KIB));
      assert.ok(recording.recorders.held <= 4096 * KIB, `${recording.recorders.held} bytes are held`);
    }
  }
  for (const recorder of open) recorder.end();
  assert.equal(recording.recorders.held, 0);
  await nextTurn();
  assert.ok(recording.bodies.length <= 10, `${recording.bodies.length} bodies`);
  const next = recording.of("/0");
  next.write(new Uint8Array(1));
  next.end();
  await nextTurn();
  assert.equal(recording.bodies.at(-1), "/0 1");
});
