import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type BatchedUnderlyingSink, BatchedWritableStream } from "../../lib/batch/mod.ts";
import { RotatingFileWritable } from "../../lib/files/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { until, within } from "../support/waits.ts";

/** Writes 0 to `count` - 1 to a sink and returns the batches it received, and the outcomes of the writes. */
async function written(count: number, sink: BatchedUnderlyingSink<number>) {
  const batches: number[][] = [];
  const writer = new BatchedWritableStream<number>({
    ...sink,
    writev(batch, controller, isLast) {
      batches.push(batch.slice());
      return sink.writev!(batch, controller, isLast);
    },
  }).getWriter();
  writer.closed.catch(() => {});
  const writes = Array.from({ length: count }, (_, i) => writer.write(i));
  const closed = writer.close().catch(() => {});
  const outcomes = await within(Promise.allSettled(writes), "the writes");
  await closed;
  const told = outcomes.map((outcome) => outcome.status === "fulfilled" ? "written" : String(outcome.reason));
  return { batches, told: [...new Set(told)] };
}

test("retry writes a batch again until it is written", async () => {
  for (const isAsync of [false, true]) {
    let calls = 0;
    const { batches, told } = await written(3, {
      retry: { attempts: 3, delay: 1 },
      writev(batch) {
        batch.reverse(); // the array is the sink's
        const error = ++calls < 4 ? new Error("busy") : undefined;
        if (error === undefined || isAsync) return error === undefined ? undefined : Promise.reject(error);
        throw error;
      },
    });
    assert.deepEqual(batches, [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]]);
    assert.deepEqual(told, ["written"]);
  }
});

test("retry writes only the chunks again that the sink tells have failed", async () => {
  const { batches, told } = await written(6, {
    maxBatch: 4,
    retry: { attempts: 5, delay: 0 },
    async writev(batch) {
      await undefined;
      return { failed: batch.flatMap((number, i) => number % 2 === 1 && batch.length > 1 ? [i] : []) };
    },
  });
  assert.deepEqual(batches, [[0, 1, 2, 3], [1, 3], [1, 3], [1, 3], [1, 3], [1, 3]].slice(0, batches.length));
  assert.deepEqual(told, ["Error: 2 of 2 chunks could not be written"]);
  const once = await written(3, {
    retry: { attempts: 1, delay: 0 },
    writev: (batch) => ({ failed: batch.length === 3 ? [1] : [] }),
  });
  assert.deepEqual(once, { batches: [[0, 1, 2], [1]], told: ["written"] });
});

test("a batch that fails for good fails the stream with its reason, or goes to onFailed()", async () => {
  const failing = { retry: { attempts: 2, delay: 0 }, writev: () => Promise.reject(new Error("down")) };
  const { batches, told } = await written(2, failing);
  assert.deepEqual([batches.length, told], [3, ["Error: down"]]);
  const left: unknown[] = [];
  const rescued = await written(4, {
    maxBatch: 2,
    writev: (batch) => ({ failed: batch[0] === 0 ? [1] : [] }),
    onFailed: (chunks, reason) => void left.push(chunks, String(reason)),
  });
  assert.deepEqual(rescued, { batches: [[0, 1], [2, 3]], told: ["written"] });
  assert.deepEqual(left, [[1], "Error: 1 of 2 chunks could not be written"]);
  const worse = await written(1, {
    ...failing,
    onFailed() {
      throw new Error("nor here");
    },
  });
  assert.deepEqual(worse.told, ["Error: nor here"]);
});

test("an abort ends the retries", async () => {
  let calls = 0;
  const stream = new BatchedWritableStream<number>({
    retry: { attempts: Infinity, delay: 1_000_000 },
    writev() {
      calls++;
      throw new Error("down");
    },
  });
  const writer = stream.getWriter();
  const write = writer.write(1);
  await until(() => calls === 1, "the first attempt");
  await Promise.all([
    assert.rejects(write, { message: "down" }),
    within(writer.abort(new Error("enough")), "abort()"),
    assert.rejects(writer.closed, { message: "enough" }),
  ]);
  assert.equal(calls, 1);
});

