import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { type Patience, renameFile, renameFileNow, whileRefused, whileRefusedNow } from "../../lib/files/rename.ts";
import { inFolder } from "../support/folders.ts";
import { needs } from "../support/needs.ts";

/** The codes of Windows, whatever system this is. */
const codes: ReadonlySet<string> = new Set(["EACCES", "EBUSY", "EPERM"]);

function refusal(code: string): Error {
  return Object.assign(new Error(`${code}: refused`), { code });
}

/** Returns a call that is refused some times, with each code in turn, and counts its attempts. */
function refusedCall(times: number, given: readonly string[] = [...codes]): { call(): string; attempts: number } {
  return {
    attempts: 0,
    call() {
      if (this.attempts++ < times) throw refusal(given[(this.attempts - 1) % given.length]);
      return "done";
    },
  };
}

type Wait = (call: () => string, patience: Patience) => string | Promise<string>;
const ways: Readonly<Record<string, Wait>> = { whileRefused, whileRefusedNow };

for (const [name, wait] of Object.entries(ways)) {
  /** Runs one call, whether it throws at once or rejects. */
  const run = async (call: () => string, patience: Patience): Promise<string> => await wait(call, patience);

  test(`${name}() ends at its deadline while a test has faked performance.now()`, async () => {
    const { now } = performance;
    performance.now = () => 1000;
    try {
      await assert.rejects(run(() => refusedCall(Infinity).call(), { codes, deadline: 20 }), { code: "EACCES" });
    } finally {
      performance.now = now;
    }
  });

  test(`${name}() makes a call again that is refused while a file is open, and returns what it does then`, async () => {
    for (const times of [0, 1, 5]) {
      const refused = refusedCall(times);
      assert.equal(await run(() => refused.call(), { codes, deadline: 10_000 }), "done");
      assert.equal(refused.attempts, times + 1);
    }
  });

  test(`${name}() throws the last refusal once its deadline is over, after pauses that grow`, async () => {
    for (const code of codes) {
      const refused = refusedCall(Infinity, [code]);
      const start = performance.now();
      await assert.rejects(run(() => refused.call(), { codes, deadline: 120 }), { code });
      const took = performance.now() - start;
      assert.ok(took >= 115, `${took} ms`);
      assert.ok(refused.attempts > 1 && refused.attempts < 60, `${refused.attempts} attempts`);
    }
  });

  test(`${name}() throws at once what does not pass`, async () => {
    for (const code of ["ENOENT", "EEXIST", "ENOSPC"]) {
      const refused = refusedCall(1, [code]);
      await assert.rejects(run(() => refused.call(), { codes, deadline: 10_000 }), { code });
      assert.equal(refused.attempts, 1);
    }
  });
}

test("where the system lets open files be replaced, EACCES, EBUSY and EPERM are final", {
  skip: needs("replacing"),
}, async () => {
  for (const code of codes) {
    for (const wait of Object.values(ways)) {
      const refused = refusedCall(1, [code]);
      await assert.rejects(async () => await wait(() => refused.call(), {}), { code });
      assert.equal(refused.attempts, 1);
    }
  }
});

test("an attempt is made at least once, though the deadline is over before it begins", async () => {
  const refused = refusedCall(0);
  assert.equal(await whileRefused(() => refused.call(), { codes, deadline: 0 }), "done");
});

const renames: Readonly<Record<string, (from: string, to: string) => Promise<void> | void>> = {
  "renameFile()": renameFile,
  "renameFile() at once": (from, to) => renameFile(from, to, { atOnce: true }),
  "renameFileNow()": renameFileNow,
};

for (const [name, rename] of Object.entries(renames)) {
  test(`${name} replaces what has the name, and says why it cannot`, () =>
    inFolder(async (folder) => {
      const [from, to] = [join(folder, "from"), join(folder, "to")];
      await writeFile(from, "new");
      await writeFile(to, "old");
      await rename(from, to);
      assert.deepEqual([await readdir(folder), await readFile(to, "utf8")], [["to"], "new"]);
      await assert.rejects(async () => await rename(from, to), { code: "ENOENT" });
      await mkdir(join(folder, "folder", "below"), { recursive: true });
      await assert.rejects(async () => await rename(to, join(folder, "folder")), (error: Error & { code: string }) => {
        assert.ok(["EISDIR", "EPERM", "EACCES"].includes(error.code), error.code);
        return true;
      });
      assert.equal(await readFile(to, "utf8"), "new");
    }));
}
