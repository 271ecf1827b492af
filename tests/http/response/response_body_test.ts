import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { createResponse } from "../../../lib/http/response/http_response.ts";
import { ResponseBody } from "../../../lib/http/response/response_body.ts";
import { tries } from "../../support/long_run.ts";

/** A body, and the calls of its control. */
class Probe {
  readonly body: ResponseBody = new ResponseBody(this);
  consumedBytes = 0;
  cancelled: unknown[] = [];
  wantedTimes = 0;

  consumed(bytes: number): void {
    this.consumedBytes += bytes;
  }

  cancel(reason: unknown): void {
    this.cancelled.push(reason);
  }

  wanted(): void {
    this.wantedTimes++;
  }

  response(headers: string[] = []): Response {
    const head = { status: 200, statusText: "", headers };
    return createResponse(head, this.body, { url: "http://a/", redirected: false });
  }

  /** Pushes a view into larger memory that is written over later, as no connection does, to find out who kept it. */
  push(text: string): void {
    this.body.push(Buffer.from(text));
  }
}

const decode = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Reads a body whose chunks come all before it is read, all after, or some of each. */
async function read<T>(
  chunks: Uint8Array[],
  early: number,
  reader: (response: Response) => Promise<T>,
  headers?: string[],
): Promise<T> {
  const probe = new Probe();
  chunks.slice(0, early).forEach((chunk) => probe.body.push(chunk));
  if (early > chunks.length) probe.body.end();
  const result = reader(probe.response(headers));
  for (const chunk of chunks.slice(early)) {
    await turn();
    probe.body.push(chunk);
  }
  probe.body.end();
  const value = await result;
  assert.equal(probe.consumedBytes, Buffer.concat(chunks).length);
  assert.deepEqual(probe.cancelled, []);
  return value;
}

test("text() is that of the runtime's Response, for any bytes however they come", async () => {
  const odd = [
    [0xef, 0xbb, 0xbf, 0x61],
    [0xef, 0xbb],
    [0xfe, 0xff, 0x00, 0x61],
    [0xff, 0xfe, 0x61, 0x00],
    [0xc3],
    [0xc3, 0x28],
    [0xe2, 0x82, 0xac, 0xe2, 0x82],
    [0xf0, 0x9f, 0x98, 0x80, 0xf0, 0x9f],
    [0xed, 0xa0, 0x80],
    [0xf8, 0x88, 0x80, 0x80, 0x80],
    [0x00, 0x80, 0xbf],
    [],
  ];
  for (const values of odd) {
    const bytes = new Uint8Array(values);
    const expected = await new Response(bytes).text();
    const single = Array.from(bytes, (_, at) => bytes.slice(at, at + 1));
    for (const chunks of [[bytes], single]) {
      for (let early = 0; early <= chunks.length + 1; early++) {
        assert.equal(await read(chunks, early, (response) => response.text()), expected, String(values));
      }
    }
  }
});

test("text() takes one byte order mark away, as the standard says (Node takes two)", async () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x61]);
  assert.equal(await read([bytes], 1, (response) => response.text()), "\ufeffa");
});

test("every way to read the whole gives the same bytes, in memory of its own", async () => {
  const memory = new Uint8Array(1000).map((_, at) => at);
  for (const sizes of [[300], [1, 2, 3, 4, 5, 6, 7, 8, 9], [100, 1, 150, 1, 1, 1, 1, 1, 1, 1], [0, 5, 0], []]) {
    let start = 100;
    const chunks = sizes.map((size) => memory.subarray(start, start += size));
    const whole = memory.slice(100, start);
    for (const early of [0, 1, chunks.length, chunks.length + 1]) {
      const bytes = await read(chunks, early, (response) => response.bytes());
      assert.ok(bytes instanceof Uint8Array && !Buffer.isBuffer(bytes));
      assert.deepEqual(bytes, whole);
      assert.equal(bytes.buffer.byteLength, whole.length);
      const buffer = await read(chunks, early, (response) => response.arrayBuffer());
      assert.ok(buffer instanceof ArrayBuffer);
      assert.notEqual(buffer, memory.buffer);
      assert.deepEqual(new Uint8Array(buffer), whole);
      const blob = await read(chunks, early, (response) => response.blob(), ["content-type", "image/x"]);
      assert.equal(blob.type, "image/x");
      assert.deepEqual(new Uint8Array(await blob.arrayBuffer()), whole);
    }
  }
});

