import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import { Readable } from "node:stream";
import test from "node:test";
import type { HttpClient, HttpClientOptions, HttpRequestInit } from "../../../lib/http/mod.ts";
import { ReadableStream as OurStream } from "../../../lib/streams/mod.ts";
import { LIMIT, within } from "../../support/waits.ts";
import { Origin } from "../faults/origin.ts";
import { chosenSeed, SeededRandom } from "../faults/seeded_random.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { newClient } from "../faults/trial.ts";
import { byHostileDuplex } from "./hostile_duplex.ts";

/** MILLRACE_DUPLEX_REQUESTS: how many requests over each way; MILLRACE_SEED: the seed of the first. */
const requests = Number(process.env.MILLRACE_DUPLEX_REQUESTS ?? 240);
/** Requests of a client. */
const CLIENT = 30;
/** The number of concurrent requests. */
const AT_A_TIME = 6;

/** Sends the body back, which it reads by fits and starts; `/moved` is a redirect that has it sent once more. */
function echo(request: ServerRequest): void {
  const body: Uint8Array[] = [];
  if (Math.random() < 0.3) {
    request.isHolding = true;
    setTimeout(() => request.isHolding = false, Math.random() * 10);
  }
  request.onBytes = (bytes) => body.push(Uint8Array.from(bytes));
  whenWhole(request, () => {
    if (request.path === "/moved") respond(request, 307, new Uint8Array(0), { location: "/again" });
    else respond(request, 200, Buffer.concat(body));
  });
}

/** Bytes that differ wherever they are in a body, and between bodies; now and then more than a system takes for a server that does not read. */
function randomBytes(random: SeededRandom): Uint8Array<ArrayBuffer> {
  const most = random.chance(0.02) ? 8e6 : random.pick([1, 100, 5_000, 40_000, 300_000]);
  const key = random.below(1 << 30);
  const bytes = new Uint8Array(random.below(most));
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.imul(i ^ key, 0x9e3779b1) >>> 24;
  return bytes;
}

/** Cuts bytes into copies of pieces, which come now and then. */
async function* pieces(bytes: Uint8Array, random: SeededRandom): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const size = random.pick([1 + (bytes.length >> 5), 3_000, 20_000, 100_000]);
  for (let start = 0; start < bytes.length; start += size) {
    if (random.chance(0.3)) await new Promise((resolve) => setTimeout(resolve, random.below(3)));
    yield bytes.slice(start, start + size);
  }
}

/** The static method that the DOM's types lack. */
const { from: streamOf } = ReadableStream as unknown as {
  from: (chunks: AsyncIterable<Uint8Array<ArrayBuffer>>) => ReadableStream<Uint8Array<ArrayBuffer>>;
};

type Body = NonNullable<HttpRequestInit["body"]>;

/** Every kind of body that sends the given bytes unchanged. */
const BODIES: Record<string, (bytes: Uint8Array<ArrayBuffer>, random: SeededRandom) => Body> = {
  "a view": (bytes) => bytes,
  "a view of more": (bytes) =>
    new DataView(Uint8Array.of(1, ...bytes.subarray(0, 4_000), 2).buffer, 1, Math.min(bytes.length, 4_000)),
  "a buffer": (bytes) => bytes.buffer,
  "a Blob": (bytes) => new Blob([bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)]),
  "a File": (bytes) => new File([bytes], "a.bin"),
  "a native stream": (bytes, random) => streamOf(pieces(bytes, random)),
  "our stream": (bytes, random) => OurStream.from(pieces(bytes, random)) as ReadableStream<Uint8Array<ArrayBuffer>>,
  "a stream of node:stream": (bytes, random) => Readable.from(pieces(bytes, random)),
  "an async iterable": (bytes, random) => pieces(bytes, random),
};

const TEXT = "Tüchtige Mühlen – 水車 – ";

