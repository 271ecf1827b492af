import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before } from "node:test";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { pause } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";
import { overlapping } from "../support/overlapping.ts";
import { isLong } from "../support/long_run.ts";
import { randomNumbers } from "../support/random_numbers.ts";

const test = overlapping();

const LARGE = 100_000;

let folder = "";
let folders = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-previous-"));
});

after(() => rm(folder, { recursive: true, force: true }));

/** Returns the paths of one deploy's files that have a hash in their names. */
function assetsOf(deploy: number): string[] {
  return [`assets/app-a1b2c3d${deploy}.js`, `assets/film-a1b2c3d${deploy}.bin`];
}

/** Returns the files of one deploy: small and large assets, and what has no hash in its name. */
function filesOf(deploy: number): Record<string, string> {
  const [script, film] = assetsOf(deploy);
  return {
    "index.html": `<!doctype html><title>${deploy}</title>`,
    // Deploys that follow within a millisecond are told apart by the lengths of their files.
    "large.bin": `${deploy}`.repeat(LARGE + deploy),
    [script]: `console.log(${deploy})`,
    [film]: `${deploy}`.repeat(LARGE),
    [`page-${deploy}.html`]: `only of deploy ${deploy}`,
  };
}

/** Creates a handler, runs a function with it, and closes it. */
async function serving(
  directory: string,
  options: StaticHandlerOptions,
  use: (handler: StaticHandler) => Promise<void>,
): Promise<void> {
  const handler = await createStaticHandler(directory, options);
  try {
    await use(handler);
  } finally {
    await handler.close();
  }
}

async function statusOf(handler: StaticHandler, path: string): Promise<number> {
  const response = await handler.fetch(new Request(`http://site.example/${path}`));
  await response.text();
  return response.status;
}

async function assertStatus(handler: StaticHandler, deploy: number, status: number): Promise<void> {
  for (const path of assetsOf(deploy)) assert.equal(await statusOf(handler, path), status, path);
}

test("previous: true keeps what has a hash in its name for one more deploy, if it is still there to be read", async () => {
  const releases = join(folder, `${++folders}`);
  await writeTree(join(releases, "current"), filesOf(1));
  await serving(join(releases, "current"), { previous: true }, async (handler) => {
    for (let deploy = 2; deploy <= (isLong ? 4 : 3); deploy++) {
      await writeTree(join(releases, "next"), filesOf(deploy));
      await rename(join(releases, "current"), join(releases, `${deploy - 1}`));
      await rename(join(releases, "next"), join(releases, "current"));
      await handler.reload();
      await assertStatus(handler, deploy, 200);
      const [script, film] = assetsOf(deploy - 1);
      assert.equal(await statusOf(handler, script), 200, "in memory");
      assert.equal(await statusOf(handler, film), 404, "streamed, and gone from where it was");
      assert.equal(await statusOf(handler, `page-${deploy - 1}.html`), 404);
      if (deploy > 2) await assertStatus(handler, deploy - 2, 404);
    }
  });
});

test("previous: true does not take a scan because of a changed file for a deploy", async () => {
  const site = join(folder, `${++folders}`);
  await writeTree(site, filesOf(1));
  await serving(site, { previous: true, onWarning: () => {} }, async (handler) => {
    for (let deploy = 2; deploy <= (isLong ? 4 : 3); deploy++) {
      await writeTree(site, filesOf(deploy));
      const [former] = assetsOf(deploy - 1);
      await rm(join(site, former));
      // During the deploy a client requests what was replaced, and again until the handler has scanned by itself.
      while (await statusOf(handler, "large.bin") === 503) await pause(20);
      assert.equal(await statusOf(handler, former), 200, "before reload()");
      await assertStatus(handler, deploy, 200);
      await handler.reload();
      assert.equal(await statusOf(handler, former), 200, "after reload()");
      await writeFile(join(site, "large.bin"), "5".repeat(LARGE));
      while (await statusOf(handler, "large.bin") === 503) await pause(20);
      assert.equal(await statusOf(handler, former), 200, "after another file has changed");
      if (deploy > 2) assert.equal(await statusOf(handler, assetsOf(deploy - 2)[0]), 404);
    }
  });
});

test("previous: true keeps what the last deploy removed, whatever is added or changed and scanned after that", async () => {
  const seed = Number(process.env.MILLRACE_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = randomNumbers(seed);
  const site = join(folder, `${++folders}`);
  let made = 10;
  const add = async (): Promise<string> => {
    const path = `assets/app-a1b2c3${++made}.js`;
    await writeTree(site, { [path]: `console.log(${made})` });
    return path;
  };
  await writeTree(site, filesOf(1));
  const there = [await add(), await add(), await add()];
  let removed: string[] = [];
  await serving(site, { previous: true, onWarning: () => {} }, async (handler) => {
    await handler.reload(); // all is in memory then
    for (let step = 0; step < (isLong ? 100 : 40); step++) {
      const gone = random(3) === 0 ? there.splice(random(there.length), 1 + random(2)) : [];
      for (const path of gone) await rm(join(site, path));
      if (gone.length > 0 || random(2) === 0) there.push(await add(), await add());
      await writeTree(site, { "index.html": `<!doctype html><title>${step}</title>` });
      await handler.reload();
      if (gone.length > 0) removed = gone;
      if (isLong && random(4) === 0) { // it is scanned once it is at rest, which takes its time
        await writeTree(site, { "large.bin": `${step % 10}`.repeat(LARGE + step) });
        while (await statusOf(handler, "large.bin") === 503) await pause(20);
      }
      const wrong = await failing(handler, [...removed, ...there]);
      assert.deepEqual(wrong, [], `with MILLRACE_SEED=${seed}, at step ${step}`);
    }
  });
});

/** Returns the paths that are not answered with 200. */
async function failing(handler: StaticHandler, paths: readonly string[]): Promise<string[]> {
  const statuses = await Promise.all(paths.map((path) => statusOf(handler, path)));
  return paths.filter((_, i) => statuses[i] !== 200);
}

test("previous: a folder answers for what has a hash in its name, and only where the tree has no such file", async () => {
  const [site, previous] = [join(folder, `${++folders}`), join(folder, `${++folders}`)];
  await writeTree(site, filesOf(2));
  await writeTree(previous, { ...filesOf(1), [assetsOf(2)[0]]: "not what the tree has" });
  await serving(site, { previous }, async (handler) => {
    await assertStatus(handler, 1, 200);
    await assertStatus(handler, 2, 200);
    assert.equal(await statusOf(handler, "page-1.html"), 404);
    const response = await handler.fetch(new Request(`http://site.example/${assetsOf(2)[0]}`));
    assert.equal(await response.text(), "console.log(2)");
    const film = await handler.fetch(new Request(`http://site.example/${assetsOf(1)[1]}`));
    assert.equal(await film.text(), "1".repeat(LARGE));
    assert.match(film.headers.get("cache-control") ?? "", /immutable/);
    // Files of the previous deploy that are removed stay removed: nothing can restore them.
    await rm(join(previous, assetsOf(1)[1]));
    assert.equal(await statusOf(handler, assetsOf(1)[1]), 404);
  });
});

test("without previous nothing of the former deploy is answered", async () => {
  const site = join(folder, `${++folders}`);
  await writeTree(site, filesOf(1));
  await serving(site, {}, async (handler) => {
    for (const path of Object.keys(filesOf(1))) await rm(join(site, path));
    await writeTree(site, filesOf(2));
    await handler.reload();
    await assertStatus(handler, 1, 404);
    await assertStatus(handler, 2, 200);
  });
});
