import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { type BodySource, createUploadHandler, type SaveBodyOptions, UploadError } from "../../lib/upload/mod.ts";
import type { InnerOptions } from "../../lib/upload/body/upload_options.ts";
import { saveFormOptions } from "../../lib/upload/form/form_options.ts";
import { storeForm } from "../../lib/upload/form/save_form.ts";
import { storeBody } from "../../lib/upload/sink/save_body.ts";
import { noise } from "../support/bytes.ts";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { pause } from "../support/waits.ts";
import { inFolder, listed } from "../support/folders.ts";
import { serveFetch } from "../static/fetch_server.ts";
import { RawClient } from "./handler/raw_client.ts";
import { entries, serving } from "./handler/serving_handler.ts";
import { overlapping } from "../support/overlapping.ts";

const test = overlapping();

type Options = SaveBodyOptions & InnerOptions;
/** A rate that a sender of one byte each 5 ms does not reach. */
const strict: Options = { minRate: 10_000, rateWindow: 300, idleTimeout: 30_000 };
const TOO_SLOW = /^The body comes too slowly: \d+ bytes came in [\d.]+ s, and at least 10000 a second must$/;

type Chunks = AsyncGenerator<Uint8Array<ArrayBuffer>>;

/** Yields the bytes one by one, endlessly. */
async function* trickle(bytes: Uint8Array<ArrayBuffer>): Chunks {
  for (let at = 0;; at = (at + 1) % bytes.length) {
    yield bytes.slice(at, at + 1);
    await pause(5);
  }
}

/** Returns a stream of chunks; with the type "bytes", for readers with buffers of their own. */
function streamOf(chunks: Chunks, type?: "bytes"): ReadableStream<Uint8Array> {
  const pull = async (controller: ReadableByteStreamController): Promise<void> => {
    const { value, done } = await chunks.next();
    if (!done) return controller.enqueue(value);
    controller.close();
    controller.byobRequest?.respond(0);
  };
  const source = { type, pull } as UnderlyingByteSource;
  return new ReadableStream(source, { highWaterMark: 0 }) as ReadableStream<Uint8Array>;
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(() => assert.fail("it did not fail"), (error) => error);
}

const compressed = gzipSync(noise(100_000, 3));

/** Sources that trickle without a server. */
const sources: Record<string, () => [source: BodySource, options?: Options]> = {
  "a stream": () => [streamOf(trickle(new Uint8Array(1000)))],
  "a byte stream": () => [streamOf(trickle(new Uint8Array(1000)), "bytes")],
  "a readable of node": () => [
    Readable.from(trickle(new Uint8Array(1000)), { objectMode: false }) as unknown as BodySource,
  ],
  "a body with a coding": () => {
    const body = streamOf(trickle(new Uint8Array(compressed)));
    const init = { method: "PUT", headers: { "content-encoding": "gzip" }, body, duplex: "half" } as RequestInit;
    return [new Request("http://localhost/", init), { decode: true }];
  },
};

for (const [name, source] of Object.entries(sources)) {
  test(`saveBody() ends ${name} that comes too slowly, though never silent`, () =>
    inFolder(async (folder) => {
      const [body, options] = source();
      const error = await rejection(storeBody(body, join(folder, "file"), { ...strict, ...options }));
      assert.ok(error instanceof UploadError, String(error));
      assert.equal(error.code, "TIMEOUT");
      assert.match(error.message, TOO_SLOW);
      assert.deepEqual(await listed(folder), []);
    }));
}

type Save = (source: BodySource, folder: string) => Promise<unknown>;

/** Servers whose uploads `save` stores; a failure's message is the response. */
const servers: Record<string, (save: (source: BodySource) => Promise<string>) => ReturnType<typeof serveFetch>> = {
  "node:http": async (save) => {
    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      void save(request).then((text) => response.end(text));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return {
      port: (server.address() as AddressInfo).port,
      close: () => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(() => resolve()));
      },
    };
  },
  fetch: (save) => serveFetch(async (request) => new Response(await save(request))),
};

/** Serves a client that sends a header and then continues; returns the response. */
async function exchange(
  way: string,
  save: Save,
  lines: readonly string[],
  send: (client: RawClient) => Promise<void>,
): Promise<string> {
  let answer = "";
  await inFolder(async (folder) => {
    const saved = Promise.withResolvers<string>();
    const server = await servers[way]((source) => {
      void save(source, folder).then(() => "stored", (error) => error.message).then(saved.resolve);
      return saved.promise;
    });
    try {
      const client = await RawClient.open(server.port);
      client.ask("PUT", "/", lines);
      await Promise.race([send(client), saved.promise]);
      answer = await saved.promise;
      client.close();
      assert.deepEqual(await listed(folder), []);
    } finally {
      await server.close();
    }
  });
  return answer;
}

const form = "Content-Type: multipart/form-data; boundary=mill";
const beginning = '--mill\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n';

