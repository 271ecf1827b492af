import assert from "node:assert/strict";
import test from "node:test";
import { pause } from "../../../support/waits.ts";
import { connectionsMade, optionsFor, visiting } from "../endpoint.ts";
import type { HardServer } from "../hard_servers.ts";
import { pattern } from "../pattern.ts";
import { sha256 } from "./bodies.ts";

/** Servers that end connections soon. */
export function testKeepAlive(server: HardServer): void {
  const { name, skip, lacks, origins } = server;

  for (const [kind, few] of [["h2", "fewH2"], ["h1s", "fewH1s"]] as const) {
    if (lacks.has(few)) continue;
    const spoken = kind === "h2" ? "h2" : "HTTP/1.1 over TLS";
    for (const [words, wave] of [["one after the other", 1], ["40 at a time", 40], ["200 at once", 200]] as const) {
      test(`${name}, ${spoken}: 200 requests ${words} are answered, ten a connection`, { skip }, async () => {
        // Each connection that ends refuses, of HTTP/2, all that were to follow the tenth.
        await visiting(
          { ...optionsFor(kind), connections: 8, retries: Math.ceil(wave / 10) },
          origins()[few],
          async (visit) => {
            const { client, origin, events } = visit;
            const body = pattern(500);
            const one = async (i: number): Promise<void> => {
              // A server that announced the close has not processed later requests: POST is repeated, too.
              const init = i % 2 === 0 ? { method: "POST", body } : { method: "PUT", body };
              const response = await client.fetch(`${origin}/digest`, init);
              assert.deepEqual(await response.json(), { method: init.method, bytes: 500, sha256: sha256(body) });
            };
            for (let i = 0; i < 200; i += wave) await Promise.all(Array.from({ length: wave }, (_, j) => one(i + j)));
            assert.deepEqual(events.filter(({ type }) => type === "failed"), []);
            assert.ok(connectionsMade(visit) >= 20, `${connectionsMade(visit)} connections`);
          },
        );
      });
    }
  }

  test(
    `${name}: connections that the server closes at the moment of use cost an attempt, not an answer`,
    { skip },
    async () => {
      await visiting({}, origins().brief, async ({ client, origin, events }) => {
        const lanes = Array.from({ length: 20 }, async (_, lane) => {
          for (let i = 0; i < 8; i++) {
            assert.equal(await (await client.fetch(`${origin}/hello`)).text(), "hello");
            await pause(96 + (lane + i) % 8);
          }
        });
        await Promise.all(lanes);
        assert.deepEqual(events.filter(({ type }) => type === "failed"), []);
      });
    },
  );

  if (!lacks.has("old")) testOldServer(server);
  if (name === "nginx") testZipped(server);
}

function testOldServer({ name, skip, origins }: HardServer): void {
  test(`${name}: answers of HTTP/1.0 end with their connection`, { skip }, async () => {
    await visiting({}, origins().old, async ({ client, origin }) => {
      for (let i = 0; i < 3; i++) {
        const unmeasured = await client.fetch(`${origin}/stream?n=100000`);
        assert.equal(sha256(await unmeasured.bytes()), sha256(pattern(100_000)));
        const measured = await client.fetch(`${origin}/bytes?n=1000`);
        assert.equal(measured.headers.get("content-length"), "1000");
        assert.equal((await measured.bytes()).length, 1000);
        assert.equal((await client.fetch(`${origin}/bytes?n=1000`, { method: "HEAD" })).status, 200);
        const posted = await client.fetch(`${origin}/mirror`, { method: "POST", body: pattern(70_000) });
        assert.equal((await posted.bytes()).length, 70_000);
      }
    });
  });
}

function testZipped({ name, skip, origins }: HardServer): void {
  test(`${name}: what it compresses on the way is decoded`, { skip }, async () => {
    for (const kind of ["h2", "h1s"] as const) {
      await visiting(optionsFor(kind), origins()[kind], async ({ client, origin }) => {
        const response = await client.fetch(`${origin}/zipped?n=300000`);
        assert.equal(response.headers.get("content-encoding"), "gzip");
        assert.equal(sha256(await response.bytes()), sha256(pattern(300_000)));
      });
    }
  });
}