test("json() parses, without a byte order mark, and rejects with a SyntaxError", async () => {
  const chunks = [...'\ufeff{"a":[1,"é"]}'].map((character) => Buffer.from(character));
  assert.deepEqual(await read(chunks, 3, (response) => response.json()), { a: [1, "é"] });
  await assert.rejects(read([Buffer.from("{")], 1, (response) => response.json()), SyntaxError);
  await assert.rejects(read([], 1, (response) => response.json()), SyntaxError);
});

test("formData() reads both kinds of forms", async () => {
  const form = await read([Buffer.from("a=1&b=%C3"), Buffer.from("%A9&a=2")], 1, (response) => response.formData(), [
    "content-type",
    "application/x-www-form-urlencoded",
  ]);
  assert.deepEqual([...form], [["a", "1"], ["b", "é"], ["a", "2"]]);
  const original = new FormData();
  original.append("text", "x");
  original.append("file", new File(["content"], "name.txt"));
  const encoded = new Response(original);
  const headers = ["content-type", encoded.headers.get("content-type")!];
  const bytes = new Uint8Array(await encoded.arrayBuffer());
  const parsed = await read([bytes.subarray(0, 50), bytes.subarray(50)], 1, (response) => response.formData(), headers);
  assert.equal(parsed.get("text"), "x");
  assert.equal(await (parsed.get("file") as File).text(), "content");
  await assert.rejects(read([bytes], 1, (response) => response.formData()), TypeError);
});

test("a body that fails rejects with that error, whatever came and however it is read", async () => {
  const reason = new RangeError("lost");
  for (const early of [true, false]) {
    for (const kind of ["text", "json", "bytes", "arrayBuffer", "blob", "formData"] as const) {
      const probe = new Probe();
      probe.push("partial");
      const response = probe.response();
      if (early) probe.body.fail(reason);
      const result = response[kind]();
      if (!early) probe.body.fail(reason);
      await assert.rejects(result as Promise<unknown>, reason);
    }
  }
});

test("nothing that is pushed after the end changes anything", async () => {
  const probe = new Probe();
  probe.push("a");
  probe.body.end();
  probe.push("b");
  probe.body.fail(new Error("late"));
  probe.body.end();
  assert.equal(await probe.response().text(), "a");
  const failed = new Probe();
  failed.body.fail("first");
  failed.body.fail("second");
  failed.push("c");
  failed.body.end();
  await assert.rejects(failed.response().text(), (reason) => reason === "first");
});

test("a stream takes nothing before it is read, and then one chunk a read", async () => {
  const probe = new Probe();
  const response = probe.response();
  probe.push("abc");
  const stream = response.body!;
  await turn();
  assert.equal(probe.consumedBytes, 0);
  const reader = stream.getReader();
  await turn();
  assert.equal(probe.consumedBytes, 0);
  assert.equal(decode((await reader.read()).value), "abc");
  assert.equal(probe.consumedBytes, 3);
  const reading = reader.read();
  probe.push("de");
  probe.push("f");
  assert.equal(decode((await reading).value), "de");
  await turn();
  assert.equal(probe.consumedBytes, 5);
  assert.equal(decode((await reader.read()).value), "f");
  const last = reader.read();
  probe.body.end();
  assert.deepEqual(await last, { done: true, value: undefined });
  await reader.closed;
});

