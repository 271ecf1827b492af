import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import test from "node:test";
import { openFileWritable } from "../../../lib/files/mod.ts";
import { ReadableStream as OurReadable, WritableStream as OurWritable } from "../../../lib/streams/mod.ts";
import { type BodyDestination, openSink } from "../../../lib/upload/sink/open_sink.ts";
import { openFilesIn } from "../../files/written.ts";
import { inFolder } from "../../support/folders.ts";

const kinds = { "native stream": WritableStream, "stream of ours": OurWritable as unknown as typeof WritableStream };
const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (chunks: readonly Uint8Array[]) => Buffer.concat(chunks).toString();

/** Whether a promise settles within some turns of the event loop. */
async function settlesSoon(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(() => settled = true, () => settled = true);
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 1));
  return settled;
}

for (const [kind, Writable] of Object.entries(kinds)) {
  test(`a ${kind} gets chunks that it may keep, and is closed at commit()`, async () => {
    const kept: Uint8Array[] = [];
    let closed = 0;
    const stream = new Writable<Uint8Array>({ write: (chunk) => void kept.push(chunk), close: () => void closed++ });
    const sink = await openSink(stream, { root: "/no/matter" });
    assert.equal(sink.path, undefined);
    assert.ok(stream.locked);
    for (const text of ["one ", "two ", "three"]) {
      const pieces = [Buffer.from(text.slice(0, 2)), bytes(text.slice(2))];
      await sink.write(pieces);
      for (const piece of pieces) piece.fill(0xee);
    }
    await sink.end();
    assert.equal(closed, 0);
    await sink.commit();
    assert.equal(closed, 1);
    assert.equal(textOf(kept), "one two three");
    assert.ok(kept.every((chunk) => chunk.constructor === Uint8Array));
    assert.ok(!stream.locked);
  });

  test(`a ${kind} that is slow is waited for, one batch at a time`, async () => {
    for (const highWaterMark of [1, 7, Infinity]) {
      const releases: (() => void)[] = [];
      const written: number[] = [];
      const stream = new Writable<Uint8Array>({
        write(chunk): Promise<void> {
          written.push(chunk.length);
          return new Promise((resolve) => releases.push(resolve));
        },
      }, { highWaterMark });
      const sink = await openSink(stream, {});
      for (let i = 1; i <= 3; i++) {
        const writing = sink.write([new Uint8Array(i), new Uint8Array(i)]);
        assert.ok(!(await settlesSoon(writing)));
        assert.equal(written.length, i);
        releases[i - 1]();
        await writing;
      }
      assert.deepEqual(written, [2, 4, 6]);
      await sink.discard(new Error("enough"));
    }
  });

  test(`what fails in a ${kind} comes through`, async () => {
    for (const at of ["write", "close"] as const) {
      const failure = Object.assign(new Error("its own"), { code: "EEXIST" });
      const stream = new Writable<Uint8Array>({ [at]: () => Promise.reject(failure) });
      const sink = await openSink(stream, {});
      const writing = sink.write([bytes("x")]);
      const outcome = at === "write" ? writing : writing.then(() => sink.end()).then(() => sink.commit());
      await assert.rejects(outcome, (error) => error === failure);
      await sink.discard(failure);
      assert.ok(!stream.locked);
    }
  });

  test(`a ${kind} is aborted with the reason when the body is discarded`, async () => {
    const reasons: unknown[] = [];
    const stream = new Writable<Uint8Array>({ abort: (reason) => void reasons.push(reason) });
    const sink = await openSink(stream, {});
    await sink.write([bytes("x")]);
    const reason = new Error("too large");
    await sink.discard(reason);
    assert.deepEqual(reasons, [reason]);
    assert.ok(!stream.locked);
    const stubborn = new Writable<Uint8Array>({ abort: () => Promise.reject(new Error("no")) });
    await (await openSink(stubborn, {})).discard(reason);
  });

  test(`the signal ends the wait for a ${kind} that takes nothing`, async () => {
    for (const at of ["write", "close"] as const) {
      const stream = new Writable<Uint8Array>({ [at]: () => new Promise(() => {}) });
      const controller = new AbortController();
      const sink = await openSink(stream, { signal: controller.signal });
      const reason = new Error("stop");
      const waiting = at === "write" ? sink.write([bytes("x")]) : sink.commit();
      assert.ok(!(await settlesSoon(waiting)));
      controller.abort(reason);
      await assert.rejects(waiting, (error) => error === reason);
      await sink.discard(reason);
    }
    const stream = new Writable<Uint8Array>({ write: () => new Promise(() => {}) });
    const sink = await openSink(stream, { signal: AbortSignal.abort("before") });
    await assert.rejects(sink.write([bytes("x")]), (error) => error === "before");
    await sink.discard("before");
  });

  test(`a ${kind} that is locked, closed or errored is refused`, async () => {
    const locked = new Writable<Uint8Array>();
    locked.getWriter();
    const closed = new Writable<Uint8Array>();
    await closed.close();
    const closing = new Writable<Uint8Array>();
    void closing.close();
    const cause = new Error("broken");
    const errored = new Writable<Uint8Array>({ start: (controller) => controller.error(cause) });
    const failed = new Writable<Uint8Array>({ write: () => Promise.reject(cause) });
    const writer = failed.getWriter();
    await writer.write(bytes("x")).catch(() => {});
    writer.releaseLock();
    const refused = { name: "TypeError", message: /^cannot write to the stream: it is (closed|errored)$/ };
    await assert.rejects(openSink(locked, {}), { name: "TypeError", message: /: it is locked, somebody else writes/ });
    for (const stream of [closed, errored, failed]) {
      await assert.rejects(openSink(stream, {}), refused);
      assert.ok(!stream.locked);
    }
    await assert.rejects(openSink(errored, {}), (error: Error) => error.cause === cause);
    // A stream that is being closed cannot be distinguished before from one that is busy.
    const outcome = openSink(closing, {}).then((sink) => sink.write([bytes("x")]));
    await assert.rejects(outcome, { name: "TypeError" });
  });
}

