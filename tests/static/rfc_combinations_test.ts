import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import fc from "fast-check";
import { Handlers, questionOf } from "./rfc/ask.ts";
import { checkReply } from "./rfc/check.ts";
import { combinations, expectedOf, fieldsOf } from "./rfc/combination.ts";
import { filledInFields } from "./rfc/fill_in.ts";
import { makeKnownTree } from "./rfc/known_tree.ts";

const folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
const tree = await makeKnownTree(folder);
const handlers = new Handlers(tree.directory);

after(async () => {
  await handlers.close();
  await rm(folder, { recursive: true });
});

const runs = [["fetch", "plain", 3000], ["fetch", "streamed", 500], ["node", "plain", 300], [
  "node",
  "streamed",
  300,
]] as const;

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
