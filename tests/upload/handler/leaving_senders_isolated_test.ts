import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import type { UploadLogEntry } from "../../../lib/upload/mod.ts";
import { RawClient } from "./raw_client.ts";
import { contentsOf, entries, serving } from "./serving_handler.ts";
import { until } from "../../support/waits.ts";

const FORM = '--limit\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nhello';
const ways: Readonly<Record<string, (client: RawClient) => void>> = {
  closes: (client) => client.close(),
  resets: (client) => client.socket.resetAndDestroy(),
};
const requests: Readonly<Record<string, readonly [method: string, lines: string[], body: string]>> = {
  "within a body": ["PUT", ["Content-Length: 100000"], "hello"],
  "before a body": ["PUT", ["Content-Length: 100000"], ""],
  "within a chunk": ["PUT", ["Transfer-Encoding: chunked"], "100\r\nhello"],
  "between chunks": ["PUT", ["Transfer-Encoding: chunked"], "5\r\nhello\r\n"],
  "within a form": ["POST", ["Content-Length: 100000", "Content-Type: multipart/form-data; boundary=limit"], FORM],
};

/** Returns the unhandled rejections while `use` runs. */
async function uncaughtDuring(use: () => Promise<void>): Promise<unknown[]> {
  const caught: unknown[] = [];
  const note = (error: unknown): void => void caught.push(error);
  process.on("unhandledRejection", note);
  try {
    await use();
    await new Promise((later) => setTimeout(later, 50));
  } finally {
    process.off("unhandledRejection", note);
  }
  return caught;
}

for (const entry of Object.keys(entries)) {
  for (const [when, [method, lines, body]] of Object.entries(requests)) {
    for (const [how, leave] of Object.entries(ways)) {
      test(`${entry}: a sender who ${how} the connection ${when} is logged with 499, and nothing is left`, () =>
        serving(entry, {}, async ({ port, folder, logged }) => {
          const uncaught = await uncaughtDuring(async () => {
            const client = await RawClient.open(port);
            client.ask(method, "/note", lines);
            client.send(body);
            await new Promise((later) => setTimeout(later, 50));
            leave(client);
            await until(() => logged.length > 0, "it is logged");
          });
          assert.deepEqual(uncaught, []);
          assert.equal(logged.length, 1);
          const { status, path, error } = logged[0];
          assert.deepEqual({ method: logged[0].method, path, status }, { method, path: "/note", status: 499 });
          assert.equal((error as { code?: string; cause?: unknown }).code, "ABORTED");
          assert.deepEqual(await contentsOf(folder), {});
        }));
    }
  }

  test(`${entry}: a sender who leaves while its name is sought is logged with 499`, () => {
    let decide = (_name: string): void => {};
    const options = { name: () => new Promise<string>((resolve) => decide = resolve) };
    return serving(entry, options, async ({ port, folder, logged }) => {
      const client = await RawClient.open(port);
      client.ask("PUT", "/note", ["Content-Length: 100000"]);
      await new Promise((later) => setTimeout(later, 50));
      client.close();
      await new Promise((later) => setTimeout(later, 50));
      decide("note");
      await until(() => logged.length > 0, "it is logged");
      assert.equal(logged[0].status, 499);
      assert.deepEqual(await contentsOf(folder), {});
    });
  });

  test(`${entry}: a sender who leaves after it was refused does no harm`, () =>
    serving(entry, { accept: "image/*" }, async ({ port, logged }) => {
      const uncaught = await uncaughtDuring(async () => {
        const client = await RawClient.open(port);
        client.ask("PUT", "/note", ["Content-Length: 100000000"]);
        client.send("hello");
        assert.equal((await client.answer()).status, 415);
        client.socket.resetAndDestroy();
        const next = await RawClient.open(port);
        next.ask("OPTIONS", "/note");
        assert.equal((await next.answer()).status, 204);
        next.close();
      });
      assert.deepEqual(uncaught, []);
      assert.deepEqual(logged.map(({ status }: UploadLogEntry) => status), [415, 204]);
    }));
}
