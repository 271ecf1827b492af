import assert from "node:assert/strict";
import { writeTree } from "../../support/folders.ts";
import { runtime } from "../../support/runtime.ts";
import { chunkOf, RawClient } from "./raw_client.ts";
import { contentsOf, entries, serving } from "./serving_handler.ts";
import { until } from "../../support/waits.ts";
import { overlapping } from "../../support/overlapping.ts";

const test = overlapping();

const MIB = 1024 * 1024;
/** The bytes of a sender that never stops: on Bun more than the runtime itself buffers; Deno takes any number. */
const MUCH = (runtime === "deno" ? 30 : 120) * MIB;
/**
 * Returns the limit of received bytes, since buffers hold some. Deno receives everything until it cuts the connection;
 * Bun continues reading what it writes to the disk itself.
 */
const mostOf = (why: string): number => {
  const isUnstopped = runtime === "deno" || (runtime === "bun" && why === "what came of it");
  return isUnstopped ? Infinity : 60 * MIB;
};

const refusals = {
  "its length": { status: 413, options: { maxBytes: 1000 }, lines: [`Content-Length: ${MUCH}`] },
  "a digest in its trailers": {
    status: 501,
    options: {},
    lines: ["Transfer-Encoding: chunked", "Trailer: Content-Digest"],
  },
  "the page that sends it": {
    status: 403,
    options: {},
    lines: [`Content-Length: ${MUCH}`, "Sec-Fetch-Site: cross-site"],
  },
  "its type": { status: 415, options: { accept: "image/*" }, lines: [`Content-Length: ${MUCH}`] },
  "a file that is there": { status: 409, options: {}, lines: [`Content-Length: ${MUCH}`] },
  "what came of it": { status: 413, options: { maxBytes: 2 * MIB }, lines: ["Transfer-Encoding: chunked"] },
};

for (const entry of Object.keys(entries)) {
  for (const [why, { status, options, lines }] of Object.entries(refusals)) {
    const wrap = lines[0].endsWith("chunked") ? chunkOf : undefined;
    const target = why === "a file that is there" ? "/former" : "/new";

    test(`${entry}: refused for ${why}, a sender who goes on has the answer, and is cut`, () =>
      serving(entry, options, async ({ port, folder }) => {
        await writeTree(folder, { former: "former" });
        const client = await RawClient.open(port);
        client.ask("PUT", target, lines);
        const flooding = client.flood(MUCH, wrap);
        const answer = await client.answer();
        assert.equal(answer.status, status);
        assert.equal(answer.fields.get("connection")?.toLowerCase(), "close");
        const sent = await flooding;
        assert.ok(sent < mostOf(why), `${sent} bytes were taken`);
        await until(() => client.isOver, "the connection ends");
        client.close();
        assert.deepEqual(await contentsOf(folder), { former: "former" });
      }));

    test(`${entry}: refused for ${why}, a sender who goes on, and reads late, has the answer`, () =>
      serving(entry, options, async ({ port, folder }) => {
        await writeTree(folder, { former: "former" });
        const client = await RawClient.open(port);
        client.socket.pause();
        client.ask("PUT", target, lines);
        const flooding = client.flood(MUCH, wrap);
        await new Promise((later) => setTimeout(later, 100));
        client.socket.resume();
        assert.equal((await client.answer()).status, status);
        const sent = await flooding;
        assert.ok(sent < mostOf(why), `${sent} bytes were taken`);
        client.close();
        assert.deepEqual(await contentsOf(folder), { former: "former" });
      }));
  }

  test(`${entry}: after a small upload that is refused, and one that is stored, the connection is used again`, () =>
    serving(entry, { accept: "text/plain" }, async ({ port, folder }) => {
      // Deno closes the connection after most requests with a body, and says so: not after those that arrive as a whole.
      const mayClose = runtime === "deno" && entry !== "node:http";
      let client = await RawClient.open(port);
      for (const [type, status] of [["image/png", 415], ["text/plain", 201], ["image/png", 415]] as const) {
        client.ask("PUT", "/note", [`Content-Type: ${type}`, "Content-Length: 5"]);
        await new Promise((later) => setTimeout(later, 20));
        client.send("hello");
        const answer = await client.answer();
        assert.equal(answer.status, status);
        if (answer.fields.get("connection") !== "close") continue;
        assert.ok(mayClose);
        client.close();
        client = await RawClient.open(port);
      }
      client.ask("GET", "/note");
      assert.equal((await client.answer("GET")).status, 405);
      assert.ok(!client.isOver);
      client.close();
      assert.deepEqual(await contentsOf(folder), { note: "hello" });
    }));
}
