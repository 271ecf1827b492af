import assert from "node:assert/strict";
import test from "node:test";
import { writeTree } from "../../support/folders.ts";
import { type ClientAnswer, RawClient } from "./raw_client.ts";
import { nameCases } from "./name_cases.ts";
import { otherCases } from "./other_cases.ts";
import { postCases } from "./post_cases.ts";
import { putCases } from "./put_cases.ts";
import { typeCases } from "./type_cases.ts";
import { bytesOf, type RequestCase } from "./request_case.ts";
import { contentsOf, entries, serving } from "./serving_handler.ts";

for (const entry of Object.keys(entries)) {
  for (const expected of [...putCases, ...postCases, ...nameCases, ...typeCases, ...otherCases]) {
    test(`${entry}: ${expected.name}: ${expected.status}`, () =>
      serving(entry, expected.options ?? {}, async ({ port, folder, logged }) => {
        await writeTree(folder, expected.files ?? {});
        const [method, target] = expected.request;
        const client = await RawClient.open(port);
        client.send(bytesOf(expected));
        const answer = await client.answer(method);
        client.close();
        assert.equal(answer.status, expected.status);
        for (const [name, value] of Object.entries(expected.fields ?? {})) {
          assert.equal(answer.fields.get(name), value, name);
        }
        if (method !== "HEAD") requireContent(answer, expected);
        assert.ok(!answer.all.includes(folder), "the answer tells a path of the server");
        assert.ok(!answer.all.includes("/secret"), "the answer tells what went wrong inside");
        assert.deepEqual(await contentsOf(folder), expected.left ?? expected.files ?? {});
        assert.deepEqual(logged.map(({ method, path, status }) => ({ method, path, status })), [
          { method, path: target.replace(/\?.*/, ""), status: expected.status },
        ]);
        assert.equal(logged[0].error !== undefined, expected.code !== undefined);
        assert.ok(logged[0].ms >= 0);
      }));
  }
}

function requireContent({ body, fields, status }: ClientAnswer, expected: RequestCase): void {
  if (status === 204) return assert.equal(body, "");
  const content = JSON.parse(body);
  assert.equal(fields.get("x-content-type-options"), "nosniff");
  if (expected.code === undefined) {
    assert.equal(fields.get("content-type"), "application/json");
    assert.deepEqual(Object.keys(content), ["files", "fields"]);
    if (expected.stored) assert.deepEqual(content.files, expected.stored);
    if (expected.texts) assert.deepEqual(content.fields, expected.texts);
    assert.equal(fields.has("location"), status === 201 && content.files.length === 1);
    return;
  }
  assert.equal(fields.get("content-type"), "application/problem+json");
  assert.deepEqual(Object.keys(content).sort(), ["code", "detail", "status", "title"]);
  assert.equal(content.code, expected.code);
  assert.equal(content.status, expected.status);
  assert.ok(content.title.length > 0 && content.detail.length > 0);
}
