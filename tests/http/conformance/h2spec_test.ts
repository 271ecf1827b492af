import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { within } from "../../support/waits.ts";
import { CASES, H2specServer } from "./h2spec.ts";

const binary = process.env.H2SPECD;
const skip = binary ? false : "H2SPECD does not name h2specd, which `go install` makes of h2spec's cmd/h2specd";

/**
 * The number of cases that exceed SETTINGS_MAX_FRAME_SIZE: h2spec ignores the client's value and uses 16,384, which is
 * allowed.
 */
const TOO_LARGE = 2;

/** Sends one request; h2spec judges the connection, not the outcome. */
async function converse(client: HttpClient, url: string): Promise<void> {
  try {
    await (await client.fetch(url)).arrayBuffer();
  } catch (error) {
    assert.ok(error instanceof HttpError, `not an HttpError: ${(error as Error)?.stack ?? error}`);
  }
}

for (const scheme of ["http", "https"] as const) {
  test(`${CASES} of ${CASES} cases of h2spec for clients pass over ${scheme}`, { skip, timeout: 120_000 }, async () => {
    const server = await H2specServer.start(binary!, scheme);
    const client = new HttpClient({ h2c: true, tls: { ca: certificates.ca }, retries: 0 });
    try {
      await Promise.all(server.urls.map((url) => converse(client, url)));
      // Some cases pass only if the connection ends, and can be observed in no other way: the connection must stay open
      // until they are judged.
      await server.judged(TOO_LARGE);
      await within(client.close(), "close()");
      const failed = (await server.verdicts()).filter(({ passed }) => !passed);
      assert.deepEqual(failed.map(({ text }) => text), []);
    } finally {
      client.destroy();
      await server.stop();
    }
  });
}
