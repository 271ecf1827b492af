import assert from "node:assert/strict";
import test from "node:test";
import { withStore } from "../../s3/scene.ts";
import { bytesOf } from "../handler/request_case.ts";
import { postCases } from "../handler/post_cases.ts";
import { putCases } from "../handler/put_cases.ts";
import { RawClient } from "../handler/raw_client.ts";
import { serving } from "../handler/serving_handler.ts";
import { objectsIn } from "../resumable/exchange_case.ts";

/** Cases that only a file system can have. */
const OF_FOLDERS: readonly string[] = ["PUT where a folder is"];

for (const expected of [...putCases, ...postCases]) {
  if (OF_FOLDERS.includes(expected.name) || expected.code === "NO_FOLDER") continue;
  test(`in a bucket: ${expected.name}: ${expected.status}`, () =>
    withStore(async (store) => {
      const storage = store.bucket();
      for (const [key, text] of Object.entries(expected.files ?? {})) await storage.put(key, text);
      await serving("node:http", { ...expected.options, storage }, async ({ port }) => {
        const client = await RawClient.open(port);
        client.send(bytesOf(expected));
        const answer = await client.answer(expected.request[0]);
        client.close();
        assert.equal(answer.status, expected.status, answer.all);
        if (expected.code !== undefined) assert.equal(JSON.parse(answer.body).code, expected.code);
        else if (expected.stored) assert.deepEqual(JSON.parse(answer.body).files, expected.stored);
        assert.deepEqual(objectsIn(store), expected.left ?? expected.files ?? {});
        assert.equal(store.uploads.size, 0);
      });
    }));
}