test("small chunks that wait are few chunks of a stream, of at most 16 KiB", async () => {
  const probe = new Probe();
  const content = new Uint8Array(200_000).map((_, at) => at % 251);
  for (let at = 0; at < content.length; at += 1000) probe.body.push(content.subarray(at, at + 1000));
  probe.body.end();
  const sizes: number[] = [];
  const chunks: Uint8Array[] = [];
  for await (const chunk of probe.response().body!) {
    sizes.push(chunk.length);
    chunks.push(chunk);
  }
  assert.ok(sizes.length < 20 && Math.max(...sizes) <= 16384, String(sizes));
  assert.deepEqual(new Uint8Array(Buffer.concat(chunks)), content);
});

test("chunks of a stream are their reader's: nothing else lies in their memory", async () => {
  const probe = new Probe();
  const memory = Buffer.from("secret abc secret");
  probe.body.push(memory.subarray(7, 10));
  probe.body.end();
  const { value } = await probe.response().body!.getReader().read();
  assert.equal(value!.buffer.byteLength, 3);
  value!.fill(0);
  assert.equal(memory.toString(), "secret abc secret");
});

test("a BYOB reader fills the views that it is given", async () => {
  const probe = new Probe();
  probe.push("abcdef");
  const reader = probe.response().body!.getReader({ mode: "byob" });
  const first = await reader.read(new Uint8Array(4));
  assert.equal(decode(first.value), "abcd");
  assert.equal(probe.consumedBytes, 4);
  assert.equal(decode((await reader.read(new Uint8Array(first.value!.buffer))).value), "ef");
  const waiting = reader.read(new Uint8Array(4));
  probe.push("gh");
  assert.equal(decode((await waiting).value), "gh");
  const last = reader.read(new Uint8Array(4));
  probe.body.end();
  const end = await last;
  assert.equal(end.done, true);
  assert.equal(end.value!.length, 0);
  assert.equal(end.value!.buffer.byteLength, 4);
});

test("a stream that nobody reads learns of the end and of an error", async () => {
  const ended = new Probe();
  const reader = ended.response().body!.getReader();
  ended.body.end();
  await reader.closed;
  const failed = new Probe();
  failed.push("abc");
  const other = failed.response().body!.getReader();
  const reason = new Error("lost");
  failed.body.fail(reason);
  await assert.rejects(other.closed, reason);
  await assert.rejects(other.read(), reason);
  const over = new Probe();
  over.body.fail(reason);
  await assert.rejects(over.response().body!.getReader().read(), reason);
  const empty = new Probe();
  empty.body.end();
  assert.deepEqual(await empty.response().body!.getReader().read(), { done: true, value: undefined });
});

test("a stream whose end came behind unread bytes gives these first", async () => {
  const probe = new Probe();
  probe.push("abc");
  const reader = probe.response().body!.getReader();
  probe.body.end();
  assert.equal(decode((await reader.read()).value), "abc");
  assert.equal((await reader.read()).done, true);
});

test("cancelling a stream cancels the exchange, once, and not after the end", async () => {
  const probe = new Probe();
  probe.push("abc");
  const stream = probe.response().body!;
  await stream.cancel("enough");
  await stream.cancel("again");
  assert.deepEqual(probe.cancelled, ["enough"]);
  probe.push("def");
  assert.equal(probe.body.available, 0);
  const ended = new Probe();
  ended.push("abc");
  ended.body.end();
  await ended.response().body!.cancel("late");
  assert.deepEqual(ended.cancelled, []);
});

test("wanted() is called whenever somebody waits and nothing is there", async () => {
  const whole = new Probe();
  whole.push("a");
  const text = whole.response().text();
  assert.equal(whole.wantedTimes, 1);
  whole.push("b");
  assert.equal(whole.wantedTimes, 2);
  whole.body.end();
  assert.equal(whole.wantedTimes, 2);
  assert.equal(await text, "ab");
  const streamed = new Probe();
  const reader = streamed.response().body!.getReader();
  await turn();
  assert.equal(streamed.wantedTimes, 0);
  const reading = reader.read();
  assert.equal(streamed.wantedTimes, 1);
  streamed.push("abc");
  await reading;
  await turn();
  assert.equal(streamed.wantedTimes, 1);
  streamed.push("def");
  await reader.read();
  assert.equal(streamed.wantedTimes, 1);
  await reader.cancel();
});

