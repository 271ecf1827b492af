import assert from "node:assert/strict";
import test from "node:test";
import { certificates } from "../../../http/certificates.ts";
import type { HttpTlsOptions } from "../../../../lib/http/mod.ts";
import { visiting } from "../endpoint.ts";

/** An endpoint that demands a certificate of its clients. */
export interface VerifyingEndpoint {
  readonly name: string;
  readonly skip: string | false;
  readonly origin: () => string;
}

const { ca, client, clientPfx, lockedClientKey, stranger } = certificates;

const known: Readonly<Record<string, HttpTlsOptions>> = {
  "a certificate and its key": { ca, ...client },
  "a certificate and a key that is locked": { ca, cert: client.cert, key: lockedClientKey, passphrase: "open" },
  "both in one PKCS #12 file": { ca, pfx: clientPfx, passphrase: "open" },
};
const unknown: Readonly<Record<string, HttpTlsOptions>> = {
  "without a certificate": { ca },
  "with a stranger's": { ca, ...stranger },
};

/** Client certificates. */
export function testVerifiedClients({ name, skip, origin }: VerifyingEndpoint): void {
  for (const http2 of [true, false]) {
    const spoken = http2 ? "h2" : "HTTP/1.1";

    test(`${name}, ${spoken}: a client with a certificate is let in`, { skip }, async () => {
      for (const [words, tls] of Object.entries(known)) {
        await visiting({ tls, http2 }, origin(), async ({ client, origin }) => {
          assert.equal((await client.fetch(`${origin}/hello`)).status, 200, words);
          assert.equal((await client.fetch(`${origin}/hello`, { method: "HEAD" })).status, 200, words);
        });
      }
    });

    test(`${name}, ${spoken}: a client without a good one is not`, { skip }, async () => {
      for (const [words, tls] of Object.entries(unknown)) {
        await visiting({ tls, http2 }, origin(), async ({ client, origin }) => {
          // Some end the handshake or the connection, others say it in HTTP.
          const answer = await client.fetch(`${origin}/hello`).then(({ status }) => status, (error) => error);
          if (typeof answer === "number") return assert.ok(answer === 400 || answer === 403, `${words}: ${answer}`);
          assert.ok(
            ["TLS_FAILED", "CONNECTION_LOST"].includes(answer.code),
            `${words}: ${answer.code}: ${answer.message}`,
          );
          assert.equal(answer.origin, origin);
        });
      }
    });
  }
}