/** Sends a random body, and compares every byte that came back. */
async function sendOne(client: HttpClient, url: string, random: SeededRandom): Promise<void> {
  const bytes = randomBytes(random);
  const kind = random.pick([...Object.keys(BODIES), "text", "a form", "parameters"]);
  const send = async (body: Body, headers: Record<string, string> = {}): Promise<Response> => {
    const isReplayable = typeof body === "string" || ArrayBuffer.isView(body) || body instanceof ArrayBuffer ||
      body instanceof Blob;
    const path = isReplayable && random.chance(0.2) ? "/moved" : "/";
    const response = await client.fetch(url + path, { method: "POST", body, headers, duplex: "half" });
    assert.equal(response.status, 200);
    return response;
  };
  if (kind === "text") {
    const text = TEXT.repeat(bytes.length >> 5);
    assert.equal(await (await send(text)).text(), text);
  } else if (kind === "parameters") {
    const parameters = new URLSearchParams({ text: TEXT.repeat(bytes.length >> 7), seed: String(bytes.length) });
    assert.equal(await (await send(parameters)).text(), parameters.toString());
  } else if (kind === "a form") {
    const form = new FormData();
    form.set("text", TEXT);
    form.set("file", new File([bytes], "a.bin"));
    const response = await send(form);
    const body = Buffer.from(await response.arrayBuffer());
    const at = body.indexOf("octet-stream\r\n\r\n") + "octet-stream\r\n\r\n".length;
    assert.ok(body.subarray(at, at + bytes.length).equals(bytes), "the form's file arrived otherwise");
    assert.ok(body.includes(TEXT), "the form's text arrived otherwise");
  } else {
    const body = BODIES[kind](bytes, random);
    const expected = kind === "a view of more" ? bytes.slice(0, 4_000) : bytes.slice();
    const isStreamed = typeof body === "object" && (Symbol.asyncIterator in body || "getReader" in body);
    const headers: Record<string, string> = isStreamed && random.chance(0.5)
      ? { "content-length": String(expected.length) }
      : {};
    const received = Buffer.from(await (await send(body, headers)).arrayBuffer());
    assert.equal(received.length, expected.length, kind);
    assert.ok(received.equals(expected), `${kind}: other bytes came back`);
  }
}

const WAYS: Record<string, (random: SeededRandom) => HttpClientOptions> = {
  "a hostile Duplex": (random) => ({ connect: byHostileDuplex(random) }),
  "a socket": () => ({}),
};

const KINDS = (["http/1.1", "http/1.1 over TLS", "h2c", "h2"] as const)
  .flatMap((protocol) => Object.entries(WAYS).map(([way, optionsOf]) => ({ protocol, way, optionsOf })));

for (const { protocol, way, optionsOf } of KINDS) {
  test(
    `${protocol} over ${way}: ${requests / 4} bodies of every kind arrive, and come back, as they are`,
    { timeout: 3_600_000 },
    async () => {
      const origin = await new Origin(protocol, { onRequest: echo }).start();
      origin.keepsRequests = false;
      const first = chosenSeed();
      try {
        for (let done = 0; done < requests / 4; done += CLIENT) {
          const seed = first + done;
          const random = new SeededRandom(seed);
          const client = newClient({ ...optionsOf(random), retries: 0, h2c: protocol === "h2c" });
          const many = async (): Promise<void> => {
            for (let i = 0; i < CLIENT / AT_A_TIME; i++) await sendOne(client, origin.url, random);
          };
          await within(
            Promise.all(Array.from({ length: AT_A_TIME }, many)).then(() => client.close()),
            "the requests",
            10 * LIMIT,
          )
            .catch((error) => {
              throw new Error(`MILLRACE_SEED=${seed}: ${error.message}`, { cause: error });
            })
            .finally(() => client.destroy());
        }
        assert.deepEqual(origin.violations, []);
      } finally {
        await origin.stop();
      }
    },
  );
}
