import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { openAsBlob, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import type { Socket } from "node:net";
import type { HttpClientOptions, HttpRequestBody } from "../../../lib/http/mod.ts";
import { isLong } from "../../support/long_run.ts";
import { pause, until } from "../../support/waits.ts";
import { certificates } from "../certificates.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { leavesNothing, type Scene } from "../leaves_nothing.ts";

const KINDS = {
  "http/1.1": { isHttp2: false, isSecure: false },
  "http/1.1 over TLS": { isHttp2: false, isSecure: true },
  h2: { isHttp2: true, isSecure: true },
  h2c: { isHttp2: true, isSecure: false },
};

type Kind = keyof typeof KINDS;

function serve(
  kind: Kind,
  client: HttpClientOptions,
  onRequest: (request: ServerRequest) => void,
  act: (scene: Scene & { requests: ServerRequest[] }) => Promise<void>,
): Promise<void> {
  const { isHttp2, isSecure } = KINDS[kind];
  const requests: ServerRequest[] = [];
  const owner = {
    settings: {},
    violations: [],
    onRequest: (request: ServerRequest): void => {
      requests.push(request);
      onRequest(request);
    },
  };
  const { cert, key } = certificates;
  return leavesNothing({
    client: { h2c: kind === "h2c", ...client },
    listener: isSecure ? { certificate: { cert, key }, alpn: [isHttp2 ? "h2" : "http/1.1"] } : {},
    onSocket: (socket: Socket) => void (isHttp2 ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner)),
  }, (scene) => act({ ...scene, requests }));
}

/** A request body and the state of its source. */
interface Source {
  readonly body: HttpRequestBody;
  /** Whether the source has ended, has failed or was cancelled. */
  readonly isOver: () => boolean;
}

type Piece = Uint8Array | Error;

/** Yields each piece in a separate turn; an Error is thrown. */
async function* generated(pieces: readonly Piece[], onOver: () => void): AsyncGenerator<Uint8Array> {
  try {
    for (const piece of pieces) {
      await pause(1);
      if (piece instanceof Error) throw piece;
      yield piece;
    }
    await pause(1);
  } finally {
    onOver();
  }
}

const sources: Record<string, (pieces: readonly Piece[]) => Source> = {
  generator(pieces) {
    let isOver = false;
    return { body: generated(pieces, () => isOver = true), isOver: () => isOver };
  },
  stream(pieces) {
    let isOver = false;
    const left = generated(pieces, () => isOver = true);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        const { done, value } = await left.next();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array<ArrayBuffer>);
      },
      cancel: async () => {
        isOver = true;
        await left.return(undefined);
      },
    }, { highWaterMark: 0 });
    return { body, isOver: () => isOver };
  },
  "Readable of Node"(pieces) {
    const body = Readable.from(generated(pieces, () => {}), { objectMode: false });
    return { body: body as unknown as HttpRequestBody, isOver: () => body.destroyed };
  },
};

/** The bytes that exceed what the system keeps for a server that does not read. */
const LARGE = 8_000_000;
const abc = Buffer.from("abc");
const def = Buffer.from("def");
const faults: Record<string, readonly Piece[]> = {
  "more than its length": [abc, def, def],
  "a failure behind its last byte": [abc, def, new Error("disk gone")],
  "less than its length": [abc],
  "a failure in its middle": [abc, new Error("disk gone")],
};

let folder = "";
before(async () => void (folder = await mkdtemp(join(tmpdir(), "whole-"))));
after(() => rm(folder, { recursive: true }));

function file(bytes: Uint8Array): Promise<Blob> | Blob {
  const path = join(folder, "file");
  writeFileSync(path, bytes);
  const { Bun } = globalThis as { Bun?: { file(path: string): Blob } };
  return Bun === undefined ? openAsBlob(path) : Bun.file(path);
}

/** Bodies that are given as one. */
const wholes: Record<string, (bytes: Uint8Array<ArrayBuffer>) => HttpRequestBody | Promise<HttpRequestBody>> = {
  bytes: (bytes) => bytes,
  Blob: (bytes) => new Blob([bytes]),
  file,
  form(bytes) {
    const form = new FormData();
    form.append("file", new Blob([bytes]), "a.bin");
    return form;
  },
};

const answerWhole = (request: ServerRequest): void =>
  whenWhole(request, () => respond(request, 200, Buffer.from(String(request.received))));

const answerEarly = (status: number) => (request: ServerRequest): void => {
  request.isHolding = true;
  respond(request, status, Buffer.from("early"));
};

