import assert from "node:assert/strict";
import { it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { broadcast, type BroadcastOptions, SlowBranchError } from "../../lib/batch/mod.ts";
import { ReadableStream as Ours } from "../../lib/streams/mod.ts";
import { tries } from "../support/long_run.ts";

type Policy = NonNullable<BroadcastOptions["policy"]>;

interface Pause {
  readonly microtasks: number;
  readonly turns: number;
}

/** The behaviour of a branch's reader. */
interface Reader {
  /** Its pauses after a chunk, again and again. */
  readonly pauses: readonly Pause[];
  /** The number of chunks after which it cancels the branch. */
  readonly cancelsAfter: number;
}

interface Program {
  readonly isNative: boolean;
  readonly isBytes: boolean;
  readonly sourceMark: number;
  readonly pulls: readonly (Pause & { readonly chunks: number })[];
  readonly end: "closes" | "errors";
  readonly policy: Policy;
  readonly highWaterMark: number;
  readonly readers: readonly Reader[];
}

const pause = {
  microtasks: fc.constantFrom(0, 0, 1, 2, 9),
  turns: fc.constantFrom(0, 0, 0, 1, 3),
};

const programs: fc.Arbitrary<Program> = fc.record({
  isNative: fc.boolean(),
  isBytes: fc.boolean(),
  sourceMark: fc.constantFrom(0, 1, 5),
  pulls: fc.array(fc.record({ ...pause, chunks: fc.constantFrom(1, 1, 2, 20) }), { maxLength: 20 }),
  end: fc.constantFrom("closes", "closes", "errors"),
  policy: fc.constantFrom<Policy>("wait", "drop", "error"),
  highWaterMark: fc.constantFrom(0, 1, 3, 16, Infinity),
  readers: fc.array(
    fc.record({
      pauses: fc.array(fc.record(pause), { minLength: 1, maxLength: 3 }),
      cancelsAfter: fc.oneof({ weight: 3, arbitrary: fc.constant(Infinity) }, fc.nat(10)),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

const FAULT = new Error("the source fails");

async function wait({ microtasks, turns }: Pause): Promise<void> {
  for (let i = 0; i < turns; i++) await turn();
  for (let i = 0; i < microtasks; i++) await undefined;
}

/** The chunks and the end that a reader saw of its branch. */
interface Seen {
  readonly chunks: number[];
  readonly end: "done" | "canceled" | { readonly error: unknown };
}

async function read(
  branch: globalThis.ReadableStream<Uint8Array>,
  index: number,
  reader: Reader,
  isBytes: boolean,
): Promise<Seen> {
  const { pauses, cancelsAfter } = reader;
  const chunks: number[] = [];
  const reading = branch.getReader();
  try {
    while (true) {
      if (chunks.length >= cancelsAfter) {
        await reading.cancel(index);
        return { chunks, end: "canceled" };
      }
      const step = await reading.read();
      if (step.done) return { chunks, end: "done" };
      const { buffer, byteLength, byteOffset } = step.value; // a read of native bytes may join several
      const words = new DataView(buffer, byteOffset, byteLength);
      for (let at = 0; at < byteLength; at += 4) chunks.push(words.getUint32(at));
      if (isBytes) step.value.fill(0xff); // each branch has its own
      await wait(pauses[chunks.length % pauses.length]);
    }
  } catch (error) {
    return { chunks, end: { error } };
  }
}

async function run(
  { isNative, isBytes, sourceMark, pulls, end, policy, highWaterMark, readers }: Program,
): Promise<void> {
  let made = 0;
  let next = 0;
  let hasEnded = false;
  const reasons: unknown[] = [];
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const pull = pulls[next++];
      if (pull !== undefined) await wait(pull);
      if (reasons.length > 0) return;
      for (let i = 0; i < (pull?.chunks ?? 0); i++) {
        const chunk = new Uint8Array(4);
        new DataView(chunk.buffer).setUint32(0, made++);
        controller.enqueue(chunk);
      }
      if (pull !== undefined) return;
      hasEnded = true;
      if (end === "errors") return controller.error(FAULT);
      controller.close();
    },
    cancel: (reason: unknown) => void reasons.push(reason),
  };
  const ReadableStream = isNative ? globalThis.ReadableStream : Ours as unknown as typeof globalThis.ReadableStream;
  const stream: globalThis.ReadableStream<Uint8Array> = isBytes
    ? new ReadableStream({ ...source, type: "bytes" } as never, { highWaterMark: 4 * sourceMark })
    : new ReadableStream(source, { highWaterMark: sourceMark });
  const dropped = readers.map(() => 0);
  const branches = broadcast(stream, {
    branches: readers.length,
    policy,
    highWaterMark: isBytes ? 4 * highWaterMark : highWaterMark,
    ...isNative && !isBytes && { size: () => 1 },
    ...policy === "drop" && {
      onDrop: (branch: number, count: number): void => assert.equal(count, ++dropped[branch]),
    },
  });
  const seen = await Promise.all(readers.map((reader, i) => read(branches[i], i, reader, isBytes)));

  for (const [i, { chunks, end: ending }] of seen.entries()) {
    assert.ok(chunks.every((chunk, at) => at === 0 || chunk > chunks[at - 1]), "in order, and each once");
    if (policy !== "drop") assert.deepEqual(chunks, Array.from(chunks, (_, at) => at), "none is left out");
    if (ending === "done") {
      assert.equal(end, "closes");
      const joins = isNative && isBytes && dropped[i] > 0;
      if (joins) assert.ok(chunks.length + dropped[i] <= made);
      else assert.equal(chunks.length + dropped[i], made, "every chunk is given, or told to be dropped");
    } else if (ending !== "canceled") {
      assert.ok(ending.error === FAULT || (policy === "error" && ending.error instanceof SlowBranchError));
      assert.ok(ending.error !== FAULT || (hasEnded && end === "errors"));
      if (ending.error instanceof SlowBranchError) assert.equal(ending.error.branch, i);
    }
  }
  const haveLeft = seen.every(({ end }) =>
    end === "canceled" || (end !== "done" && end.error instanceof SlowBranchError)
  );
  if (reasons.length === 0) {
    assert.ok(!haveLeft || hasEnded, "a source that nobody reads is canceled");
  } else {
    assert.ok(haveLeft);
    const [all] = reasons as [unknown[]];
    assert.equal(reasons.length, 1);
    for (const [i, reason] of all.entries()) {
      const { end } = seen[i];
      assert.equal(reason, end === "canceled" ? i : (end as { error: unknown }).error);
    }
  }
}

it("random programs: branches get what the policy says, in order, and the source ends with the last of them", async () => {
  await fc.assert(fc.asyncProperty(programs, run), { numRuns: tries(1200) });
});
