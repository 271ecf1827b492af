import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after, before } from "node:test";
import { isLong } from "../support/long_run.ts";
import { pause } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";
import { type Generation, Generations } from "./generations.ts";
import { entries, type Entry } from "./served_handler.ts";
import { ServerProcess } from "./server_process.ts";
import { type Counts, type Visit, Visitor } from "./visitors.ts";

/** At least, for each of the two ways to deploy, and each of the two entry points: in a long run a thousand in all. */
const RELOADS = isLong ? 250 : 8;
const VISITORS = 4;

let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-reload-"));
});

after(() => rm(folder, { recursive: true, force: true }));

/** Deploys successive generations while clients request all files. */
async function deployUnderLoad(
  served: string,
  entry: Entry,
  how: "at once" | "one by one",
  deploy: (generation: Generation) => Promise<void>,
): Promise<Counts> {
  const generations = new Generations();
  await deploy(await generations.make(0));
  const server = await ServerProcess.start(served, entry, { previous: true });
  const visit: Visit = {
    port: server.port,
    generations,
    progress: { begun: 0, served: 0 },
    counts: { whole: 0, notModified: 0, parts: 0, former: 0, unavailable: 0 },
    isInPlace: how === "one by one",
    held: [],
    isOver: false,
    byTag: new Map(),
  };
  const askHeld = (): Promise<unknown> => Promise.all(visit.held.splice(0).map((ask) => ask()));
  const visitors = Promise.all(Array.from({ length: VISITORS }, () => new Visitor(visit).stay()));
  visitors.catch(() => {}); // reported below
  try {
    let number = 1;
    for (; (number <= RELOADS || (number <= 500 && !areTelling(visit.counts))) && !visit.isOver; number++) {
      const generation = await generations.make(number);
      visit.progress.begun = number;
      await deploy(generation);
      await server.reload();
      visit.progress.served = number;
      await askHeld();
      await pause(2); // while nothing else is pending
    }
    visit.isOver = true;
    await askHeld();
    await visitors;
    assert.equal(visit.progress.served, number - 1);
  } finally {
    visit.isOver = true;
    await server.stop();
  }
  return visit.counts;
}

/** Writes a generation to a new folder, and atomically switches a link to it. */
function linking(place: string): (generation: Generation) => Promise<void> {
  return async ({ number, files }) => {
    await writeTree(join(place, `releases/${number}`), files);
    await symlink(`releases/${number}`, join(place, "next"));
    await rename(join(place, "next"), join(place, "current"));
    await rm(join(place, `releases/${number - 3}`), { recursive: true, force: true });
  };
}

/** Replaces files one by one by renaming, and removes what only a generation before the former one had. */
function renaming(site: string): (generation: Generation) => Promise<void> {
  let former: readonly string[] = [];
  let older: readonly string[] = [];
  return async ({ number, files }) => {
    for (const [path, bytes] of Object.entries(files)) {
      const staged = `${site}-${number}`;
      await writeFile(staged, bytes);
      await mkdir(dirname(join(site, path)), { recursive: true });
      await rename(staged, join(site, path));
    }
    for (const path of older) if (!former.includes(path)) await rm(join(site, path));
    [older, former] = [former, Object.keys(files)];
  };
}

/** Whether there were enough answers of each kind. */
function areTelling({ whole, notModified, parts, former }: Counts): boolean {
  return whole > RELOADS && notModified > 10 && parts > 10 && former > 0;
}

function assertAllKinds(counts: Counts): void {
  assert.ok(areTelling(counts), `too little to tell: ${JSON.stringify(counts)}`);
}

for (const entry of entries) {
  test(`${entry}: no answer is wrong or mixed while a link to the deploy is switched again and again`, async () => {
    const place = join(folder, `linked-${entry}`);
    const counts = await deployUnderLoad(join(place, "current"), entry, "at once", linking(place));
    assertAllKinds(counts);
    assert.equal(counts.unavailable, 0);
  });

  test(`${entry}: no answer is wrong or mixed while files are replaced by renaming again and again`, async () => {
    const site = join(folder, `renamed-${entry}`);
    assertAllKinds(await deployUnderLoad(site, entry, "one by one", renaming(site)));
  });
}
