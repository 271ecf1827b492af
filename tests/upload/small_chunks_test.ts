import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import test from "node:test";
import { openBody } from "../../lib/upload/body/receive_body.ts";
import { type BodySource, saveBody, saveForm } from "../../lib/upload/mod.ts";
import { noise } from "../support/bytes.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { bytesOf, digestOf, withStore } from "../s3/scene.ts";

/** Cuts bytes into chunks of 1 to `most`, and a few that are larger. */
function cut(bytes: Uint8Array, most: number, seed: number): Uint8Array<ArrayBuffer>[] {
  const random = randomNumbers(seed);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let start = 0; start < bytes.length;) {
    const length = random(2000) === 0 ? 1 + random(9000) : 1 + random(most);
    chunks.push(bytes.slice(start, start += length));
  }
  return chunks;
}

/** Returns a stream of chunks, which ends or fails. */
function streamOf(chunks: readonly Uint8Array[], type?: "bytes", failure?: Error): ReadableStream<Uint8Array> {
  let next = 0;
  const pull = (controller: ReadableStreamDefaultController | ReadableByteStreamController): void => {
    if (next < chunks.length) return controller.enqueue(chunks[next++].slice() as never);
    if (failure !== undefined) return controller.error(failure);
    controller.close();
    (controller as ReadableByteStreamController).byobRequest?.respond(0);
  };
  return new ReadableStream({ ...(type && { type }), pull } as UnderlyingDefaultSource<Uint8Array>);
}

const contentType = "multipart/form-data; boundary=x";

function requestOf(body: ReadableStream<Uint8Array>): Request {
  const init = { method: "POST", body, headers: { "content-type": contentType }, duplex: "half" };
  return new Request("http://localhost/", init);
}

const sources: Readonly<Record<string, (chunks: readonly Uint8Array[]) => BodySource>> = {
  "a stream": (chunks) => streamOf(chunks),
  "a byte stream": (chunks) => streamOf(chunks, "bytes"),
  "a request": (chunks) => requestOf(streamOf(chunks)),
  "a readable of node:stream": (chunks) => Readable.from(chunks, { objectMode: false }) as never,
};

for (const [name, sourceOf] of Object.entries(sources)) {
  test(`chunks of 1 to 16 bytes that ${name} gives are written together, bodies and forms`, async () => {
    const sent = noise(60_000, 7);
    const got: Uint8Array[] = [];
    const destination = (): WritableStream<Uint8Array> =>
      new WritableStream({ write: (chunk) => void got.push(chunk) });
    const chunks = cut(sent, 16, 11);
    await saveBody(sourceOf(chunks), destination());
    assert.deepEqual(Buffer.concat(got), Buffer.from(sent));
    assert.ok(got.length < chunks.length / 10, `${got.length} writes of ${chunks.length} chunks`);

    got.length = 0;
    const header = '--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n';
    const form = new Uint8Array(Buffer.concat([Buffer.from(header), sent, Buffer.from("\r\n--x--\r\n")]));
    await saveForm(sourceOf(cut(form, 16, 12)), destination, { contentType });
    assert.deepEqual(Buffer.concat(got), Buffer.from(sent));
    assert.ok(got.length < chunks.length / 10, `${got.length} writes of a form`);
  });
}

test("small chunks that came before a byte stream failed are given before its failure", async () => {
  const failure = new Error("cut");
  const body = openBody(streamOf(cut(noise(1000), 16, 3), "bytes", failure));
  let bytes = 0;
  await assert.rejects(async () => {
    for (;;) {
      for (const { length } of (await body.read())!) bytes += length;
      body.release();
    }
  }, (error) => error === failure);
  assert.equal(bytes, 1000);
});

test("an object is what was written in chunks of any size, whether its parts are in memory or in files", () =>
  withStore(async (store) => {
    for (const memory of [0, 2 ** 24]) {
      const sent = bytesOf(300_000);
      await streamOf([...cut(sent, 16, 5), new Uint8Array(), bytesOf(70_000), ...cut(sent, 5000, 6)])
        .pipeTo(store.bucket({ memory }).writable("a"));
      const expected = Buffer.concat([sent, bytesOf(70_000), sent]);
      assert.equal(digestOf(store.objects.get("a")?.bytes), digestOf(expected));
    }
  }));
