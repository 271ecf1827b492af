import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { FolderWatch } from "../../lib/static/handler/rescan.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { inFolder } from "../support/folders.ts";

/** Enough for three looks: more folders than are looked at each time. */
const FOLDERS = 1200;

test("a watch notices each exchanged folder of many within a few looks, and reports none that is new, gone or back", () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "watched"));
    const paths = Array.from({ length: FOLDERS }, (_, i) => join(folder, `served-${i}`));
    for (const path of paths) mkdirSync(path);
    const spare = join(folder, "spare");
    let served = paths;
    let changes = 0;
    using clock = new FakeClock();
    const looks = (): number => {
      changes = 0;
      for (let i = 0; i < 4; i++) clock.turn(1000);
      return changes;
    };
    // None of the served folders is in the watched one, whose watcher reports nothing of them.
    const watch = new FolderWatch(join(folder, "watched"), () => served, () => changes++, assert.fail);
    try {
      assert.equal(looks(), 0);
      for (const path of [paths[0], paths[499], paths[500], paths[FOLDERS - 1]]) {
        mkdirSync(spare);
        renameSync(path, `${path}-former`);
        renameSync(spare, path);
        assert.ok(looks() > 0, path);
        looks(); // a new watcher begins with a report
        assert.equal(looks(), 0, path);
      }
      rmSync(paths[7], { recursive: true });
      served = served.slice(0, -1);
      assert.equal(looks(), 0);
      mkdirSync(paths[7]);
      served = paths;
      assert.equal(looks(), 0);
    } finally {
      watch.close();
    }
  }));