test("a transform's writable side is written to as fast as its readable side is read", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const sink = await openSink(writable, {});
  const writing = sink.write([bytes("a")]).then(() => sink.write([bytes("b")]));
  assert.ok(!(await settlesSoon(writing)));
  const reading = new Response(readable).text();
  await writing;
  await sink.end();
  await sink.commit();
  assert.equal(await reading, "ab");
});

test("a file's stream gets what is written, or nothing of it", () =>
  inFolder(async (folder) => {
    for (const isGood of [true, false]) {
      const sink = await openSink(await openFileWritable(join(folder, "file"), { atomic: true }), {});
      for (let i = 0; i < 10; i++) await sink.write([bytes(`${i}`), bytes(",")]);
      await sink.end();
      if (isGood) await sink.commit();
      else await sink.discard(new Error("enough"));
    }
    assert.deepEqual(await readdir(folder), ["file"]);
    assert.equal(await readFile(join(folder, "file"), "utf8"), "0,1,2,3,4,5,6,7,8,9,");
    assert.deepEqual(openFilesIn(`${folder}/`), []);
  }));

test("openSink() refuses what is no destination, and says what would be one", async () => {
  const wrong: unknown[] = [
    undefined,
    null,
    5,
    true,
    {},
    [],
    new Uint8Array(3),
    () => {},
    Symbol("x"),
    new OurReadable(),
  ];
  for (const destination of wrong) {
    await assert.rejects(openSink(destination as BodyDestination, {}), {
      name: "TypeError",
      message: /^the destination must be a path, a file: URL or a WritableStream, not /,
    });
  }
  const message = /fromNodeWritable\(\) of @millrace\/streams\/node makes one of it$/;
  await assert.rejects(openSink(new PassThrough() as unknown as BodyDestination, {}), { name: "TypeError", message });
  await assert.rejects(openSink(new URL("http://localhost/file"), {}), {
    message: "the destination must be a file: URL, not http://localhost/file",
  });
});
