import assert from "node:assert/strict";
import test from "node:test";
import { type Endpoint, mostConnections, optionsFor, protocolOf, type Visit, visiting } from "../endpoint.ts";
import { isLong } from "../../../support/long_run.ts";
import { pattern } from "../pattern.ts";
import { sha256 } from "./bodies.ts";

/** The number of requests, above every server's limit of concurrent ones on a connection. */
const MANY = isLong ? 300 : 130;

/** Tests more concurrent requests than a server accepts on one connection. */
export function testBursts(endpoint: Endpoint): void {
  const { name, skip, kind } = endpoint;

  test(`${name}: ${MANY} requests at once are all answered`, { skip }, async () => {
    // A TLS handshake is the dearest thing here.
    const options = kind === "h1s" ? { ...optionsFor(kind), connections: 64 } : optionsFor(kind);
    await visiting(options, endpoint.origin(), async (visit) => {
      await burst(visit, MANY);
      if (protocolOf(endpoint) === "h2") {
        assert.ok(mostConnections(visit) < 12, `${mostConnections(visit)} connections`);
      }
    });
  });

  test(
    `${name}: 100 requests at once are all answered on ${
      protocolOf(endpoint) === "h2" ? "one connection" : "six connections"
    }`,
    { skip },
    async () => {
      const connections = protocolOf(endpoint) === "h2" ? 1 : 6;
      await visiting({ ...optionsFor(kind), connections }, endpoint.origin(), async (visit) => {
        await burst(visit, 100);
        assert.ok(mostConnections(visit) <= connections, `${mostConnections(visit)} connections`);
        assert.equal(visit.client.stats().queued, 0);
      });
    },
  );
}

async function burst(
  { client, origin, events }: Visit,
  count: number,
): Promise<void> {
  const expected = pattern(3000);
  const digest = sha256(expected);
  const requests = Array.from({ length: count }, async (_, i) => {
    if (i % 3 === 0) return assert.equal(await (await client.fetch(`${origin}/wait?ms=20`)).text(), "waited");
    if (i % 3 === 1) return assert.equal(sha256(await (await client.fetch(`${origin}/bytes?n=3000`)).bytes()), digest);
    const response = await client.fetch(`${origin}/digest`, { method: "POST", body: expected });
    assert.deepEqual(await response.json(), { method: "POST", bytes: 3000, sha256: digest });
  });
  await Promise.all(requests);
  assert.deepEqual(events.filter(({ type }) => type === "failed"), []);
  assert.equal(client.stats().requests, count);
}
