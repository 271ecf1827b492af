import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../architecture/module_graph.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly needs?: string | readonly string[];
  readonly uses?: string;
  readonly container?: string;
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
}
interface Workflow {
  readonly on: Readonly<Record<string, { readonly tags?: readonly string[] } | null>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = join(root, ".github/workflows");
const names = readdirSync(folder).sort();
const texts = names.map((name) => readFileSync(join(folder, name), "utf8"));
// Bun reads YAML; Node and Deno have it do so.
const parsed = execFileSync(
  join(root, "node_modules/.bin/bun"),
  [
    "-e",
    "console.log(JSON.stringify(JSON.parse(process.argv[1]).map((text) => Bun.YAML.parse(text))))",
    JSON.stringify(texts),
  ],
  { encoding: "utf8", env: { ...process.env, FORCE_COLOR: "0" } },
);
const workflows = new Map((JSON.parse(parsed) as Workflow[]).map((workflow, i) => [names[i], workflow]));
const jobs = [...workflows].flatMap(([name, { jobs }]) => {
  return Object.entries(jobs).map(([id, job]) => ({ name: `${name}, ${id}`, ...job }));
});
const steps = jobs.flatMap(({ name, steps = [] }) => steps.map((step) => ({ name, ...step })));
const release = workflows.get("release.yml")!;
const { scripts, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

test("CI runs .ci/run for pushes and pull requests", () => {
  const { on, jobs } = workflows.get("ci.yml")!;
  assert.ok("push" in on && "pull_request" in on);
  const runs = commands(jobs.test);
  assert.ok(runs.includes(".ci/run"));
  accessSync(join(root, ".ci/run"), constants.X_OK);
  // In a container the checkout belongs to another user, and git refuses it.
  assert.ok(runs.indexOf(`git config --global --add safe.directory "$GITHUB_WORKSPACE"`) < runs.indexOf(".ci/run"));
  assert.ok(runs[0].startsWith("git config"));
});

test("CI builds the codecs with the compiler they were built with, and compares", () => {
  const { codecs } = workflows.get("ci.yml")!.jobs;
  assert.ok(commands(codecs).includes("npm run build:wasm -- --verify"));
  const { tools } = JSON.parse(readFileSync(join(root, "lib/codecs/wasm/build.json"), "utf8"));
  const [, version] = /^rustc (\d+\.\d+)\./.exec(tools.rustc)!;
  assert.equal(codecs.container, `rust:${version}-bookworm`);
});

test("a release is what a tag vX.Y.Z starts, and is published when its versions agree and CI has passed", () => {
  assert.deepEqual(release.on, { push: { tags: ["v[0-9]+.[0-9]+.[0-9]+"] } });
  const { check, test, pack, npm, jsr } = release.jobs;
  assert.ok(commands(check).includes(`node .ci/release_check.ts "$GITHUB_REF_NAME"`));
  assert.equal(test.uses, "./.github/workflows/ci.yml");
  assert.deepEqual([test.needs, pack.needs, npm.needs, jsr.needs], ["check", "test", "pack", "pack"]);
  assert.ok(commands(pack).includes("npm pack"));
  assert.ok(commands(npm).includes("npm publish ./*.tgz --provenance --access public --ignore-scripts"));
  assert.ok(commands(pack).includes("node .ci/jsr_package.ts jsr"));
  assert.ok(commands(jsr).includes("npx --no-install deno publish --allow-dirty"));
});

test("a release publishes the site that the packed build makes, once the package is there", () => {
  const { pack, site } = release.jobs;
  const runs = commands(pack);
  assert.ok(
    runs.includes("node .ci/site/build.ts") && runs.indexOf("npm pack") < runs.indexOf("node .ci/site/build.ts"),
  );
  const upload = pack.steps!.find(({ uses }) => uses?.startsWith("actions/upload-pages-artifact@"));
  assert.equal(upload?.with?.path, "site");
  assert.deepEqual(site.needs, ["npm", "jsr"]);
  assert.deepEqual(site.steps!.map(({ uses }) => uses?.split("@")[0]), ["actions/deploy-pages"]);
});

test("jobs that may publish run no code of development dependencies but Deno's installer", () => {
  for (const job of Object.values(release.jobs).filter(({ permissions }) => permissions?.["id-token"])) {
    assert.equal(job.environment, job === release.jobs.site ? "github-pages" : "release");
    for (const run of commands(job).filter((run) => /^npm (ci|i|install|rebuild|run|publish)\b/.test(run))) {
      assert.match(run, /--ignore-scripts|^npm rebuild deno$/);
    }
  }
});

test("jobs may do no more than they have to", () => {
  const read = { contents: "read" };
  const expected: Readonly<Record<string, unknown>> = {
    "release.yml, announce": { contents: "write" },
    "release.yml, npm": { "id-token": "write" },
    "release.yml, jsr": { ...read, "id-token": "write" },
    "release.yml, site": { "id-token": "write", pages: "write" },
  };
  assert.deepEqual(workflows.get("ci.yml")!.permissions, read);
  assert.deepEqual(release.permissions, {});
  for (const { name, permissions = read } of jobs) assert.deepEqual(permissions, expected[name] ?? read, name);
});

test("no workflow holds a secret or keeps the checkout's token, and each action is pinned to a commit", () => {
  for (const text of texts) assert.doesNotMatch(text, /secrets\.|NODE_AUTH_TOKEN|pull_request_target/);
  for (const { name, uses, with: inputs } of steps) {
    if (uses === undefined) continue;
    assert.match(uses, /^actions\/[\w-]+@[0-9a-f]{40}$/, name);
    if (uses.startsWith("actions/checkout@")) assert.equal(inputs?.["persist-credentials"], false, name);
  }
});

test("no workflow puts what others may write into a shell's words", () => {
  for (const { name, run = "" } of steps) assert.doesNotMatch(run, /\$\{\{/, name);
});

test("workflows run what exists", () => {
  const missing = steps.filter(({ run }) => run !== undefined && !exists(run)).map(({ name, run }) =>
    `${name}: ${run}`
  );
  assert.deepEqual(missing, []);
});

/** Whether the target of a command exists: a script of package.json, an installed tool, or a file. */
function exists(run: string): boolean {
  const [command, ...words] = run.split(" ");
  if (command === "npm") {
    return words[0] === "run" ? words[1] in scripts : ["ci", "pack", "pkg", "publish", "rebuild"].includes(words[0]);
  }
  if (command === "npx") return words[0] === "--no-install" && words[1] in devDependencies;
  if (command === "gh" || command === "git") return true;
  return existsSync(join(root, command === "node" ? words[0] : command));
}

function commands({ steps = [] }: Job): string[] {
  return steps.flatMap(({ run }) => run === undefined ? [] : [run]);
}
