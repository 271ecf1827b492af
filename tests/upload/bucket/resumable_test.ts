import test from "node:test";
import { withStore } from "../../s3/scene.ts";
import { draftCases } from "../resumable/draft_cases.ts";
import { run } from "../resumable/exchange_case.ts";
import { tusCases } from "../resumable/tus_cases.ts";

for (const expected of [...tusCases, ...draftCases]) {
  test(`in a bucket: ${expected.name}`, () => withStore((store) => run("node:http", expected, store)));
}
