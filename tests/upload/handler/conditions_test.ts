import assert from "node:assert/strict";
import { readFileSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createUploadHandler, type UploadHandler } from "../../../lib/upload/mod.ts";
import { tries } from "../../support/long_run.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { inUploads } from "./serving_handler.ts";

const NAME = "doc.txt";
/** The time of a file that no request has changed, in ms since 1970. */
const LONG_AGO = Date.UTC(2020, 0, 1);

/** The version of the file, or undefined. */
type Version = { readonly text: string; readonly since: number } | undefined;

/** A sender's condition, and whether it holds for a version of the file. */
interface Condition {
  readonly fields: Record<string, string>;
  holds(version: Version): boolean;
}

const conditions: readonly Condition[] = [
  { fields: {}, holds: () => true },
  { fields: { "if-match": "*" }, holds: (version) => version !== undefined },
  { fields: { "if-none-match": "*" }, holds: (version) => version === undefined },
  {
    fields: { "if-unmodified-since": new Date(LONG_AGO + 1000).toUTCString() },
    holds: (version) => version === undefined || version.since <= LONG_AGO + 1000,
  },
];

/** A PUT whose body waits for its end. */
class SlowPut {
  readonly text: string;
  readonly condition: Condition;
  readonly answer: Promise<Response>;
  /** Resolves once the body is read: the conditions were looked at, or the answer is there. */
  readonly began: Promise<unknown>;
  finish: () => void = () => {};

  constructor({ fetch }: UploadHandler, text: string, condition: Condition, isResumable: boolean) {
    this.text = text;
    this.condition = condition;
    const reads = Promise.withResolvers<void>();
    const end = new Promise<void>((resolve) => this.finish = resolve);
    let isFirst = true;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (!isFirst) await end;
        reads.resolve();
        if (isFirst) controller.enqueue(new TextEncoder().encode(text));
        else controller.close();
        isFirst = false;
      },
    }, { highWaterMark: 0 });
    const headers = { ...condition.fields, ...(isResumable && { "upload-complete": "?1" }) };
    const init = { method: "PUT", headers, body, duplex: "half" };
    this.answer = fetch(new Request(`http://localhost/${NAME}`, init as RequestInit));
    this.began = Promise.race([reads.promise, this.answer]);
  }
}

test("a PUT is stored only if its conditions hold when its file gets the name, whatever came between", async () => {
  const random = randomNumbers(7);
  let refused = 0;
  await inUploads(async (directory) => {
    const uploads = createUploadHandler({ directory, overwrite: true, resumable: true, log: () => {} });
    const path = join(directory, NAME);
    for (let program = 0; program < tries(100); program++) {
      let version: Version;
      const change = (text: string | undefined): void => {
        if (text === undefined) unlinkSync(path);
        else writeFileSync(path, text);
        if (text !== undefined) utimesSync(path, LONG_AGO / 1000, LONG_AGO / 1000);
        version = text === undefined ? undefined : { text, since: LONG_AGO };
      };
      change("first");
      const open: { readonly put: SlowPut; readonly wasWelcome: boolean }[] = [];
      for (let step = 0; step < 12; step++) {
        const kind = random(5);
        if (kind === 0) change(version === undefined || random(2) === 0 ? `outside ${step}` : undefined);
        else if (kind < 3 || open.length === 0) {
          const condition = conditions[random(conditions.length)];
          const put = new SlowPut(uploads, `${program}.${step}`, condition, random(3) === 0);
          await put.began;
          open.push({ put, wasWelcome: condition.holds(version) });
        } else {
          const [{ put, wasWelcome }] = open.splice(random(open.length), 1);
          const holds = wasWelcome && put.condition.holds(version);
          put.finish();
          const { status } = await put.answer;
          const what = `program ${program}, step ${step}: ${JSON.stringify(put.condition.fields)}`;
          assert.equal(
            status === 412 ? "refused" : status < 300 ? "stored" : status,
            holds ? "stored" : "refused",
            what,
          );
          if (holds) version = { text: put.text, since: Date.now() };
          else refused++;
        }
        if (version !== undefined) assert.equal(readFileSync(path, "utf8"), version.text);
      }
      for (const { put } of open) put.finish();
      await Promise.all(open.map(({ put }) => put.answer));
      if (version === undefined) writeFileSync(path, "");
    }
  });
  assert.ok(refused > 2, `${refused} were refused`);
});

test("of PUTs that end together under one condition, one is stored", async () => {
  // The second date is that of the very second in which the first of them replaces the file.
  for (const since of [LONG_AGO, Date.now() + 5000]) {
    await inUploads(async (directory) => {
      const uploads = createUploadHandler({ directory, overwrite: true, log: () => {} });
      writeFileSync(join(directory, NAME), "first");
      utimesSync(join(directory, NAME), LONG_AGO / 1000, LONG_AGO / 1000);
      const condition = { fields: { "if-unmodified-since": new Date(since).toUTCString() }, holds: () => true };
      const puts = Array.from({ length: 8 }, (_, i) => new SlowPut(uploads, `${i}`, condition, false));
      await Promise.all(puts.map(({ began }) => began));
      for (const { finish } of puts) finish();
      const statuses = (await Promise.all(puts.map(({ answer }) => answer))).map(({ status }) => status);
      assert.deepEqual(statuses.toSorted((a, b) => a - b), [200, ...Array(7).fill(412)]);
    });
  }
});
