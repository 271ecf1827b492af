import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { type Entry, Handlers, questionOf, type Reply } from "./rfc/ask.ts";
import { checkHead, checkReply, type Standard } from "./rfc/check.ts";
import { filledInExpected, filledInFields } from "./rfc/fill_in.ts";
import { type Coding, type KnownFile, type KnownTree, makeKnownTree } from "./rfc/known_tree.ts";
import type { Expected, RFCCase, SiteName } from "./rfc/rfc_case.ts";
import { rfcCases } from "./rfc_cases.ts";

const folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
const tree = await makeKnownTree(folder);
const handlers = new Handlers(tree.directory);

after(async () => {
  await handlers.close();
  await rm(folder, { recursive: true });
});

/** Returns the file of a case's response: the named one, or that of its target. */
function fileOf({ files }: KnownTree, target: string, { file }: Expected): KnownFile | undefined {
  return files.get(file ?? target.split("?")[0].slice(1));
}

/** Whether the server adds a date (RFC 9110, section 6.6.1); Bun's does not for HEAD. */
function hasClock(entry: Entry, method: string): boolean {
  return entry !== "fetch" && !(entry === "serve" && method === "HEAD" && runtime === "bun");
}

function checkDate({ fields }: Reply): void {
  assert.ok(Math.abs(Date.parse(fields.get("date")!) - Date.now()) < 60_000, "date");
}

async function check([, , target, fields, answer, particulars]: RFCCase, entry: Entry, site: SiteName): Promise<void> {
  const file = fileOf(tree, target, answer);
  const expected = filledInExpected(answer, file);
  const question = questionOf(target, filledInFields(fields, file), particulars);
  const mayBeChunked = runtime === "bun" && entry === "serve" && "range" in fields;
  const standard: Standard = { expected, question, site, file, mayBeChunked };
  const reply = await handlers.ask(site, entry, question);
  checkReply(reply, standard);
  if (hasClock(entry, question.method)) checkDate(reply);
  // Ranges and deltas are for GET only, and middleware's next may be anything.
  const differs = "range" in fields || "available-dictionary" in fields;
  if (question.method !== "GET" || differs || answer.status === 299) return;
  checkHead(await handlers.ask(site, entry, { ...question, method: "HEAD" }), reply);
}

/** The servers around the two faces, which pass fields on: except in a long run they have a third of the cases. */
const around: readonly Entry[] = ["serve", "http2"];

for (const entry of ["fetch", "serve", "node", "http2"] as const) {
  for (const [i, each] of rfcCases.entries()) {
    const [section, name, target, , { status }, { on = "plain", only, method = "GET", notOnBun } = {}] = each;
    if (only === undefined ? !isLong && around.includes(entry) && i % 3 > 0 : only !== entry) continue;
    const skip = runtime === "bun" && notOnBun;
    test(`RFC ${section}, ${entry}: ${name}: ${method} ${target.slice(0, 60)} gives ${status}`, { skip }, async () => {
      await check(each, entry, on);
      if (on === "plain") await check(each, entry, "streamed");
    });
  }
}

test("the sizes of the variants are as the cases take them to be", () => {
  for (const path of ["app.js", "large.js", "assets/main-3f9a1c0b.js"]) {
    const { coded } = tree.files.get(path)!;
    const sizes = ["dcb", "dcz", "br", "zstd", "gzip", "identity"].map((coding) =>
      coded.get(coding as Coding)!.bytes.length
    );
    assert.deepEqual(sizes, sizes.toSorted((a, b) => a - b), path);
  }
  for (const coding of ["br", "zstd", "gzip", "identity"] as const) {
    assert.ok(tree.files.get("large.js")!.coded.get(coding)!.bytes.length > 80_001, `large.js in ${coding}`);
  }
});

test("there are at least 200 cases, each of a section", () => {
  assert.ok(rfcCases.length >= 200, String(rfcCases.length));
  for (const [section, name] of rfcCases) assert.match(section, /^\d{4} (?:[A-Z]|\d+)(?:\.\d+)*$/, name);
});

test("none of the answers made the handlers warn", () => assert.deepEqual(handlers.warnings, []));
