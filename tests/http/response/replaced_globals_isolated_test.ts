import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { spawnSync } from "node:child_process";
import { HttpClient } from "../../../lib/http/mod.ts";

const self = fileURLToPath(import.meta.url);

/**
 * Returns a program's view of two responses; a global class is replaced during the first, as by a test or a polyfill.
 */
async function responsesWithout(name: "Headers" | "Response"): Promise<unknown[]> {
  const server = createServer((_request, response) => response.setHeader("content-type", "text/x").end("body"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const before = Object.getOwnPropertyDescriptor(globalThis, name)!;
  class StandIn {
    get(): string {
      return "of the stand-in";
    }
  }
  Object.defineProperty(globalThis, name, { value: StandIn, configurable: true, writable: true });
  const client = new HttpClient();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const seen: unknown[] = [];
  for (const isReplaced of [true, false]) {
    if (!isReplaced) Object.defineProperty(globalThis, name, before);
    const response = await client.fetch(url);
    seen.push(response.headers.get("content-type"), await response.text(), globalThis[name] === StandIn as unknown);
    if (!isReplaced) seen.push(response instanceof Response, response.headers instanceof Headers);
  }
  await client.close();
  server.closeAllConnections();
  server.close();
  return seen;
}

if (process.env.MILLRACE_REPLACED !== undefined) {
  console.log(JSON.stringify(await responsesWithout(process.env.MILLRACE_REPLACED as "Headers" | "Response")));
  process.exit();
}

test("a client gives responses of the global classes", async () => {
  const response = await new HttpClient().fetch("data:text/plain,body");
  assert.ok(response instanceof Response && response.headers instanceof Headers);
});

// Node loads its classes at any look at them, so that they are those of the first response there.
const names = "Bun" in globalThis || "Deno" in globalThis ? ["Headers", "Response"] : [];
for (const name of names) {
  test(`a client whose first response comes while ${name} is replaced gives responses of the runtime's class`, () => {
    const args = "Deno" in globalThis ? ["run", "-A", "--no-check", self] : [self];
    const env = { ...process.env, MILLRACE_REPLACED: name };
    const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8", timeout: 60_000 });
    assert.equal(stdout.trim(), JSON.stringify(["text/x", "body", true, "text/x", "body", false, true, true]), stderr);
  });
}