for (const kind of Object.keys(KINDS) as Kind[]) {
  test(`${kind}: a body is whole for the server only once its source has ended, and each source is ended`, () =>
    serve(kind, {}, answerWhole, async ({ client, url, requests }) => {
      const put = (body: HttpRequestBody, headers: Record<string, string> = {}): Promise<Response> =>
        client.fetch(url, { method: "PUT", body, headers });
      const known = { "content-length": "6" };
      for (const [name, make] of Object.entries(sources)) {
        for (const headers of [known, {}]) {
          const { body, isOver } = make([abc, def]);
          assert.equal(await (await put(body, headers as Record<string, string>)).text(), "6", name);
          await until(isOver, `the end of a ${name}`);
        }
        for (const [fault, pieces] of Object.entries(faults)) {
          const { body, isOver } = make(pieces);
          await assert.rejects(put(body, known), { code: "BODY_FAILED" }, `${name} with ${fault}`);
          assert.equal(requests.at(-1)!.isWhole, false, `${name} with ${fault}`);
          await until(isOver, `the end of a ${name} with ${fault}`);
        }
        const surplus = make([abc]);
        await assert.rejects(put(surplus.body, { "content-length": "0" }), { code: "BODY_FAILED" }, `${name} for none`);
        await until(surplus.isOver, `the end of a ${name} for none`);
      }
      for (const [name, make] of Object.entries(wholes)) {
        const length = Number(await (await put(await make(new Uint8Array(100_000)))).text());
        assert.ok(name === "form" ? length > 100_000 : length === 100_000, name);
      }
    }));

  test(`${kind}: what is left of a body is sent after an early 2xx, as if that had come late`, () =>
    serve(kind, {}, answerEarly(200), async ({ client, url, requests }) => {
      const bytes = new Uint8Array(200_000).fill(7);
      const pieces = [bytes.subarray(0, 100_000), bytes.subarray(100_000)];
      const bodies: Record<string, () => HttpRequestBody | Promise<HttpRequestBody>> = {};
      for (const [name, make] of Object.entries(wholes)) bodies[name] = () => make(bytes);
      for (const [name, make] of Object.entries(sources)) bodies[name] = () => make(pieces).body;
      bodies.large = () => new Uint8Array(LARGE).fill(7);
      for (const [name, make] of Object.entries(bodies)) {
        const response = await client.fetch(url, { method: "POST", body: await make() });
        assert.equal(await response.text(), "early", name);
        const request = requests.at(-1)!;
        if (KINDS[kind].isHttp2 || name === "large") assert.equal(request.isWhole, false, name);
        request.isHolding = false;
        await until(() => request.isWhole || request.isGone, `the end of a ${name}`);
        assert.equal(request.isWhole, true, name);
        if (name !== "form") assert.equal(request.sum, 7 * (name === "large" ? LARGE : bytes.length), name);
      }
    }));

  if (KINDS[kind].isSecure && !isLong) continue;
  if (KINDS[kind].isHttp2) {
    test(`${kind}: a server that goes on taking a body after an early 2xx gets all of it, however long that takes`, () =>
      serve(kind, { bodyTimeout: 250 }, answerEarly(200), async ({ client, url, requests }) => {
        const all = new Uint8Array(1_500_000).fill(7);
        for (const make of [() => all, () => sources.stream([all]).body]) {
          await (await client.fetch(url, { method: "POST", body: make() })).text();
          const request = requests.at(-1)!;
          request.onBytes = () => request.isHolding = true;
          const steps = setInterval(() => request.isHolding = false, 20);
          await until(() => request.isWhole || request.isGone, "the end of the body");
          clearInterval(steps);
          request.isHolding = false;
          assert.equal(request.isWhole, true);
        }
      }));
  }
  test(`${kind}: what is left of a body after an early response is given up by status, signal, close() and timeout`, () =>
    serve(kind, { bodyTimeout: 50, closeTimeout: 50 }, (request) => {
      answerEarly(Number(request.path.slice(1)))(request);
    }, async ({ client, url, requests }) => {
      const stream = (): Source => sources.stream(Array.from({ length: 100 }, () => new Uint8Array(100_000)));
      const ways: [number, (abort: AbortController) => void][] = [
        [403, () => {}],
        [200, () => {}], // the timeout
        [201, (abort) => abort.abort()],
        [202, () => void client.close()],
      ];
      for (const [status, giveUp] of ways) {
        for (const { body, isOver } of [{ body: new Uint8Array(LARGE), isOver: () => true }, stream()]) {
          if (status === 202 && body instanceof Uint8Array) continue;
          const abort = new AbortController();
          const init = { method: "POST", body, signal: abort.signal };
          const response = await client.fetch(`${url}/${status}`, init);
          assert.equal(await response.text(), "early", String(status));
          giveUp(abort);
          const request = requests.at(-1)!;
          await until(() => isOver() && client.stats().active === 0, `the end of the source (${status})`);
          request.isHolding = false;
          await until(() => request.isGone || request.socket.destroyed, `the end of the request (${status})`);
          assert.equal(request.isWhole, false, String(status));
          if (KINDS[kind].isHttp2) {
            assert.equal((request as unknown as { resetCode?: number }).resetCode, 8, String(status));
          }
        }
      }
    }));
}
