/**
 * Real applications behave the same with this package's streams as globals and with the runtime's own, except for the
 * differences in `applications.ts`. Each scenario's statuses, fields, chunks in their order, errors and unhandled
 * rejections are compared.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { output } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";
import { applications, type Driven } from "./applications/applications.ts";
import type { Outcomes } from "./applications/drive.ts";
import { areInstalled } from "./applications/packages.ts";

const drive = join(root, "tests/interop/applications/drive.ts");
const install = join(root, "lib/streams/install.ts");
const flags = {
  node: { native: [], installed: ["--import", install] },
  bun: { native: [], installed: ["--preload", install] },
  deno: {
    native: ["run", "-A", "--no-check", "--quiet"],
    installed: ["run", "-A", "--no-check", "--quiet", "--preload", install],
  },
}[runtime];

/** Runs the scenarios of an application in a separate process and returns their outcomes. */
async function driven(name: string, mode: "native" | "installed"): Promise<Outcomes["outcomes"]> {
  const printed = await output(process.execPath, [...flags[mode], drive, name], root);
  const { installed, outcomes }: Outcomes = JSON.parse(printed.slice(printed.trimEnd().lastIndexOf("\n") + 1));
  assert.equal(installed, mode === "installed");
  return outcomes;
}

async function compare({ name, differences = [] }: Driven): Promise<void> {
  const native = await driven(name, "native");
  const installed = await driven(name, "installed");
  assert.ok(Object.keys(native).length > 10, "there are scenarios");
  assert.deepEqual(Object.keys(installed), Object.keys(native));
  const isKnown = (scenario: string): boolean =>
    differences.some((known) => known.runtime === runtime && known.scenario.test(scenario));
  for (const [scenario, outcome] of Object.entries(native)) {
    if (!isKnown(scenario)) assert.deepEqual(installed[scenario], outcome, `${name}: ${scenario}`);
  }
}

const missing = !areInstalled() && "node tests/interop/applications/run.ts installs them";

for (const application of applications) {
  const { name, runtimes = [runtime] } = application;
  const skip = missing || (!runtimes.includes(runtime) && `it is driven on ${runtimes.join(", ")}`);
  test(`${name} does with our streams as the globals as with the runtime's own`, { skip, timeout: 300_000 }, () => {
    return compare(application);
  });
}