/** Uploads that trickle in from the network. */
const uploads: Record<string, { lines: string[]; begin: string; wrap?: (byte: string) => string; save: Save }> = {
  "a body with a length": {
    lines: ["Content-Length: 100000"],
    begin: "",
    save: (source, folder) => storeBody(source, join(folder, "file"), strict),
  },
  "a body in chunks": {
    lines: ["Transfer-Encoding: chunked"],
    begin: "",
    wrap: (byte) => `1\r\n${byte}\r\n`,
    save: (source, folder) => storeBody(source, join(folder, "file"), strict),
  },
  "a form": {
    lines: ["Content-Length: 100000", form],
    begin: beginning,
    save: (source, folder) => storeForm(source, folder, { ...saveFormOptions(), ...strict }),
  },
};

for (const way of Object.keys(servers)) {
  for (const [name, { lines, begin, wrap = String, save }] of Object.entries(uploads)) {
    test(`${way}: ${name} that comes too slowly is ended, and nothing left of it`, async () => {
      const answer = await exchange(way, save, lines, async (client) => {
        client.send(begin);
        while (!client.isOver) {
          client.send(wrap("a"));
          await pause(5);
        }
      });
      assert.match(answer, TOO_SLOW);
    });
  }

  test(`${way}: a sender who is held back by a slow destination is not too slow`, async () => {
    let isFirst = true;
    const slow = new WritableStream<Uint8Array>({
      write: async () => {
        // More than a window, in which hardly anything is received.
        if (isFirst) await pause(5000);
        isFirst = false;
      },
    });
    const bytes = Buffer.alloc(8_000_000);
    const options: Options = { minRate: 10_000, rateWindow: 1500, idleTimeout: 1500 };
    const answer = await exchange(way, (source) => storeBody(source, slow, options), [
      `Content-Length: ${bytes.length}`,
    ], (client) => Promise.resolve(client.send(bytes)));
    assert.equal(answer, "stored");
  });
}

/** Sources that fill every pull. */
const floods: Record<string, () => BodySource> = {
  "a stream": () => streamOf(chunks()),
  "a byte stream": () => streamOf(chunks(), "bytes"),
  "a readable of node": () => Readable.from(chunks(), { objectMode: false }) as unknown as BodySource,
};

async function* chunks(): Chunks {
  for (let i = 0; i < 40; i++) yield new Uint8Array(100_000);
}

for (const [name, source] of Object.entries(floods)) {
  test(`a destination that takes its time does not make ${name} too slow`, async () => {
    let writes = 0;
    const slow = new WritableStream<Uint8Array>({ write: () => writes++ < 5 ? pause(100) : undefined });
    const saved = await storeBody(source(), slow, { minRate: 1e9, rateWindow: 100, idleTimeout: 50 });
    assert.equal(saved.bytes, 4_000_000);
  });
}

const waits = { skip: !isLong && runtime !== "node" && "it waits half a minute for a default that runtimes share" };

test(
  "createUploadHandler() ends an upload of a byte now and then by default, as a client sees after half a minute",
  waits,
  async () => {
    // Bun.serve() cuts it first, after its own 10 s; serve() is the same with 60.
    const served = Object.keys(entries).filter((entry) => runtime !== "bun" || entry !== "fetch");
    await Promise.all(
      served.map((entry) =>
        serving(entry, {}, async ({ port, folder, logged }) => {
          const client = await RawClient.open(port);
          client.ask("PUT", "/note", ["Content-Length: 100000"]);
          for (let second = 0; second < 60 && !client.isOver && client.received === ""; second++) {
            client.send("a");
            for (let tenth = 0; tenth < 10 && client.received === ""; tenth++) await pause(100);
          }
          const answer = await client.answer();
          client.close();
          assert.equal(answer.status, 408, entry);
          const { code, detail } = JSON.parse(answer.body);
          assert.equal(code, "TIMEOUT");
          assert.match(
            detail,
            /^The body comes too slowly: \d+ bytes came in 3\d(\.\d)? s, and at least 1024 a second must$/,
          );
          assert.deepEqual(logged.map(({ status }) => status), [408]);
          assert.deepEqual(await listed(folder), []);
        })
      ),
    );
  },
);

test("createUploadHandler() takes minRate: 0 for no limit, and refuses what is no rate", () =>
  inFolder((directory) => {
    for (const minRate of [0, 0.5, 1e9, undefined]) createUploadHandler({ directory, minRate });
    for (const minRate of [-1, NaN, Infinity]) {
      assert.throws(() => createUploadHandler({ directory, minRate }), {
        name: "RangeError",
        message: /^minRate /,
      });
    }
    const text = "1kB" as unknown as number;
    assert.throws(() => createUploadHandler({ directory, minRate: text }), { name: "TypeError", message: /"1kB"/ });
    return Promise.resolve();
  }));
