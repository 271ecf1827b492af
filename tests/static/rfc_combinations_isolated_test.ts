import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import fc from "fast-check";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { Handlers, questionOf } from "./rfc/ask.ts";
import { checkReply } from "./rfc/check.ts";
import { combinations, expectedOf, fieldsOf } from "./rfc/combination.ts";
import { filledInFields } from "./rfc/fill_in.ts";
import { makeKnownTree } from "./rfc/known_tree.ts";
import { tries } from "../support/long_run.ts";

const folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
const tree = await makeKnownTree(folder);
const handlers = new Handlers(tree.directory);

after(async () => {
  await handlers.close();
  await rm(folder, { recursive: true });
});

const runs = [
  ["fetch", "plain", tries(6000)],
  ["fetch", "streamed", tries(1000)],
  ["node", "plain", tries(600)],
  ["node", "streamed", tries(600)],
] as const;

for (const [entry, site, numRuns] of runs) {
  test(`any request is answered as the standard's steps have it: ${entry}, ${site}`, async () => {
    const property = fc.asyncProperty(combinations, async (request) => {
      const file = tree.files.get(request.path)!;
      const fields = filledInFields(fieldsOf(request, file), file);
      const question = questionOf(`/${request.path}`, fields, { method: request.method });
      const expected = expectedOf(request, file);
      checkReply(await handlers.ask(site, entry, question), { expected, question, site, file });
    });
    await fc.assert(property, { numRuns });
  });
}

/** The conditional field for each validator, and the status of a request with it: section 13.1. */
const conditions: readonly (readonly [validator: string, field: string, status: number])[] = [
  ["etag", "if-none-match", 304],
  ["etag", "if-match", 200],
  ["last-modified", "if-modified-since", 304],
  ["last-modified", "if-unmodified-since", 200],
];

for (const entry of ["fetch", "node"] as const) {
  test(`the validators of an answer hold for the file that it is of: ${entry}`, async () => {
    for (const [path, { coded }] of tree.files) {
      if (/(?:^|\/)\.(?!well-known)/.test(path)) continue;
      const target = `/${path.split("/").map(encodeURIComponent).join("/")}`;
      for (const coding of coded.keys()) {
        const first = { "accept-encoding": coding, "available-dictionary": ":<dictionary>:" };
        const fields = coded.has("dcb") ? filledInFields(first, tree.files.get(path)) : { "accept-encoding": coding };
        const answer = await handlers.ask("plain", entry, questionOf(target, fields));
        assert.equal(answer.fields.get("content-encoding") ?? "identity", coding, path);
        for (const [validator, field, status] of conditions) {
          const conditional = questionOf(target, { ...fields, [field]: answer.fields.get(validator)! });
          const again = await handlers.ask("plain", entry, conditional);
          assert.equal(again.status, status, `${path} in ${coding}: ${field}`);
          assert.equal(again.fields.get("etag"), answer.fields.get("etag"), `${path} in ${coding}: ${field}`);
        }
      }
    }
  });
}

test("a date is a strong validator only once its second is over: RFC 9110, section 8.8.2.2", async () => {
  const directory = join(folder, "recent");
  const modified = Date.UTC(2024, 4, 6, 7, 8, 9);
  await mkdir(directory);
  await writeFile(join(directory, "ten.txt"), "0123456789");
  await utimes(join(directory, "ten.txt"), modified / 1000, modified / 1000);
  const handler = await createStaticHandler(directory);
  const headers = { "range": "bytes=2-3", "if-range": "Mon, 06 May 2024 07:08:09 GMT" };
  const { now } = Date;
  try {
    for (const [later, body] of [[0, "0123456789"], [999, "0123456789"], [2000, "23"]] as const) {
      Date.now = () => modified + later;
      const response = await handler.fetch(new Request("http://127.0.0.1/ten.txt", { headers }));
      assert.equal(await response.text(), body, `${later} ms later`);
    }
  } finally {
    Date.now = now;
    await handler.close();
  }
});
