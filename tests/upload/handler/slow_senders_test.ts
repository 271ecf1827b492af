import assert from "node:assert/strict";
import { runtime } from "../../support/runtime.ts";
import { pause } from "../../support/waits.ts";
import { RawClient } from "./raw_client.ts";
import { contentsOf, entries, serving } from "./serving_handler.ts";
import { overlapping } from "../../support/overlapping.ts";

const test = overlapping();

const bodies = {
  "a length": { lines: ["Content-Length: 100000"], byte: "a" },
  "chunks": { lines: ["Transfer-Encoding: chunked"], byte: "1\r\na\r\n" },
};

for (const entry of Object.keys(entries)) {
  for (const [kind, { lines, byte }] of Object.entries(bodies)) {
    test(`${entry}: a sender of a body with ${kind} who was too slow, and goes on as slowly, is cut`, {
      skip: runtime === "deno" && entry !== "node:http" && "Deno.serve keeps it until it leaves: nothing can cut it",
    }, () =>
      serving(entry, { timeout: 300 }, async ({ port, folder }) => {
        const client = await RawClient.open(port);
        client.ask("PUT", "/note", lines);
        for (const end = performance.now() + 60_000; !client.isOver && performance.now() < end;) {
          client.send(byte);
          await pause(50);
        }
        assert.ok(client.isOver, `it goes on after ${JSON.stringify(client.received)}`);
        assert.equal((await client.answer()).status, 408);
        client.close();
        assert.deepEqual(await contentsOf(folder), {});
      }));
  }
}
