import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpClientOptions, HttpErrorCode } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { leavesNothing } from "../leaves_nothing.ts";

type Answer = () => Promise<never>;

/** The user's functions that give an answer, made of one that is asynchronous. */
const functions: Record<string, readonly [HttpErrorCode, (answer: Answer) => HttpClientOptions]> = {
  allowAddress: ["ADDRESS_REFUSED", (answer) => ({ allowAddress: answer as unknown as () => boolean })],
  proxy: ["INVALID_OPTION", (answer) => ({ proxy: answer as unknown as () => string })],
  lookup: ["DNS_FAILED", (answer) => ({ lookup: answer })],
  checkServerIdentity: ["CERTIFICATE_UNTRUSTED", (answer) => ({
    tls: { ca: certificates.ca, checkServerIdentity: answer as unknown as () => undefined },
  })],
};

for (const [name, [code, options]] of Object.entries(functions)) {
  test(`${name}: an asynchronous function that rejects fails its request, and no rejection is left unhandled`, async () => {
    const secure = name === "checkServerIdentity";
    const listener = secure ? { certificate: certificates } : {};
    const rejects: Answer = () => Promise.reject(new Error("no answer"));
    await leavesNothing({ client: { retries: 0, ...options(rejects) }, listener }, async ({ client, listener }) => {
      const url = `${secure ? "https" : "http"}://localhost:${listener.port}/`;
      await assert.rejects(client.fetch(url), (error: Error & { code: string }) => {
        assert.equal(error.code, code);
        const words = `${error.message} ${(error.cause as Error).message}`;
        assert.match(words, name === "lookup" ? /no answer/ : new RegExp(`${name} returned a promise`));
        return true;
      });
    });
  });
}
