import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { pause, until } from "../../../support/waits.ts";
import { isLong } from "../../../support/long_run.ts";
import { assertFewConnections, type Endpoint, protocolOf, visitingEndpoint } from "../endpoint.ts";
import { pattern } from "../pattern.ts";
import { pieces, sha256 } from "./bodies.ts";

/** The bytes that exceed all buffers and windows between a client and a server. */
const LARGE = (isLong ? 10 : 3) * 2 ** 20;
/** The bytes that exceed all buffers between a client and a server. */
const UNWANTED = 4 * 2 ** 20;

/** Tests large bodies in both directions, slow readers, clients that disconnect, and servers that refuse the rest. */
export function testStreams(endpoint: Endpoint): void {
  const { name, skip, lacks } = endpoint;
  // A proxy that sends all of a request before it reads the response waits for ever for an echo.
  const path = lacks.has("large duplex") ? "mirror" : "echo";

  test(`${name}: megabytes of a length that is known come back as they went`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      const bytes = pattern(LARGE);
      const response = await client.fetch(`${origin}/${path}`, { method: "POST", body: bytes });
      if (!lacks.has("lengths")) assert.equal(response.headers.get("x-length"), String(LARGE));
      assert.equal(sha256(await response.bytes()), sha256(bytes));
    });
  });

  test(`${name}: megabytes of a stream come back as they went`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      const bytes = pattern(LARGE);
      const response = await client.fetch(`${origin}/${path}`, { method: "PUT", body: pieces(bytes), duplex: "half" });
      if (!lacks.has("lengths")) assert.equal(response.headers.get("x-length"), "none");
      assert.equal(sha256(await response.bytes()), sha256(bytes));
    });
  });

  test(`${name}: short streams and empty ones arrive whole`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      for (const size of [0, 1, 2000, 70_000]) {
        const bytes = pattern(size);
        const response = await client.fetch(`${origin}/digest`, {
          method: "POST",
          body: pieces(bytes),
          duplex: "half",
        });
        assert.deepEqual(await response.json(), { method: "POST", bytes: size, sha256: sha256(bytes) });
      }
    });
  });

  if (!lacks.has("duplex")) testDuplex(endpoint);
  testLeaving(endpoint);
  testSlowReader(endpoint);
  testRefusals(endpoint);
  testHalf(endpoint);
}

function testDuplex(endpoint: Endpoint): void {
  test(`${endpoint.name}: a request and its response talk to each other`, { skip: endpoint.skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      let send!: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (send = controller) });
      send.enqueue(Buffer.from("word 0"));
      const response = await client.fetch(`${origin}/echo`, { method: "POST", body, duplex: "full" });
      const reader = response.body!.getReader();
      for (let i = 0; i < 5; i++) {
        let heard = "";
        while (heard.length < 6) heard += Buffer.from((await reader.read()).value!).toString();
        assert.equal(heard, `word ${i}`);
        if (i < 4) send.enqueue(Buffer.from(`word ${i + 1}`));
      }
      send.close();
      assert.equal((await reader.read()).done, true);
    });
  });
}

function testLeaving(endpoint: Endpoint): void {
  const { name, skip } = endpoint;
  const kept = protocolOf(endpoint) === "h2";

  test(
    `${name}: who leaves a body that has no end is forgotten by the server${
      kept ? ", and the connection is kept" : ""
    }`,
    { skip },
    async () => {
      await visitingEndpoint(endpoint, async (visit) => {
        const { client, origin } = visit;
        const controller = new AbortController();
        const left = await client.fetch(`${origin}/drip`, { signal: controller.signal });
        const reader = left.body!.getReader();
        for (let i = 0; i < 3; i++) assert.ok((await reader.read()).value!.length > 0);
        controller.abort();
        await assert.rejects(reader.read(), { name: "AbortError" });

        const cancelled = await client.fetch(`${origin}/drip`);
        await cancelled.body!.cancel();

        const unheard = new AbortController();
        const waiting = client.fetch(`${origin}/wait?ms=20000`, { signal: unheard.signal });
        setTimeout(() => unheard.abort(new RangeError("no longer")), 20);
        await assert.rejects(waiting, { name: "RangeError", message: "no longer" });

        await until(
          async () => await (await client.fetch(`${origin}/dripping`)).text() === "0",
          "the end of both bodies",
        );
        if (kept) assertFewConnections(visit);
        await until(() => client.stats().active === 0, "the end of the requests");
      });
    },
  );
}

function testSlowReader(endpoint: Endpoint): void {
  test(`${endpoint.name}: a slow reader keeps nobody waiting and loses nothing`, { skip: endpoint.skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      const size = 4 * 2 ** 20;
      const slow = await client.fetch(`${origin}/stream?n=${size}`);
      const others = Array.from({ length: 20 }, async () => {
        const response = await client.fetch(`${origin}/bytes?n=100000`);
        assert.equal((await response.bytes()).length, 100_000);
      });
      await Promise.all(others);
      const chunks: Uint8Array[] = [];
      let paused = 0;
      for await (const chunk of slow.body!) {
        chunks.push(chunk);
        if (paused++ < 20) await pause(2);
      }
      assert.equal(sha256(Buffer.concat(chunks)), sha256(pattern(size)));
    });
  });
}

function testRefusals(endpoint: Endpoint): void {
  const { name, skip } = endpoint;

  test(`${name}: an answer to a body that the server does not want is heard`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      for (const body of [pattern(UNWANTED), pieces(pattern(UNWANTED))]) {
        const response = await client.fetch(`${origin}/refuse`, { method: "PUT", body, duplex: "half" });
        assert.equal(response.status, 413);
        assert.ok((await response.text()).length > 0);
        assert.equal(await (await client.fetch(`${origin}/hello`)).text(), "hello");
      }
    });
  });
}

function testHalf(endpoint: Endpoint): void {
  const { name, skip } = endpoint;

  test(`${name}: half of a body is an error, and the next request has its answer`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      // Head and reset may arrive together, so that there is no response.
      const half = client.fetch(`${origin}/half`).then((response) => response.bytes());
      await assert.rejects(half, (error: Error & { code?: string; origin?: string }) => {
        const codes = ["CONNECTION_LOST", "RESET", "PROTOCOL_ERROR"];
        assert.ok(codes.includes(error.code ?? ""), `${error.code}: ${error.message}`);
        assert.equal(error.origin, origin);
        return true;
      });
      assert.equal(await (await client.fetch(`${origin}/hello`)).text(), "hello");
    });
  });
}
