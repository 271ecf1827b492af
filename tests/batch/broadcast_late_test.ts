import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { broadcast, type BroadcastOptions, SlowBranchError } from "../../lib/batch/mod.ts";
import { ReadableStream as Ours } from "../../lib/streams/mod.ts";
import { tries } from "../support/long_run.ts";

type Policy = NonNullable<BroadcastOptions["policy"]>;

/** A branch added late: the time, the pace of its reader, and perhaps a cancelation. */
interface Join {
  /** The number of the source's chunks before it. */
  readonly at: number;
  /** The distance from the end to its start, in halves of a chunk; negative: ahead of it. */
  readonly back: number | "earliest" | "latest";
  readonly turns: number;
  readonly cancelsAfter: number;
}

interface Program {
  readonly isNative: boolean;
  readonly isBytes: boolean;
  readonly chunks: number;
  readonly end: "closes" | "errors";
  readonly policy: Policy;
  readonly highWaterMark: number;
  readonly replay: number;
  readonly joins: readonly Join[];
}

const programs: fc.Arbitrary<Program> = fc.record({
  isNative: fc.boolean(),
  isBytes: fc.boolean(),
  chunks: fc.constantFrom(0, 3, 20, 50),
  end: fc.constantFrom("closes", "closes", "errors"),
  policy: fc.constantFrom<Policy>("wait", "drop", "error"),
  highWaterMark: fc.constantFrom(0, 1, 3, Infinity),
  replay: fc.constantFrom(0, 1, 4, 10, Infinity),
  joins: fc.array(
    fc.record({
      at: fc.nat(60),
      back: fc.oneof(fc.integer({ min: -1, max: 20 }), fc.constantFrom("earliest" as const, "latest" as const)),
      turns: fc.constantFrom(0, 0, 1, 2),
      cancelsAfter: fc.oneof({ weight: 3, arbitrary: fc.constant(Infinity) }, fc.nat(5)),
    }),
    { maxLength: 5 },
  ),
});

const FAULT = new Error("the source fails");
/** Bytes of a chunk: its number, again and again, so that positions can be in the middle of one. */
const SIZE = 3000;

interface Seen {
  /** The positions of its chunks or bytes. */
  readonly positions: number[];
  readonly end: "done" | "canceled" | { readonly error: unknown };
}

/** Reads a branch that begins at a position, if no bytes were dropped. */
async function read(
  branch: ReadableStream,
  { turns, cancelsAfter }: Pick<Join, "turns" | "cancelsAfter">,
): Promise<Seen> {
  const positions: number[] = [];
  const reader = branch.getReader();
  try {
    for (let got = 0;; got++) {
      if (got >= cancelsAfter) {
        await reader.cancel();
        return { positions, end: "canceled" };
      }
      const step = await reader.read();
      if (step.done) return { positions, end: "done" };
      if (typeof step.value === "number") positions.push(step.value);
      else for (const byte of step.value) positions.push(byte);
      if (typeof step.value !== "number") step.value.fill(0xff); // each branch has its own
      for (let i = 0; i < turns; i++) await turn();
    }
  } catch (error) {
    return { positions, end: { error } };
  }
}

