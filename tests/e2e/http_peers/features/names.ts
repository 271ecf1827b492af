import assert from "node:assert/strict";
import type { LookupFunction } from "node:net";
import test from "node:test";
import { certificates } from "../../../http/certificates.ts";
import { connectionsMade, visiting } from "../endpoint.ts";
import type { HardServer } from "../hard_servers.ts";

const { ca, client: own } = certificates;

/** All names are this machine's. */
const lookup: LookupFunction = (_, { all }, callback) => {
  if (all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(null, "127.0.0.1", 4);
};

/** Two names with one certificate at one address. */
export function testNames({ name, skip, origins }: HardServer): void {
  const urls = (origin: string): string[] =>
    ["one.test", "two.test"].map((host) => `https://${host}:${new URL(origin).port}/`);

  test(`${name}: one session carries the requests to two names that share a certificate`, { skip }, async () => {
    await visiting({ tls: { ca }, lookup, coalesce: true }, origins().names, async (visit) => {
      const [one, two] = urls(visit.origin);
      for (let i = 0; i < 3; i++) {
        assert.equal(await (await visit.client.fetch(one)).text(), "one.test");
        assert.equal(await (await visit.client.fetch(two)).text(), "two.test");
      }
      assert.equal(connectionsMade(visit), 1);
    });
  });

  test(
    `${name}: names have connections of their own unless asked, where the certificate is not checked, or over HTTP/1.1`,
    { skip },
    async () => {
      const unchecked = { tls: { rejectUnauthorized: false }, coalesce: true };
      const http1 = { tls: { ca }, http2: false, coalesce: true };
      for (const options of [{ tls: { ca } }, unchecked, http1]) {
        await visiting({ ...options, lookup }, origins().names, async (visit) => {
          const [one, two] = urls(visit.origin);
          for (let i = 0; i < 3; i++) {
            assert.equal(await (await visit.client.fetch(one)).text(), "one.test");
            assert.equal(await (await visit.client.fetch(two)).text(), "two.test");
          }
          assert.equal(connectionsMade(visit), 2);
        });
      }
    },
  );

  test(`${name}: a request that is misdirected (421) is sent again to where it belongs`, { skip }, async () => {
    await visiting({ tls: { ca, ...own }, lookup, coalesce: true }, origins().misdirected, async (visit) => {
      const { client, origin, events } = visit;
      const [one, two] = urls(origin);
      for (let i = 0; i < 3; i++) {
        assert.equal(await (await client.fetch(one)).text(), "one.test");
        const response = await client.fetch(two, i === 1 ? { method: "POST", body: "something" } : {});
        assert.equal(await response.text(), "two.test");
      }
      assert.equal(connectionsMade(visit), 2);
      assert.equal(events.filter((event) => event.type === "response" && event.status === 421).length, 1);
    });
  });

  test(`${name}: a name that the certificate is not for is refused`, { skip }, async () => {
    await visiting({ tls: { ca }, lookup }, origins().names, async ({ client, origin }) => {
      const [one] = urls(origin);
      await (await client.fetch(one)).text();
      const three = one.replace("one.test", "three.test");
      await assert.rejects(client.fetch(three), { code: "CERTIFICATE_HOST_MISMATCH", origin: new URL(three).origin });
    });
  });
}
