import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { subscribe } from "node:diagnostics_channel";
import { test } from "node:test";
import "../../../lib/http/mod.ts";
import { respond } from "../faults/server_request.ts";
import { scene } from "../scene.ts";

test("subscriptions made before the first request last, though the runtime collects channels that nothing holds", async () => {
  let told = 0;
  subscribe("undici:request:create", () => void told++);
  const { Bun } = globalThis as { Bun?: { gc(isForced: boolean): void } };
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    Bun?.gc(true);
  }
  const answer = (request: Parameters<typeof respond>[0]): void => respond(request, 200, Buffer.from("fine"));
  await scene("http/1.1", {}, answer, async ({ client, url }) => {
    await (await client.fetch(url)).text();
  });
  assert.ok(told > 0);
});
