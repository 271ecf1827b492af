import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { mostConnections, optionsFor, type Visit, visiting } from "../endpoint.ts";
import { NGHTTPD_STREAMS, noNghttpd, startNghttpd } from "../nghttpd.ts";
import { pattern } from "../pattern.ts";
import type { PeerProcess } from "../processes.ts";
import { pieces, sha256 } from "./bodies.ts";

/** nghttpd, which serves files and echoes, and has the HTTP/2 of curl, Apache httpd and Node in its plainest form. */
export function testNghttpd(kind: "h2" | "h2c"): void {
  const skip = noNghttpd;
  const name = kind === "h2" ? "nghttpd, h2" : "nghttpd, h2 without TLS";
  let folder = "";
  let server: PeerProcess | undefined;

  before(async () => {
    if (skip) return;
    folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-nghttpd-")));
    server = await startNghttpd(folder, kind);
  });
  after(async () => {
    await server?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  function visit(connections: number, visit: (visit: Visit) => Promise<void>): Promise<void> {
    return visiting({ ...optionsFor(kind), connections }, server!.origins[kind]!, visit);
  }

  test(`${name}: files come whole, pushes are refused and trailers do no harm`, { skip }, async () => {
    await visit(1, async (visit) => {
      const { client, origin } = visit;
      for (let i = 0; i < 3; i++) {
        assert.equal(await (await client.fetch(`${origin}/hello`)).text(), "hello");
        const large = await client.fetch(`${origin}/large`);
        assert.equal(large.headers.get("content-length"), String(2 ** 20));
        assert.equal(sha256(await large.bytes()), sha256(pattern(2 ** 20)));
        const head = await client.fetch(`${origin}/large`, { method: "HEAD" });
        assert.equal(head.headers.get("content-length"), String(2 ** 20));
        assert.equal((await client.fetch(`${origin}/nothing`)).status, 404);
        const modified = large.headers.get("last-modified")!;
        const known = await client.fetch(`${origin}/large`, { headers: { "if-modified-since": modified } });
        assert.equal(known.status, 304);
      }
      assert.equal(mostConnections(visit), 1);
    });
  });

  test(`${name}: 10 MiB come back as they went`, { skip }, async () => {
    await visit(1, async ({ client, origin }) => {
      const bytes = pattern(10 * 2 ** 20);
      for (const body of [bytes, pieces(bytes)]) {
        const response = await client.fetch(`${origin}/echo`, { method: "POST", body, duplex: "half" });
        assert.equal(sha256(await response.bytes()), sha256(bytes));
      }
    });
  });

  test(`${name}: 300 requests at once never are more streams than it allows`, { skip }, async () => {
    for (const connections of [1, 256]) {
      await visit(connections, async (visit) => {
        const { client, origin, events } = visit;
        const requests = Array.from({ length: 300 }, async () => {
          assert.equal(await (await client.fetch(`${origin}/other`)).text(), "other");
        });
        await Promise.all(requests);
        assert.deepEqual(events.filter(({ type }) => type === "failed" || type === "retry"), []);
        const most = Math.min(connections, Math.ceil(300 / NGHTTPD_STREAMS));
        assert.ok(mostConnections(visit) <= most, `${mostConnections(visit)} connections`);
      });
    }
  });
}
