import assert from "node:assert/strict";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { Readable } from "node:stream";
import test, { after } from "node:test";
import { DecompressionStream, type Format } from "../../lib/codecs/mod.ts";
import { createEventChannel, type EventChannel, type EventChannelOptions } from "../../lib/compression/mod.ts";
import { soon } from "./responses.ts";
import { type FetchServer, serveFetch } from "../static/fetch_server.ts";
import { closeAll, openHttp1, protocols } from "./served.ts";

const servers: FetchServer[] = [];
after(async () => {
  await closeAll();
  for (const server of servers) await server.close();
});

const CODINGS = ["zstd", "gzip", "identity"] as const;
/** All that channels have warned of. */
const warnings: string[] = [];
const formats: Readonly<Record<string, Format>> = { zstd: "zstd", gzip: "gzip" };

async function opened(options: EventChannelOptions = {}): Promise<EventChannel> {
  const channel = createEventChannel({ onWarning: (reason) => void warnings.push(reason), ...options });
  await channel.ready();
  return channel;
}

/** A client of a channel. */
class Client {
  readonly headers: Headers;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(headers: Headers, body: ReadableStream<Uint8Array>) {
    this.headers = headers;
    const coding = headers.get("content-encoding");
    const decoded = coding === null ? body : body.pipeThrough(
      new DecompressionStream(formats[coding]) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>,
    );
    this.#reader = decoded.getReader();
  }

