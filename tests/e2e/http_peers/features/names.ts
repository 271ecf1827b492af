import assert from "node:assert/strict";
import type { LookupFunction } from "node:net";
import test from "node:test";
import { certificates } from "../../../http/certificates.ts";
import { connectionsMade, visiting } from "../endpoint.ts";
import type { HardServer } from "../hard_servers.ts";

const { ca } = certificates;

/** All names are this machine's. */
const lookup: LookupFunction = (_, { all }, callback) => {
  if (all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(null, "127.0.0.1", 4);
};

/** Two names with one certificate at one address. */
export function testNames({ name, skip, origins }: HardServer): void {
  const urls = (origin: string): string[] =>
    ["one.test", "two.test"].map((host) => `https://${host}:${new URL(origin).port}/`);

  test(`${name}: names that share a certificate have connections of their own`, { skip }, async () => {
    for (const options of [{ tls: { ca } }, { tls: { rejectUnauthorized: false } }, { tls: { ca }, http2: false }]) {
      await visiting({ ...options, lookup }, origins().names, async (visit) => {
        const [one, two] = urls(visit.origin);
        for (let i = 0; i < 3; i++) {
          assert.equal(await (await visit.client.fetch(one)).text(), "one.test");
          assert.equal(await (await visit.client.fetch(two)).text(), "two.test");
        }
        const made = connectionsMade(visit);
        // Over HTTP/1.1 a few of each take turns.
        assert.ok("http2" in options ? made >= 2 : made === 2, `${made} connections`);
      });
    }
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