for (const when of ["before a retry", "in writev()"]) {
  test(`an error by the sink's own controller ends the retries: ${when}`, async () => {
    let calls = 0;
    let fail = (): void => {};
    const stream = new BatchedWritableStream<number>({
      retry: { attempts: Infinity, delay: 1_000_000 },
      writev(_batch, controller) {
        calls++;
        fail = () => controller.error(new Error("the connection is gone"));
        if (when === "in writev()") fail();
        throw new Error("down");
      },
      onFailed: () => assert.fail("the stream has errored"),
    });
    const piped = new ReadableStream<number>({ start: (controller) => controller.enqueue(1) }).pipeTo(stream);
    piped.catch(() => {});
    await until(() => calls === 1, "the first attempt");
    fail();
    await assert.rejects(within(piped, "the pipe"), { message: "the connection is gone" });
    assert.equal(calls, 1);
  });
}

test("chunks that failed are written again in their order, and given up in it, each once, however they are told", async () => {
  const failures = fc.array(fc.nat(7), { minLength: 1, maxLength: 12 });
  const property = fc.asyncProperty(failures, async (failed) => {
    const expected = [...new Set(failed)].sort((one, other) => one - other);
    const writev = (chunks: number[]) => ({ failed: chunks.length === 8 ? failed : [...chunks.keys()].reverse() });
    const left: number[][] = [];
    const onFailed = (chunks: number[]): void => void left.push(chunks);
    const { batches } = await written(8, { retry: { attempts: 1, delay: 0 }, writev, onFailed });
    assert.deepEqual(batches[1], expected);
    assert.deepEqual(left, [expected]);
  });
  await fc.assert(property, { numRuns: 30, examples: [[[2, 0, 2]]] });
});

test("whatever else writev() returns means that all chunks are written", async () => {
  const results = [
    undefined,
    null,
    0,
    5,
    "failed",
    [],
    [0],
    [undefined, undefined],
    [0, 1],
    {},
    { failed: undefined },
    { ids: [0] },
  ];
  for (const result of results) {
    for (const isAsync of [false, true]) {
      for (const retry of [undefined, { attempts: 3, delay: 0 }]) {
        const writev = () => (isAsync ? Promise.resolve(result) : result) as void;
        const { batches, told } = await written(2, { ...(retry && { retry }), writev });
        assert.deepEqual([batches, told], [[[0, 1]], ["written"]], JSON.stringify(result));
      }
    }
  }
});

test("a result that breaks the contract fails the stream at once: it is not retried, nor given to onFailed()", async () => {
  for (const failed of [null, 0, true, "0", {}, [2], [-1], [0.5], [NaN], ["0"], [0, undefined], new Set([0])]) {
    for (const isAsync of [false, true]) {
      for (const more of [{}, { retry: { attempts: 5, delay: 0 } }, { onFailed: () => assert.fail("not called") }]) {
        const writev = () => (isAsync ? Promise.resolve({ failed }) : { failed }) as never;
        const { batches, told } = await written(2, { ...more, writev });
        assert.equal(batches.length, 1);
        assert.match(
          told.join(),
          /^(?:TypeError: what writev\(\) returns as failed must be|RangeError: writev\(\) returned)/,
        );
      }
    }
  }
});

test("chunks that failed fail the stream where there is neither retry nor onFailed(), with the sink's own reason", async () => {
  for (const isAsync of [false, true]) {
    const results = [{ failed: [1] }, { failed: [0, 1], reason: new Error("disk full") }];
    const expected = ["Error: 1 of 2 chunks could not be written", "Error: disk full"];
    for (const [i, result] of results.entries()) {
      const { told } = await written(2, { writev: () => isAsync ? Promise.resolve(result) : result });
      assert.deepEqual(told, [expected[i]]);
    }
  }
});

test("what is no retry is refused", () => {
  assert.throws(() => new BatchedWritableStream({ retry: { attempts: -1 }, writev() {} }), RangeError);
  for (const retry of [{}, { delay: 50 }]) {
    const message = /needs the option retry\.attempts: a number from 0$/;
    assert.throws(() => new BatchedWritableStream({ retry: retry as never, writev() {} }), {
      name: "TypeError",
      message,
    });
    const log = { directory: "log", name: "a.log", append: true, maxFileSize: 1000, retry: retry as never };
    assert.throws(() => new RotatingFileWritable(log), { name: "TypeError", message });
  }
  assert.throws(() => new BatchedWritableStream({ retry: { attempts: 1, delay: NaN }, writev() {} }), RangeError);
  assert.throws(() => new BatchedWritableStream({ onFailed: "log" as never, writev() {} }), TypeError);
});
