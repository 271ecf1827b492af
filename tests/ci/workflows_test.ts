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
  assert.ok(Object.values(jobs).some(({ steps }) => steps?.some(({ run }) => run === ".ci/run")));
  accessSync(join(root, ".ci/run"), constants.X_OK);
});

test("a release is what a tag vX.Y.Z starts, and is published when its versions agree and CI has passed", () => {
  assert.deepEqual(release.on, { push: { tags: ["v[0-9]+.[0-9]+.[0-9]+"] } });
  const { check, test, npm, jsr } = release.jobs;
  assert.ok(check.steps?.some(({ run }) => run === `node .ci/release_check.ts "$GITHUB_REF_NAME"`));
  assert.equal(test.uses, "./.github/workflows/ci.yml");
  assert.deepEqual([test.needs, npm.needs, jsr.needs], ["check", "test", "test"]);
  assert.ok(npm.steps?.some(({ run }) => run === "npm publish --provenance --access public"));
  assert.ok(jsr.steps?.some(({ run }) => run === "npx --no-install deno publish"));
});

test("jobs may do no more than they have to", () => {
  const allowed = { "release.yml, announce": { contents: "write" } };
  const publishing = { contents: "read", "id-token": "write" };
  const expected: Readonly<Record<string, unknown>> = {
    ...allowed,
    "release.yml, npm": publishing,
    "release.yml, jsr": publishing,
  };
  assert.deepEqual(workflows.get("ci.yml")!.permissions, { contents: "read" });
  assert.deepEqual(release.permissions, {});
  for (const { name, permissions } of jobs) {
    assert.deepEqual(permissions ?? { contents: "read" }, expected[name] ?? { contents: "read" }, name);
  }
});

test("no workflow holds a secret or keeps the checkout's token, and each action is pinned", () => {
  for (const text of texts) assert.doesNotMatch(text, /secrets\.|NODE_AUTH_TOKEN|pull_request_target/);
  for (const { name, uses, with: inputs } of steps) {
    if (uses === undefined) continue;
    assert.match(uses, /^actions\/[\w-]+@(v\d+|[0-9a-f]{40})$/, name);
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

/** Whether what a command starts is there: a script of package.json, a tool it installs, or a file. */
function exists(run: string): boolean {
  const [command, ...words] = run.split(" ");
  if (command === "npm") {
    return words[0] === "run" ? words[1] in scripts : ["ci", "pkg", "publish"].includes(words[0]);
  }
  if (command === "npx") return words[0] === "--no-install" && words[1] in devDependencies;
  if (command === "gh") return true;
  return existsSync(join(root, command === "node" ? words[0] : command));
}
