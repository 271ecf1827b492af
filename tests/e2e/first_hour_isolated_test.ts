/**
 * The first hour of a user who adds this package to a Vite application. Every step follows its documentation, with the
 * package as it is published, by the commands of each runtime.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import test, { after, before, describe } from "node:test";
import { builtPackage } from "../support/built_package.ts";
import { run } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { type Consumer, makeConsumer, npmKinds, onPath, runWords } from "./consumer_kinds.ts";
import { publishCopy, type Published } from "./published.ts";
import { type ServingCommand, startServing } from "./serving_command.ts";
import { scriptOf, ViteProject } from "./vite_project.ts";
import { isLong } from "../support/long_run.ts";
import { pause } from "../support/waits.ts";

const BROWSER = { "accept-encoding": "gzip, deflate, br, zstd" };
const LIMIT = 60_000;

const skip = runtime !== "node"
  ? "it runs the commands of all runtimes itself"
  : !isLong && "examples_isolated_test.ts has a Vite site, npm_package_isolated_test.ts each command";

describe("the first hour with a Vite application", { skip }, () => {
  let published: Published;
  before(async () => {
    published = await publishCopy("npm", await builtPackage());
  });
  after(() => published[Symbol.asyncDispose]());

  for (const kind of npmKinds) {
    test(`by ${kind.command}`, async () => {
      const consumer = await makeConsumer(kind, published);
      const project = await ViteProject.make(consumer.folder, "first");
      await firstBuild(consumer, project);
      await rebuildInPlace(consumer, project);
      await redeploy(consumer, project);
      await artifactsWithoutDotfiles(consumer, project);
      await wrongWords(consumer);
    });
  }
});

const millrace = (consumer: Consumer, ...words: string[]): Promise<string> =>
  runWords(consumer.command, words, consumer);

async function serving(
  consumer: Consumer,
  words: readonly string[],
  use: (server: ServingCommand) => Promise<void>,
): Promise<void> {
  const [command, ...rest] = consumer.command.split(" ");
  const program = [onPath(command, consumer.env.PATH), ...rest, "serve", ...words, "-p", "0"];
  const server = await startServing(program, consumer.folder, consumer.env);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

const ask = (server: ServingCommand, path: string, headers = {}): Promise<Response> =>
  fetch(new URL(path, server.url), { headers: { ...BROWSER, ...headers } });

/** Build, compress, look at it, undo it. */
async function firstBuild(consumer: Consumer, project: ViteProject): Promise<void> {
  await project.build();
  const dist = join(project.folder, "dist");
  const built = (await readdir(dist, { recursive: true })).sort();
  const printed = await millrace(consumer, "precompress", "dist");
  assert.match(printed, /3 compressed, 0 unchanged, 2 left alone/);
  assert.match(await millrace(consumer, "precompress", "dist"), /0 compressed, 3 unchanged/);

  await serving(consumer, ["dist"], async (server) => {
    const page = await ask(server, "");
    assert.deepEqual([page.status, page.headers.get("content-encoding")], [200, "br"]);
    assert.equal(page.headers.get("cache-control"), "no-cache");
    const script = await ask(server, scriptOf(await page.text()));
    assert.equal(script.status, 200);
    assert.match(script.headers.get("cache-control")!, /immutable/);
    const photo = await ask(server, "photo-1024x768.jpg");
    assert.deepEqual([photo.status, photo.headers.get("cache-control")], [200, "no-cache"]);
  });

  await millrace(consumer, "precompress", "dist", "--clean");
  assert.deepEqual((await readdir(dist, { recursive: true })).sort(), built);
  await millrace(consumer, "precompress", "dist");
}

/** Makes a new build while the server runs: no client gets an error, and the new site is there without a restart. */
async function rebuildInPlace(consumer: Consumer, project: ViteProject): Promise<void> {
  await serving(consumer, ["dist"], async (server) => {
    const before = await project.script();
    const statuses = new Set<number>();
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        const page = await ask(server, "");
        statuses.add(page.status);
        await page.text();
        await pause(20);
      }
    })();
    await project.say("second");
    await project.build();
    await millrace(consumer, "precompress", "dist");
    const script = await project.script();
    assert.notEqual(script, before);
    const isNew = async (): Promise<boolean> => scriptOf(await (await ask(server, "")).text()) === script;
    for (const end = Date.now() + LIMIT; !await isNew() && Date.now() < end;) await pause(50);
    isOver = true;
    await asking;
    assert.ok(await isNew(), "the new page is served");
    assert.deepEqual([...statuses], [200]);
    const answer = await ask(server, script);
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /second/);
  });
}

/** The next deploy beside the previous one: returning visitors get a delta, and old pages their scripts. */
async function redeploy(consumer: Consumer, project: ViteProject): Promise<void> {
  await project.deploy("dist-deployed");
  const before = await project.script();
  const dictionary = await readFile(join(project.folder, "dist-deployed", before));
  await project.say("third");
  await project.build();
  await millrace(consumer, "precompress", "dist", "--previous", "dist-deployed");
  await serving(consumer, ["dist", "--previous", "dist-deployed"], async (server) => {
    const hash = createHash("sha256").update(dictionary).digest("base64");
    const delta = await ask(server, await project.script(), {
      "accept-encoding": "br, dcb",
      "available-dictionary": `:${hash}:`,
    });
    assert.equal(delta.headers.get("content-encoding"), "dcb");
    assert.ok((await delta.arrayBuffer()).byteLength < dictionary.length / 10);
    assert.match(await (await ask(server, before)).text(), /second/);
  });
}

/** Serves a copy of the folder without names that begin with a dot, which some ways to deploy leave out. */
async function artifactsWithoutDotfiles(consumer: Consumer, project: ViteProject): Promise<void> {
  const artifact = join(project.folder, "artifact");
  await cp(join(project.folder, "dist"), artifact, {
    recursive: true,
    filter: (path) => !/[/\\]\.[^/\\]*$/.test(path),
  });
  const files = (await readdir(artifact, { recursive: true })).sort();
  await serving(consumer, ["artifact"], async (server) => {
    for (const path of ["", await project.script()]) {
      const answer = await ask(server, path);
      assert.deepEqual([answer.status, answer.headers.get("content-encoding")], [200, "br"]);
      await answer.text();
    }
  });
  const printed = await millrace(consumer, "precompress", "artifact", "--previous", "dist-deployed");
  assert.match(printed, /0 compressed, 3 unchanged/);
  assert.deepEqual((await readdir(artifact, { recursive: true })).sort(), [".millrace.json", ...files]);
}

/** Tests that the errors for common mistakes name the remedy. */
async function wrongWords(consumer: Consumer): Promise<void> {
  const said = async (status: number, ...words: string[]): Promise<string> => {
    const [command, ...rest] = consumer.command.split(" ");
    const { code, stderr } = await run(
      onPath(command, consumer.env.PATH),
      [...rest, ...words],
      consumer.folder,
      consumer.env,
    );
    assert.equal(code, status, stderr);
    return stderr;
  };
  assert.match(await said(2, "precompress", "."), /seems to be no build .*dist/);
  assert.match(await said(2, "serv", "dist"), /did you mean serve\?/);
  assert.match(await said(2, "serve", "dist", "--prot", "1"), /did you mean --port\?/);
  assert.match(await said(2, "precompress", "dits"), /cannot read .*dits: there is no such folder/);
}
