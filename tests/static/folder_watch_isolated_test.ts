import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { FolderWatch } from "../../lib/static/handler/rescan.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { inFolder } from "../support/folders.ts";
import { turn } from "../support/waits.ts";

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
    const looks = async (): Promise<number> => {
      changes = 0;
      for (let i = 0; i < 4; i++) {
        clock.turn(1000);
        await Promise.resolve(); // lets the report end, but no watcher of the system report
      }
      return changes;
    };
    // None of the served folders is in the watched one, whose watcher reports nothing of them.
    const watch = new FolderWatch(
      join(folder, "watched"),
      () => served,
      () => Promise.resolve(void changes++),
      assert.fail,
    );
    try {
      assert.equal(await looks(), 0);
      for (const path of [paths[0], paths[499], paths[500], paths[FOLDERS - 1]]) {
        mkdirSync(spare);
        renameSync(path, `${path}-former`);
        renameSync(spare, path);
        assert.ok(await looks() > 0, path);
        await looks(); // a new watcher begins with a report
        assert.equal(await looks(), 0, path);
      }
      rmSync(paths[7], { recursive: true });
      served = served.slice(0, -1);
      assert.equal(await looks(), 0);
      mkdirSync(paths[7]);
      served = paths;
      assert.equal(await looks(), 0);
    } finally {
      watch.close();
    }
  }));

test("a watch reports changes again only once the last report is acted on, and then after as long a pause", () =>
  inFolder(async (folder) => {
    const reports: PromiseWithResolvers<void>[] = [];
    using clock = new FakeClock();
    const identities = [join(folder, "a"), join(folder, "b")];
    for (const path of identities) mkdirSync(path);
    const onChange = (): Promise<void> => (reports.push(Promise.withResolvers()), reports.at(-1)!.promise);
    const watch = new FolderWatch(join(folder, "a"), () => [], onChange, assert.fail);
    const change = (): void => { // at its next look, the watched folder is another one
      const [first, second] = identities.map((path) => `${path}-moved`);
      renameSync(identities[0], first);
      renameSync(identities[1], second);
      renameSync(first, identities[1]);
      renameSync(second, identities[0]);
      clock.turn(1000);
    };
    try {
      change();
      clock.turn(1000);
      assert.equal(reports.length, 1);
      for (let i = 0; i < 9; i++) change();
      assert.equal(reports.length, 1, "none while the first is acted on");
      reports[0].resolve();
      await turn();
      clock.turn(8000);
      assert.equal(reports.length, 1, "none within the pause");
      clock.turn(4000);
      assert.equal(reports.length, 2);
    } finally {
      watch.close();
    }
    reports[1].resolve();
    await turn();
    clock.turn(60_000);
    assert.equal(reports.length, 2, "none once it is closed");
  }));
