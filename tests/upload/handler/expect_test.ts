import assert from "node:assert/strict";
import test from "node:test";
import { RawClient } from "./raw_client.ts";
import { contentsOf, serving } from "./serving_handler.ts";

const EXPECT = ["Expect: 100-continue", "Content-Length: 5"];

test("checkContinue() asks for the body of an upload that is welcome", () =>
  serving("node:http", {}, async ({ port, folder, logged }) => {
    const client = await RawClient.open(port);
    client.ask("PUT", "/note", EXPECT);
    assert.equal((await client.answer()).status, 100);
    assert.equal(logged.length, 0);
    client.send("hello");
    assert.equal((await client.answer()).status, 201);
    client.close();
    assert.deepEqual(await contentsOf(folder), { note: "hello" });
  }));

test("checkContinue() refuses an upload without asking for its body, and ends the connection", () =>
  serving("node:http", { accept: "image/*" }, async ({ port }) => {
    const client = await RawClient.open(port);
    client.ask("PUT", "/note", EXPECT);
    const answer = await client.answer();
    assert.equal(answer.status, 415);
    assert.equal(answer.fields.get("connection"), "close");
    client.close();
  }));

test("checkContinue() asks for nothing when name() fails", () =>
  serving("node:http", { name: () => Promise.reject(new Error("no")) }, async ({ port }) => {
    const client = await RawClient.open(port);
    client.ask("PUT", "/note", EXPECT);
    assert.equal((await client.answer()).status, 500);
    client.close();
  }));

for (const entry of ["fetch", "serve()"]) {
  test(`${entry}: a sender who waits to be asked is asked, and its upload stored`, () =>
    serving(entry, {}, async ({ port, folder }) => {
      const client = await RawClient.open(port);
      client.ask("PUT", "/note", EXPECT);
      assert.equal((await client.answer()).status, 100);
      client.send("hello");
      assert.equal((await client.answer()).status, 201);
      client.close();
      assert.deepEqual(await contentsOf(folder), { note: "hello" });
    }));
}
