import assert from "node:assert/strict";
import test from "node:test";
import { RawClient } from "./raw_client.ts";
import { contentsOf, entries, serving } from "./serving_handler.ts";

const SENDERS = 12;

/**
 * Uploads different bytes under one name from many clients, chunk by chunk; returns the statuses and the stored files.
 */
async function rivals(entry: string, overwrite: boolean): Promise<{ statuses: number[]; contents: string[] }> {
  let statuses: number[] = [];
  let contents: string[] = [];
  await serving(entry, { overwrite }, async ({ port, folder }) => {
    const clients = await Promise.all(Array.from({ length: SENDERS }, () => RawClient.open(port)));
    for (const client of clients) client.ask("PUT", "/same", ["Content-Length: 30000"]);
    for (let round = 0; round < 3; round++) {
      for (const [index, client] of clients.entries()) client.send(String.fromCharCode(97 + index).repeat(10_000));
      await new Promise((later) => setTimeout(later, 5));
    }
    statuses = (await Promise.all(clients.map((client) => client.answer()))).map(({ status }) => status);
    for (const client of clients) client.close();
    contents = Object.entries(await contentsOf(folder)).map(([name, content]) => `${name}:${content}`);
  });
  return { statuses, contents };
}

for (const entry of Object.keys(entries)) {
  test(`${entry}: of many uploads of one name at a time one is stored, whole, and the others get 409`, async () => {
    const { statuses, contents } = await rivals(entry, false);
    const winner = statuses.indexOf(201);
    assert.deepEqual(statuses, statuses.map((_, index) => index === winner ? 201 : 409));
    assert.deepEqual(contents, [`same:${String.fromCharCode(97 + winner).repeat(30_000)}`]);
  });

  test(`${entry}: of many uploads of one name that may replace each other one stays, whole`, async () => {
    const { statuses, contents } = await rivals(entry, true);
    assert.deepEqual(statuses.filter((status) => status !== 200 && status !== 201), []);
    assert.equal(contents.length, 1);
    assert.match(contents[0], /^same:(.)\1{29999}$/);
  });

  test(`${entry}: uploads under a condition that another one undoes meanwhile get 412`, () =>
    serving(entry, { overwrite: true }, async ({ port, folder }) => {
      const [first, second] = [await RawClient.open(port), await RawClient.open(port)];
      for (const client of [first, second]) client.ask("PUT", "/same", ["If-None-Match: *", "Content-Length: 5"]);
      await new Promise((later) => setTimeout(later, 50));
      first.send("first");
      assert.equal((await first.answer()).status, 201);
      second.send("later");
      assert.equal((await second.answer()).status, 412);
      first.close();
      second.close();
      assert.deepEqual(await contentsOf(folder), { same: "first" });
    }));
}
