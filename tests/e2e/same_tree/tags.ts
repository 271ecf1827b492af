import assert from "node:assert/strict";
import test from "node:test";
import { type Answers, ask, type Comparison } from "./same_tree.ts";
import { treePaths } from "./served_tree.ts";
import type { CurlAnswer } from "./curl.ts";

/** Tests the tags of a peer and of this package. */
export function testTags({ name, skip, same }: Comparison): void {
  test(`tags of ${name} and of ours are strong, and differ between the codings of a file`, { skip }, async () => {
    for (const path of treePaths) {
      const answers = await same().ask(same().encodings.map((encoding) => ask(path, encoding)));
      for (const server of [({ theirs }: Answers) => theirs, ...ourServers(answers[0])]) {
        const tags = new Map<string | null, Set<string>>();
        for (const { headers } of answers.map(server)) {
          const tag = headers.get("etag")!;
          assert.match(tag, /^"[\x21\x23-\x7e]+"$/, path);
          const coding = headers.get("content-encoding");
          tags.set(coding, (tags.get(coding) ?? new Set()).add(tag));
        }
        assert.ok([...tags.values()].every(({ size }) => size === 1), path);
        assert.equal(new Set([...tags.values()].flatMap((all) => [...all])).size, tags.size, path);
      }
    }
  });
}

/** Picks each entry point's answer. */
function ourServers({ ours }: Answers): ((all: Answers) => CurlAnswer)[] {
  return [...ours.keys()].map((entry) => (all) => all.ours.get(entry)!);
}
