import assert from "node:assert/strict";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readBlocks, runBlocks, type RuntimeName, startPeerServer } from "../docs/blocks.ts";
import { makeSite, siteVariants } from "./consumer.ts";
import { root } from "../support/runtime.ts";
import { type Consumer, onPath, runModule, runWords } from "./consumer_kinds.ts";
import { loadAll, type Loaded } from "./consumer_modules.ts";
import { startServing } from "./serving_command.ts";

/** Checks that all subpaths but the command load and export their names, and that the codecs find their modules. */
export async function checkModules(consumer: Consumer, subpaths: readonly string[]): Promise<void> {
  const { names, renamed, roundTrips } = JSON.parse(
    await runModule("load.mts", loadAll(subpaths), consumer),
  ) as Loaded;
  assert.deepEqual(Object.keys(names), subpaths);
  assert.deepEqual(Object.entries(names).filter(([, exported]) => exported.length === 0), []);
  const four = ["./batch", "./codecs", "./streams", "./text"].flatMap((subpath) => names[subpath]);
  assert.deepEqual([...names["."]].sort(), four.sort());
  assert.deepEqual(renamed, []);
  assert.deepEqual(roundTrips, { zstd: 8000, brotli: 8000, gzip: 8000 });
}

/** Precompresses a site by the command, with worker threads, and serves the result. */
export async function checkCommand(consumer: Consumer): Promise<void> {
  const site = await makeSite(join(consumer.folder, "dist"));
  await runWords(consumer.command, ["precompress", "dist", "--jobs", "2"], consumer);
  for (const path of siteVariants) await access(join(site, path));
  const [command, ...words] = consumer.command.split(" ");
  const serve = [onPath(command, consumer.env.PATH), ...words, "serve", "dist", "--port", "0"];
  const server = await startServing(serve, consumer.folder, consumer.env);
  try {
    for (const encoding of ["br", "gzip", "zstd"]) {
      const answer = await fetch(new URL("assets/app.css", server.url), { headers: { "accept-encoding": encoding } });
      assert.equal(answer.headers.get("content-encoding"), encoding);
      assert.equal(await answer.text(), await readFile(join(site, "assets/app.css"), "utf8"));
    }
  } finally {
    await server.stop();
  }
}

/** Runs every example of README with the installed package, and requires the documented output. */
export async function checkReadme(consumer: Consumer): Promise<void> {
  const runtime = consumer.run.split(" ")[0] as RuntimeName;
  const blocks = readBlocks(["README.md"], root).filter(({ runtimes }) => runtimes.includes(runtime));
  const peer = await startPeerServer();
  try {
    const executable = onPath(runtime, consumer.env.PATH);
    const options = { runtime, executable, project: consumer.folder, origin: peer.origin, env: consumer.env };
    const problems = await Promise.all(runBlocks(blocks, options));
    assert.equal(problems.flat().join("\n"), "");
  } finally {
    await peer.close();
  }
}