test("many small views into large memory do not hold it", () => {
  const probe = new Probe();
  const memories: WeakRef<ArrayBuffer>[] = [];
  for (let at = 0; at < 100; at++) {
    const memory = new Uint8Array(65536).fill(at);
    memories.push(new WeakRef(memory.buffer));
    probe.body.push(memory.subarray(0, 10));
  }
  const held = new Set<ArrayBufferLike>();
  for (let chunk = probe.body.take(); chunk !== undefined; chunk = probe.body.take()) held.add(chunk.buffer);
  const large = [...held].filter((buffer) => buffer.byteLength === 65536);
  assert.ok(large.length <= 4, `${large.length} of ${memories.length}`);
});

/** A step of the model: an action on a body. */
type Step = { push: number } | { read: number } | "turn" | "view";

test("any order of pushes, reads and turns gives the bytes in their order, and consumes what was given and no more", async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ push: fc.integer({ min: 0, max: 40 }) }),
    fc.record({ read: fc.integer({ min: 1, max: 30 }) }),
    fc.constant("turn" as const),
  );
  const ending = fc.constantFrom("end", "fail", "cancel");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.boolean(), ending, async (steps, byob, ending) => {
      const probe = new Probe();
      const stream = probe.response().body!;
      const given: number[] = [];
      const pending: Promise<void>[] = [];
      let pushed = 0;
      let failed = 0;
      const take = (value: Uint8Array | undefined): void => void given.push(...value ?? []);
      const byobReader = byob ? stream.getReader({ mode: "byob" }) : undefined;
      const reader = byob ? undefined : stream.getReader();
      for (const step of steps) {
        if (step === "turn") await turn();
        else if (step === "view") continue;
        else if ("push" in step) {
          // Some as views of larger memory, which are gathered.
          const memory = new Uint8Array(step.push * (step.push % 2 === 0 ? 1 : 10)).map((_, at) => (pushed + at) % 256);
          probe.body.push(memory.subarray(0, step.push));
          pushed += step.push;
        } else {
          const reading = byobReader?.read(new Uint8Array(step.read)) ?? reader!.read();
          pending.push(reading.then(({ value }) => take(value), () => void failed++));
        }
        assert.ok(probe.consumedBytes <= pushed);
      }
      await turn();
      const hasWaiting = pending.length > 0;
      if (ending === "end") probe.body.end();
      else if (ending === "fail") probe.body.fail("lost");
      else await (byobReader ?? reader)!.cancel("enough");
      if (ending === "end") {
        for (let done = false; !done;) {
          const result = await (byobReader?.read(new Uint8Array(7)) ?? reader!.read());
          take(result.value);
          done = result.done;
        }
        assert.equal(given.length, pushed);
        assert.equal(probe.consumedBytes, pushed);
      }
      await Promise.all(pending);
      assert.deepEqual(given, Array.from({ length: given.length }, (_, at) => at % 256));
      assert.equal(probe.consumedBytes, given.length);
      assert.deepEqual(probe.cancelled, ending === "cancel" ? ["enough"] : []);
      if (ending !== "fail" || !hasWaiting) assert.equal(failed, 0);
    }),
    { numRuns: tries(150) },
  );
});

test("a body's copy is untouched by those who change the chunks of the other", async () => {
  for (const [count, size] of [[1, 16384], [3, 16384], [9, 16384], [5, 4096], [7, 4096]]) {
    const probe = new Probe();
    for (let pushed = 0; pushed < count; pushed++) probe.body.push(new Uint8Array(size).fill(97), true);
    probe.body.end();
    const response = probe.response();
    const clone = response.clone();
    for await (const bytes of response.body!) bytes.fill(98);
    const text = await clone.text();
    assert.ok(text === "a".repeat(count * size), `the clone of ${count} chunks of ${size} bytes was changed`);
  }
});
