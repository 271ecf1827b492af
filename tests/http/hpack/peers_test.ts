import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import test from "node:test";
import { HpackDecoder } from "../../../lib/http/h2/hpack/decoder.ts";
import { HpackEncoder } from "../../../lib/http/h2/hpack/encoder.ts";
import { runtime } from "../../support/runtime.ts";
import { Flag, type Frame, frame, FrameType, PREFACE, readSettings, Setting } from "../faults/http2_frames.ts";

/** A client that sends header blocks to a real server, and gets its own. */
class Client {
  readonly encoder = new HpackEncoder();
  readonly decoder = new HpackDecoder();
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #stream = -1;
  #done: ((head: { status: number; headers: string[]; body: string }) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;
  #headers: string[] = [];
  #status = 0;
  #body = "";

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.write(PREFACE);
    this.#socket.write(frame(FrameType.settings, 0, 0, Buffer.alloc(0)));
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#socket.on("error", (error) => this.#fail?.(error));
    this.#socket.on("close", () => this.#fail?.(new Error("the server hung up")));
  }

  request(path: string, headers: string[]): Promise<{ status: number; headers: string[]; body: string }> {
    this.#stream += 2;
    this.#body = "";
    const head = { method: "GET", scheme: "http", authority: "example.com", path, headers } as const;
    const length = this.encoder.encodeRequest(head, undefined);
    const flags = Flag.endHeaders | Flag.endStream;
    this.#socket.write(frame(FrameType.headers, flags, this.#stream, this.encoder.block.slice(0, length)));
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#fail = reject;
    });
  }

  close(): void {
    this.#fail = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      if (end > this.#rest.length) return;
      this.#takeFrame({
        type: this.#rest[3],
        flags: this.#rest[4],
        stream: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(9, end),
      });
      this.#rest = this.#rest.subarray(end);
    }
  }

  #takeFrame({ type, flags, stream, payload }: Frame): void {
    if (type === FrameType.settings && (flags & Flag.ack) === 0) {
      this.encoder.setMaxTableSize(readSettings(payload).get(Setting.headerTableSize) ?? 4096);
      this.#socket.write(frame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0)));
    } else if (type === FrameType.goaway || type === FrameType.reset) {
      this.#fail?.(new Error(`the server gave up: ${payload.toString("hex")}`));
    } else if (type === FrameType.headers) {
      assert.ok(flags & Flag.endHeaders);
      const start = (flags & Flag.priority ? 5 : 0) + (flags & Flag.padded ? 1 : 0);
      const end = payload.length - (flags & Flag.padded ? payload[0] : 0);
      this.#headers = this.decoder.decodeHead(payload, start, end);
      this.#status = this.decoder.status;
      assert.equal(this.decoder.malformed, "");
    } else if (type === FrameType.data) {
      this.#body += payload.toString();
      for (const target of [0, stream]) {
        const grown = Buffer.alloc(4);
        grown.writeUInt32BE(Math.max(payload.length, 1));
        this.#socket.write(frame(FrameType.windowUpdate, 0, target, grown));
      }
    }
    if ((type === FrameType.headers || type === FrameType.data) && flags & Flag.endStream) {
      this.#done?.({ status: this.#status, headers: this.#headers, body: this.#body });
    }
  }
}

/**
 * Starts a server that responds with the fields it received, in the body, and those that begin with x- also as fields.
 */
async function startEcho(headerTableSize: number | undefined): Promise<{ server: Http2Server; port: number }> {
  const server = createServer(headerTableSize === undefined ? {} : { settings: { headerTableSize } });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    const echoed = Object.entries(headers).filter(([name]) => name.startsWith("x-"));
    stream.respond({ ":status": 203, "content-type": "application/json", ...Object.fromEntries(echoed) });
    stream.end(JSON.stringify(Object.entries(headers).filter(([name]) => typeof name === "string")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

for (const size of [undefined, 0, 300, 65_536]) {
  const settings = size === undefined ? "" : ` with a header table of ${size} bytes`;
  // The table size in a server's SETTINGS is independent of the table of its encoder, except in Bun.
  const skip = runtime === "deno"
    ? "Deno's node:http2 server now and then aborts its process"
    : runtime === "bun" && size === 65_536 && "Bun's server uses the table size of its own SETTINGS for encoding";
  test(`The runtime's own HTTP/2 server${settings} sees the headers we encode, and we see its`, { skip }, async () => {
    const { server, port } = await startEcho(size);
    const client = new Client(port);
    try {
      for (let i = 0; i < 60; i++) {
        const headers = [
          ...["accept", "*/*", "user-agent", "a test", "x-same", "the same on each request", "x-number", String(i)],
          ...[
            "x-some",
            `~${"z".repeat(i * 10)}|${i % 3}`,
            `x-name-${i % 7}`,
            '{"a": [1, 2]}',
            "authorization",
            `Bearer ${i}`,
          ],
        ];
        const path = i % 4 === 0 ? "/again" : `/path/${i}?q=%20&r='"<>`;
        const response = await client.request(path, headers);
        const seen = new Map(JSON.parse(response.body) as [string, string][]);
        const sent = [":method", "GET", ":scheme", "http", ":authority", "example.com", ":path", path, ...headers];
        for (let j = 0; j < sent.length; j += 2) {
          assert.equal(seen.get(sent[j]), sent[j + 1], `${sent[j]} of request ${i}`);
        }
        assert.equal(response.status, 203);
        for (let j = 0; j < headers.length; j += 2) {
          if (!headers[j].startsWith("x-")) continue;
          const at = response.headers.indexOf(headers[j]);
          assert.equal(response.headers[at + 1], headers[j + 1], `${headers[j]} of response ${i}`);
        }
        assert.equal(response.headers[response.headers.indexOf("content-type") + 1], "application/json");
      }
    } finally {
      client.close();
      server.close();
    }
  });
}