  /** Reads until `text` has come, and returns all up to its end. */
  async until(text: string): Promise<string> {
    while (!this.#text.includes(text)) {
      const { done, value } = await soon(this.#reader.read(), `only ${JSON.stringify(this.#text)} has come`);
      assert.ok(!done, `it ended after ${JSON.stringify(this.#text)}`);
      this.#text += this.#decoder.decode(value, { stream: true });
    }
    const end = this.#text.indexOf(text) + text.length;
    const before = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    return before;
  }

  /** Reads to the end. */
  async rest(): Promise<string> {
    for (;;) {
      const { done, value } = await soon(this.#reader.read(), "it does not end");
      if (done) return this.#text;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}

type Fields = Readonly<Record<string, string>>;

/** The way of a client to a channel. */
type Way = (channel: EventChannel) => Promise<(fields: Fields) => Promise<Client>>;

const ways: Readonly<Record<string, Way>> = {
  "fetch": (channel) =>
    Promise.resolve((fields) => {
      const response = channel.subscribe(new Request("http://localhost/", { headers: fields }));
      return Promise.resolve(new Client(response.headers, response.body!));
    }),
  "http/1.1": (channel) => overNode("http/1.1", channel),
  "h2": (channel) => overNode("h2", channel),
  "the runtime's own server": overOwnServer,
};

/** `Bun.serve()`, `Deno.serve()`, or srvx on Node. */
async function overOwnServer(channel: EventChannel): ReturnType<Way> {
  const server = await serveFetch(channel.subscribe);
  servers.push(server);
  return async (fields) => {
    const { headers, body } = await openHttp1(server.port, { fields });
    return new Client(headersOf(headers), Readable.toWeb(body) as ReadableStream<Uint8Array>);
  };
}

async function overNode(protocol: keyof typeof protocols, channel: EventChannel): ReturnType<Way> {
  const served = await protocols[protocol](channel.node);
  return async (fields) => {
    const { headers, body } = await served.open({ fields });
    return new Client(headersOf(headers), Readable.toWeb(body) as ReadableStream<Uint8Array>);
  };
}

function headersOf(fields: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) if (!name.startsWith(":")) headers.set(name, String(value));
  return headers;
}

function needsDrain(res: ServerResponse): boolean {
  return res.writableNeedDrain ?? (res as unknown as Http2ServerResponse).stream.writableNeedDrain;
}

const asking = (coding: string): Fields => ({ "accept-encoding": coding });

/** Waits until a condition holds. */
async function until(condition: () => boolean, otherwise: string): Promise<void> {
  const started = performance.now();
  while (!condition()) {
    assert.ok(performance.now() - started < 10_000, otherwise);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const long = (i: number): string => JSON.stringify({ number: i, text: "The mill turns. ".repeat(5) });

for (const [name, way] of Object.entries(ways)) {
  for (const coding of CODINGS) {
    test(`${name}, ${coding}: each event is readable when it was sent, also for those who join late`, async () => {
      const channel = await opened();
      const connect = await way(channel);
      const clients: Client[] = [];
      for (let i = 0; i < 12; i++) {
        if (i % 3 === 0 || i === 4) clients.push(await connect(asking(coding)));
        channel.send({ id: String(i), event: "turn", data: long(i) });
        for (const client of clients) {
          const text = await client.until(`${long(i)}\n\n`);
          assert.ok(text.endsWith(`id: ${i}\nevent: turn\ndata: ${long(i)}\n\n`), text);
          assert.equal(text.match(/^data/gm)?.length, 1);
        }
      }
      assert.equal(clients[0].headers.get("content-encoding"), coding === "identity" ? null : coding);
      assert.equal(clients[0].headers.get("content-type"), "text/event-stream");
      assert.equal(clients[0].headers.get("vary"), "Accept-Encoding");
      assert.equal(channel.stats().subscribers, clients.length);
      channel.send({ data: "the last" });
      channel.close();
      for (const client of clients) assert.equal(await client.rest(), "data: the last\n\n");
      assert.equal(channel.stats().subscribers, 0);
    });

    test(`${name}, ${coding}: a client that connects again gets what it missed, once`, async () => {
      const channel = await opened({ history: 5, retry: 10 });
      const connect = await way(channel);
      for (let i = 0; i < 10; i++) channel.send({ id: `é${i}`, data: String(i) });
      const encoded = new TextEncoder().encode("é7").reduce((text, byte) => text + String.fromCharCode(byte), "");
      const client = await connect({ ...asking(coding), "last-event-id": encoded });
      channel.send({ id: "é10", data: "10" });
      const missed = await client.until("data: 10\n\n");
      assert.equal(missed, "retry: 10\n:\n\n" + ["8", "9", "10"].map((i) => `id: é${i}\ndata: ${i}\n\n`).join(""));
      const unknown = await connect({ ...asking(coding), "last-event-id": "1" });
      assert.deepEqual(
        (await unknown.until("data: 10\n\n")).match(/^data: \d+/gm),
        ["6", "7", "8", "9", "10"].map((i) => `data: ${i}`),
      );
      const fresh = await connect(asking(coding));
      channel.send({ data: "now" });
      assert.equal(await fresh.until("data: now\n\n"), "retry: 10\n:\n\ndata: now\n\n");
      channel.close();
      for (const each of [client, unknown]) assert.equal(await each.rest(), "data: now\n\n");
    });
  }

  test(`${name}: clients that leave are forgotten, whenever they do`, async () => {
    const channel = await opened();
    const connect = await way(channel);
    const staying = await connect(asking("zstd"));
    for (let i = 0; i < 12; i++) {
      const client = await connect(asking(CODINGS[i % 3]));
      if (i % 2 === 0) channel.send({ data: String(i) });
      if (i % 4 === 0) await client.until(`data: ${i}\n\n`);
      await client.leave();
    }
    await until(() => channel.stats().subscribers === 1, "clients that left are still subscribers");
    channel.send({ data: "the last" });
    await staying.until("data: the last\n\n");
    channel.close();
  });

  test(`${name}: a comment is sent when there is no event for a while`, async () => {
    const channel = await opened({ heartbeat: 30 });
    const connect = await way(channel);
    const client = await connect(asking("gzip"));
    await client.until(":\n\n:\n\n:\n\n");
    channel.close();
    await client.rest();
  });

  test(`${name}: a closed channel sends subscribers away for good`, async () => {
    const channel = await opened();
    channel.close();
    channel.close();
    assert.throws(() => channel.send({ data: "" }), /cannot send an event: the channel is closed/);
    assert.equal(channel.subscribe(new Request("http://localhost/")).status, 204);
  });
}

for (const coding of CODINGS) {
  test(`${coding}: a subscriber that reads nothing is dropped`, async () => {
    const channel = await opened({ maxBuffered: 2000 });
    const slow = channel.subscribe(new Request("http://localhost/", { headers: asking(coding) }));
    const response = channel.subscribe(new Request("http://localhost/", { headers: asking(coding) }));
    const reading = new Client(response.headers, response.body!);
    for (let i = 0; channel.stats().dropped === 0; i++) {
      assert.ok(i < 1000, "it is not dropped");
      channel.send({ data: String(Math.random()).repeat(10) });
      channel.send({ data: `end of ${i}` });
      await reading.until(`data: end of ${i}\n\n`);
    }
    assert.equal(channel.stats().subscribers, 1);
    await assert.rejects(slow.bytes(), /a subscriber was cut off: it reads too slowly/);
    channel.close();
  });

  test(`${coding}: or skips events until it has read what it was sent`, async () => {
    const channel = await opened({ maxBuffered: 2000, slow: "skip" });
    const request = new Request("http://localhost/", { headers: asking(coding) });
    const slow = channel.subscribe(request);
    const response = channel.subscribe(request);
    const reading = new Client(response.headers, response.body!);
    let i = 0;
    for (; i < 300; i++) {
      channel.send({ data: `${i} ${Math.random()}${Math.random()}` });
      await reading.until(`data: ${i} `);
    }
    assert.equal(channel.stats().skipped, 1);
    const late = new Client(slow.headers, slow.body!);
    let isBack = false;
    const back = late.until("again\n\n").finally(() => isBack = true);
    while (!isBack) {
      channel.send({ data: `${i++} again` });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const numbers = (await back).match(/(?<=^data: )\d+/gm)!.map(Number);
    const first = numbers.pop()!;
    assert.deepEqual(numbers, numbers.map((_, i) => i)); // all up to where it was left out
    assert.ok(numbers.length >= 20 && first > numbers.length, `it goes on with ${first} after ${numbers.length}`);
    for (const end = i + 5; i < end; i++) {
      channel.send({ data: `${i} later` });
      await late.until(`data: ${i} later\n\n`);
    }
    channel.close();
    assert.equal(await late.rest(), "");
    await reading.rest();
  });
}

for (const slow of ["drop", "skip"] as const) {
  test(`${slow}: a subscriber that keeps up gets what is larger than may wait`, async () => {
    const channel = await opened({ maxBuffered: 2000, slow });
    const fields = asking("identity");
    const { body } = channel.subscribe(new Request("http://localhost/", { headers: fields }));
    const bodies: ReadableStream<Uint8Array>[] = [body!];
    const responses: ServerResponse[] = [];
    for (const protocol of ["http/1.1", "h2"] as const) {
      const served = await (await protocols[protocol]((req, res) => {
        responses.push(res);
        channel.node(req, res);
      })).open({ fields });
      bodies.push(Readable.toWeb(served.body) as ReadableStream<Uint8Array>);
    }
    const clients = bodies.map((body) => new Client(new Headers(), body));
    const read = async (text: string): Promise<void> => {
      await Promise.all(clients.map((client) => client.until(text)));
      await until(() => !responses.some(needsDrain), "the responses stay full");
    };
    for (const end of ["one", "two"]) {
      channel.send({ data: `${"x".repeat(300_000)} ${end}` });
      await read(` ${end}\n\n`);
      for (let i = 0; i < 500; i++) channel.send({ data: `many in a turn ${i} ${end}` });
      await read(` 499 ${end}\n\n`);
    }
    const { subscribers, dropped, skipped } = channel.stats();
    assert.deepEqual({ subscribers, dropped, skipped }, { subscribers: 3, dropped: 0, skipped: 0 });
    channel.close();
    await Promise.all(clients.map((client) => client.rest()));
  });
}

for (const protocol of ["http/1.1", "h2"] as const) {
  test(`${protocol}: a client that stalls is dropped, with little in memory`, async () => {
    const channel = await opened();
    const served = await protocols[protocol](channel.node);
    const { body } = await served.open({ fields: asking("identity") });
    const closed = new Promise((resolve) => body.on("close", resolve).on("error", () => {}));
    const data = "x".repeat(256 * 1024);
    for (let i = 0; channel.stats().subscribers > 0; i++) {
      assert.ok(i < 500, "it is not dropped");
      channel.send({ data });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.equal(channel.stats().dropped, 1);
    body.resume();
    await soon(closed, "the client is not told");
  });
}

test("a subscriber whose response has been ended by the server gets nothing more", async () => {
  for (const [protocol, isClosed] of [["http/1.1", false], ["http/1.1", true], ["h2", false], ["h2", true]] as const) {
    const channel = await opened({ maxBuffered: 2 ** 30 });
    const responses: ServerResponse[] = [];
    const served = await protocols[protocol]((req, res) => {
      responses.push(res);
      channel.node(req, res);
    });
    const { body } = await served.open({ fields: asking("identity") });
    body.on("error", () => {});
    for (let i = 0; i < 40; i++) { // more than the system buffers, so that the end is not sent at once
      channel.send({ data: "x".repeat(256 * 1024) });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    responses[0].end();
    if (isClosed) channel.close();
    else channel.send({ data: "later" });
    await until(() => channel.stats().subscribers === 0, "it is still a subscriber");
    channel.close();
    body.destroy();
  }
});

test("a field that would end its line is refused", async () => {
  const channel = await opened();
  for (const field of ["a\nb", "a\rb", "a\r\nb", "a\0b"]) {
    assert.throws(() => channel.send({ data: "", id: field }), /id .* may not contain line breaks or NUL/);
    assert.throws(() => channel.send({ data: "", event: field }), /event .* may not contain line breaks or NUL/);
  }
  assert.throws(() => channel.send({ data: 1 as unknown as string }), /data must be a string, not number/);
  assert.throws(() => channel.send({ data: "", id: 1 as unknown as string }), /id must be a string/);
  const misspelt = { data: "", evnt: "price" } as { data: string };
  assert.throws(() => channel.send(misspelt), /unknown field "evnt" of an event: use data, event, id, retry/);
  assert.throws(() => channel.send({ data: "", retry: -1 }), /retry -1 is not a number of milliseconds/);
  const response = channel.subscribe(new Request("http://localhost/"));
  channel.send({ data: "a\nb\r\nc\rd\n", retry: 5 });
  channel.close();
  assert.equal(await response.text(), ":\n\nretry: 5\ndata: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
});

test("HEAD has the fields alone; brotli is not offered", async () => {
  const channel = await opened();
  const head = channel.subscribe(new Request("http://localhost/", { method: "HEAD", headers: asking("gzip") }));
  assert.equal(head.headers.get("content-encoding"), "gzip");
  assert.equal(await head.text(), "");
  const response = channel.subscribe(new Request("http://localhost/", { headers: asking("br") }));
  assert.equal(response.headers.get("content-encoding"), null);
  assert.equal(channel.stats().subscribers, 1);
  await response.body!.cancel();
  assert.equal(channel.stats().subscribers, 0);
});

test("options of a channel that are none are refused in plain words", () => {
  const wrong: readonly (readonly [options: object, message: RegExp])[] = [
    [{ codings: ["br"] }, /Error: codings\[0\] must be "zstd" or "gzip", not "br"$/],
    [{ level: 3 }, /Error: createEventChannel\(\): unknown option "level"/],
    [{ slow: "wait" }, /Error: slow must be "drop" or "skip", not "wait"$/],
    [{ history: -1 }, /Error: history -1 is out of range/],
    [{ retry: 0.5 }, /Error: retry 0\.5 is out of range/],
    [{ onWarning: 1 }, /Error: onWarning must be a function, not 1$/],
  ];
  for (const [options, message] of wrong) assert.throws(() => createEventChannel(options), message);
});

test("no channel has warned of anything", () => assert.deepEqual(warnings, []));
