import assert from "node:assert/strict";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { inFolder } from "../support/folders.ts";

const DATE = "if-modified-since";

/**
 * Deploys two contents with equal file times; returns the date, and the statuses of the second one's conditional
 * requests.
 */
async function revalidated(folder: string, seconds: number): Promise<{ date: string | null; status: number[] }> {
  const path = join(folder, "index.html");
  let date: string | null = null;
  const status: number[] = [];
  for (const text of ["one", "another"]) {
    await writeFile(path, text);
    await utimes(path, seconds, seconds);
    const site = await createStaticHandler(folder);
    const headers = [
      [DATE, "if-unmodified-since"].map((name) => [name, date ?? new Date(seconds * 1000).toUTCString()]),
    ];
    for (const [name, value] of headers[0]!) {
      const response = await site.fetch(new Request("http://localhost/", { headers: { [name!]: value! } }));
      if (text === "another") status.push(response.status);
      date ??= response.headers.get("last-modified");
      assert.equal(response.status !== 200 || await response.text() === text, true);
    }
    await site.close();
  }
  return { date, status };
}

test("files with the time of a reproducible build have no Last-Modified, and conditions on a date are passed over", () =>
  inFolder(async (folder) => {
    // The epoch, one second after it (Nix), the first date of ZIP archives (buildpacks), and npm's.
    for (const seconds of [0, 1, 315_532_800, 315_532_801, 499_162_500]) {
      assert.deepEqual(await revalidated(folder, seconds), { date: null, status: [200, 200] }, `${seconds} s`);
    }
  }));

test("files with a time of their own have one", () =>
  inFolder(async (folder) => {
    const { date, status } = await revalidated(folder, 1_700_000_000);
    assert.deepEqual([date, status], ["Tue, 14 Nov 2023 22:13:20 GMT", [304, 200]]);
  }));