async function run(program: Program): Promise<void> {
  const { isNative, isBytes, chunks, end, policy, highWaterMark, joins } = program;
  const unit = isBytes ? SIZE : 1;
  const replay = program.replay * unit;
  let made = 0;
  let reasons = 0;
  const source = {
    async pull(controller: ReadableStreamDefaultController<unknown>) {
      await turn();
      if (reasons > 0) return;
      if (made < chunks) return controller.enqueue(isBytes ? new Uint8Array(SIZE).fill(made++) : made++);
      if (end === "errors") controller.error(FAULT);
      else controller.close();
    },
    cancel: () => void reasons++,
  };
  const ReadableStream = isNative ? globalThis.ReadableStream : Ours as unknown as typeof globalThis.ReadableStream;
  const stream = new ReadableStream({ ...source, ...isBytes && { type: "bytes" } } as never, { highWaterMark: 0 });
  let dropped = 0;
  const branches = broadcast(stream, {
    branches: 1,
    policy,
    highWaterMark: highWaterMark * unit,
    replay,
    ...policy === "drop" && { onDrop: () => void dropped++ },
  });
  const late: Promise<void>[] = [];
  const join = (join: Join, count: number): void => {
    const passed = count * unit;
    const { back } = join;
    const from = typeof back === "number" ? Math.max(0, passed - Math.trunc(back * unit / 2)) : back;
    let branch;
    try {
      branch = branches.addBranch(from);
    } catch (error) {
      assert.ok(error instanceof RangeError && typeof from === "number");
      assert.ok(from < made * unit - replay || from > passed, error.message);
      return;
    }
    assert.ok(typeof from !== "number" || from >= passed - replay - unit || from > passed, "what is gone is refused");
    late.push(read(branch, join).then((seen) => check(seen, typeof from === "number" ? from : undefined)));
  };
  const check = ({ positions, end: ending }: Seen, from: number | undefined): void => {
    // Of bytes the number of their chunk shows.
    if (policy !== "drop" && from !== undefined) {
      const all = Array.from(positions, (_, i) => isBytes ? Math.trunc((from + i) / SIZE) : from + i);
      assert.deepEqual(positions, all, "no gap");
    }
    assert.ok(positions.every((position, i) => i === 0 || position >= positions[i - 1]));
    if (ending === "done") {
      assert.equal(end, "closes");
      if (policy !== "drop" && from !== undefined) assert.equal(from + positions.length, chunks * unit);
    } else if (ending !== "canceled") {
      assert.ok(ending.error === FAULT ? end === "errors" : ending.error instanceof SlowBranchError);
      assert.ok(ending.error === FAULT || policy === "error");
    }
  };
  // The first branch reads all, and has the others join; it never is full but with the policy "wait".
  const reader = (branches[0] as ReadableStream).getReader();
  let got = 0;
  const due = (count: number): void => {
    for (const each of joins) if (each.at === count) join(each, count);
  };
  const first = (async () => {
    due(0);
    for (let seen = 0;;) {
      const step = await reader.read().catch((error) => ({ done: true, error }));
      if (step.done) break;
      got += isBytes ? (step as { value: Uint8Array }).value.length : 1;
      while (seen < Math.trunc(got / unit)) if (++seen === Math.trunc(got / unit)) due(seen);
    }
    if (end === "closes") { for (const each of joins) if (each.at > chunks) join(each, chunks); }
  })();
  await first;
  await Promise.all(late);
  assert.equal(got, chunks * unit);
  if (policy !== "drop") assert.equal(dropped, 0);
  assert.equal(reasons, 0);
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** Returns a source of numbers that has one more each time `next()` is called. */
function counted(): { stream: Ours<number>; next(): void; close(): void; readonly reasons: unknown[] } {
  let number = 0;
  let controller!: ReadableStreamDefaultController<number>;
  const reasons: unknown[] = [];
  const stream = new Ours<number>({
    start: (own) => void (controller = own),
    cancel: (reason) => void reasons.push(reason),
  }, { highWaterMark: Infinity });
  return { stream, next: () => controller.enqueue(number++), close: () => controller.close(), reasons };
}

describe("branches of broadcast() that are added later", () => {
  it("random programs: they get what they ask for without a gap, or an error", async () => {
    await fc.assert(fc.asyncProperty(programs, run), { numRuns: tries(600) });
  });

  for (const policy of ["wait", "drop", "error"] as const) {
    it(`get all from their position on, also once the source has ended (${policy})`, async () => {
      const branches = broadcast(Ours.from(numbers(0, 20)), { replay: 5, policy, highWaterMark: Infinity });
      await Promise.all(branches.map((branch) => Array.fromAsync(branch)));
      assert.deepEqual(await Array.fromAsync(branches.addBranch(17)), [17, 18, 19]);
      assert.deepEqual(await Array.fromAsync(branches.addBranch("earliest")), [15, 16, 17, 18, 19]);
      assert.deepEqual(await Array.fromAsync(branches.addBranch("latest")), []);
      for (const from of [undefined, 14]) {
        assert.throws(() => branches.addBranch(from), {
          name: "RangeError",
          message: /what came before 15 is gone; raise replay/,
        });
      }
      assert.throws(() => branches.addBranch(21), { name: "RangeError", message: /has come to 20/ });
    });
  }

  it("begin at once without a replay, if they ask for what is to come", async () => {
    const { stream, next, close } = counted();
    const branches = broadcast(stream, { branches: 1 });
    const all = Array.fromAsync(branches[0]);
    for (let i = 0; i < 3; i++) next();
    await turn();
    assert.throws(() => branches.addBranch(), RangeError);
    const late = Array.fromAsync(branches.addBranch("latest"));
    for (let i = 0; i < 3; i++) next();
    close();
    assert.deepEqual([await all, await late], [numbers(0, 6), numbers(3, 6)]);
  });

  it("err if what they read next leaves the replay, with the policy error", async () => {
    const { stream, next } = counted();
    const branches = broadcast(stream, { branches: 1, policy: "error", highWaterMark: 2, replay: 4 });
    const reader = branches[0].getReader();
    for (let i = 0; i < 4; i++) {
      next();
      await reader.read();
    }
    const late = branches.addBranch().getReader();
    await turn(); // it queues two
    for (let i = 0; i < 2; i++) {
      next();
      await reader.read();
    }
    assert.equal((await late.read()).value, 0);
    for (let i = 0; i < 3; i++) {
      next();
      await reader.read();
    }
    next();
    await reader.read();
    await assert.rejects(late.read(), (error) => {
      assert.ok(error instanceof SlowBranchError && /Raise replay/.test(error.message));
      assert.deepEqual([error.branch, error.highWaterMark], [1, 4]);
      return true;
    });
  });

  it("have the source wait for what they read next, with the policy wait", async () => {
    const { stream, next } = counted();
    const branches = broadcast(stream, { branches: 1, highWaterMark: 1, replay: 3 });
    const reader = branches[0].getReader();
    for (let i = 0; i < 9; i++) next();
    for (let i = 0; i < 3; i++) await reader.read();
    const late = branches.addBranch(1).getReader();
    await turn();
    const got: number[] = [];
    const reading = (async () => {
      while (got.length < 6) got.push((await reader.read()).value!);
    })();
    for (let i = 0; i < 20; i++) await turn();
    assert.ok(got.length < 6, `${got} come while nothing reads the late branch`);
    for (const number of numbers(1, 9)) assert.equal((await late.read()).value, number);
    await reading;
    assert.deepEqual(got, numbers(3, 9));
  });

  it("are refused once the source was canceled, and err with it once it has failed", async () => {
    const { stream, next, reasons } = counted();
    const branches = broadcast(stream, { replay: 10 });
    next();
    await turn();
    for (const branch of branches) await branch.cancel("left");
    assert.deepEqual(reasons, [["left", "left"]]);
    assert.throws(() => branches.addBranch(), { name: "TypeError", message: /the source was canceled/ });

    const failed = broadcast(new Ours({ start: (controller) => controller.error(FAULT) }), { replay: 10 });
    await turn();
    await assert.rejects(Array.fromAsync(failed.addBranch()), FAULT);
    const unsized = broadcast(Ours.from([1]), {
      replay: 10,
      size() {
        throw FAULT;
      },
    });
    await assert.rejects(Array.fromAsync(unsized[0]), FAULT);
    await assert.rejects(Array.fromAsync(unsized.addBranch()), FAULT);
  });

  it("keep the source from being canceled with the branches at the start", async () => {
    const { stream, next, close, reasons } = counted();
    const branches = broadcast(stream, { branches: 1, replay: 10 });
    next();
    await turn();
    const late = Array.fromAsync(branches.addBranch());
    await branches[0].cancel();
    next();
    close();
    assert.deepEqual(await late, [0, 1]);
    assert.deepEqual(reasons, []);
  });

  it("share the bytes that are kept, whatever one does with its chunks, and begin within a chunk", async () => {
    const bytes = new Uint8Array(10_000).map((_, i) => i % 251);
    const stream = new Ours<Uint8Array>({
      type: "bytes",
      start(controller) {
        for (let i = 0; i < 10_000; i += 100) controller.enqueue(bytes.slice(i, i + 100));
        controller.close();
      },
    });
    const branches = broadcast(stream, { branches: 1, replay: 6000 });
    const takes = async (branch: AsyncIterable<Uint8Array>): Promise<number[]> => {
      const all: number[] = [];
      for await (const chunk of branch) {
        all.push(...chunk);
        chunk.fill(0);
      }
      return all;
    };
    await takes(branches[0]);
    for (const from of [4000, 4001, 8191, 8192, 8193, 9999, 10_000]) {
      assert.deepEqual(await takes(branches.addBranch(from)), [...bytes.subarray(from)]);
    }
    assert.throws(() => branches.addBranch(3999), RangeError);
  });

  it("hold nothing for what is not replayed: neither branches that have left nor chunks of size 0", async () => {
    const { stream, next } = counted();
    const branches = broadcast(stream, { branches: 1, size: () => 0, replay: 0 });
    void Array.fromAsync(branches[0]);
    for (let i = 0; i < 5; i++) {
      next();
      await turn();
      assert.throws(() => branches.addBranch(i), RangeError);
      await branches.addBranch("latest").cancel();
    }
    assert.equal(branches.length, 1);
  });

  it("give the rest to a read with min, however early the source ended", async () => {
    for (
      const [length, highWaterMark, min] of [0, 1, 4, 5, 9].flatMap((length) => {
        return [0, 3, 1024].flatMap((mark) => [1, 4, 7].map((min) => [length, mark, min]));
      })
    ) {
      const bytes = Uint8Array.from({ length }, (_, i) => i + 1);
      const stream = new Ours({
        type: "bytes",
        start(controller) {
          if (length > 0) controller.enqueue(bytes.slice());
          setImmediate(() => controller.close());
        },
      });
      const branches = broadcast(stream, { highWaterMark: highWaterMark || 16, replay: 16 });
      const slow = broadcast(Ours.from([bytes.slice()]), { type: "bytes", highWaterMark });
      void slow[1].cancel();
      await Array.fromAsync(branches[1]);
      for (let i = 0; i < 3; i++) await turn();
      for (const branch of [branches[0], slow[0], branches.addBranch("earliest")]) {
        const reader = branch.getReader({ mode: "byob" });
        const read: number[] = [];
        for (let isDone = false; !isDone;) {
          const { value, done } = await reader.read(new Uint8Array(7), { min });
          assert.ok(done || value.length >= min);
          read.push(...value ?? []);
          isDone = done;
        }
        assert.deepEqual(read, [...bytes]);
        await reader.closed;
      }
    }
  });

  it("says what is wrong with its argument", () => {
    const branches = broadcast(new Ours());
    for (const from of ["first", null, "0", { from: 1 }]) {
      assert.throws(() => branches.addBranch(from as never), TypeError);
    }
    for (const from of [-1, 1.5, NaN, Infinity]) assert.throws(() => branches.addBranch(from), RangeError);
    for (const replay of [-1, NaN]) assert.throws(() => broadcast(new Ours(), { replay }), RangeError);
  });

  it("find as many chunks of size 0 as the replay is large", async () => {
    const branches = broadcast(Ours.from(numbers(0, 500)), { branches: 1, size: () => 0, replay: 10 });
    await Array.fromAsync(branches[0]);
    assert.deepEqual(await Array.fromAsync(branches.addBranch("earliest")), numbers(490, 500));
  });
});
