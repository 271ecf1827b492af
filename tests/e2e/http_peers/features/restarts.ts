import assert from "node:assert/strict";
import test from "node:test";
import { pause, until } from "../../../support/waits.ts";
import { connectionsMade, optionsFor, type Visit, visiting } from "../endpoint.ts";
import { pattern } from "../pattern.ts";
import { sha256 } from "./bodies.ts";

const LANES = 20;

/** A server that restarts on request. */
export interface RestartingServer {
  readonly name: string;
  readonly skip: string | false;
  readonly origins: () => { readonly h2?: string; readonly h1s?: string };
  /** Makes the server reload its configuration, as gracefully as it can. */
  readonly reload: () => void;
}

/** Servers that take up their configuration again while requests run. */
export function testRestarts({ name, skip, origins, reload }: RestartingServer): void {
  for (const kind of ["h2", "h1s"] as const) {
    const spoken = kind === "h2" ? "h2" : "HTTP/1.1 over TLS";

    test(`${name}, ${spoken}: a server that reloads three times under load loses nothing`, { skip }, async () => {
      // On a busy machine a request may meet each of the connections that the server has just closed.
      await visiting({ ...optionsFor(kind), retries: LANES }, origins()[kind]!, async (visit) => {
        let ended = false;
        let answered = 0;
        const more = (): Promise<void> => {
          const least = answered + LANES;
          return until(() => ended || answered > least, "answers between two reloads");
        };
        const lanes = Array.from({ length: LANES }, async (_, lane) => {
          for (let i = 0; !ended; i++) {
            await one(visit, lane + i);
            answered++;
          }
        });
        const reloading = (async () => {
          for (let i = 0; i < 3; i++) {
            await pause(150);
            await more();
            reload();
          }
          await pause(300);
          await more();
          ended = true;
        })();
        await Promise.all([reloading, ...lanes]).finally(() => void (ended = true));
        assert.ok(answered > LANES);
        assert.equal(visit.client.stats().requests, answered);
        assert.ok(connectionsMade(visit) > 1);
      });
    });

    test(`${name}, ${spoken}: a body that is being read when the server reloads comes whole`, { skip }, async () => {
      await visiting(optionsFor(kind), origins()[kind]!, async ({ client, origin }) => {
        const size = 6 * 2 ** 20;
        const response = await client.fetch(`${origin}/stream?n=${size}`);
        const reader = response.body!.getReader();
        const chunks: Uint8Array[] = [(await reader.read()).value!];
        reload();
        await pause(200);
        for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value);
        assert.equal(sha256(Buffer.concat(chunks)), sha256(pattern(size)));
        assert.equal(await (await client.fetch(`${origin}/hello`)).text(), "hello");
      });
    });
  }
}

/** A request that may be repeated if its connection is lost. */
async function one({ client, origin }: Visit, i: number): Promise<void> {
  if (i % 2 === 0) return assert.equal(await (await client.fetch(`${origin}/wait?ms=5`)).text(), "waited");
  const body = pattern(1000 + i);
  const response = await client.fetch(`${origin}/digest`, { method: "PUT", body });
  assert.deepEqual(await response.json(), { method: "PUT", bytes: body.length, sha256: sha256(body) });
}
