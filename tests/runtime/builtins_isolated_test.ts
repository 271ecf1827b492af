import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import * as fsPromises from "node:fs/promises";
import process from "node:process";
import test from "node:test";
import * as workerThreads from "node:worker_threads";
import { builtins } from "../../lib/runtime/builtins.ts";

test("builtins has what imports of the runtime's modules have", () => {
  assert.equal(builtins.fs.statSync, fs.statSync);
  assert.equal(builtins.fsPromises.stat, fsPromises.stat);
  assert.equal(builtins.workerThreads.Worker, workerThreads.Worker);
  assert.equal(builtins.Buffer, Buffer);
  assert.equal(builtins.process.pid, process.pid);
  assert.equal(builtins.fs, builtins.fs);
});

test("builtins gives every module that it names", () => {
  for (const name of Object.keys(builtins) as (keyof typeof builtins)[]) {
    assert.ok(["object", "function"].includes(typeof builtins[name]), name);
  }
});

test("builtins says which module a host does not have when it is used", async () => {
  const fresh = "../../lib/runtime/builtins.ts?fresh";
  const { builtins } = await import(fresh) as typeof import("../../lib/runtime/builtins.ts");
  const { value, ...own } = Object.getOwnPropertyDescriptor(globalThis, "process")!;
  let failure: unknown;
  let ofProcess: unknown;
  Object.defineProperty(globalThis, "process", { configurable: true, value: undefined });
  try {
    failure = thrownBy(() => builtins.tls);
    ofProcess = thrownBy(() => builtins.process);
  } finally {
    Object.defineProperty(globalThis, "process", value === undefined ? own : { value, ...own });
  }
  const needs = "is not there: this part of @millrace/streams runs on Node 22.18, Deno 2.4, Bun 1.2.23 or newer";
  assert.equal(String(failure), `TypeError: node:tls ${needs}`);
  assert.equal(String(ofProcess), `TypeError: process ${needs}`);
});

function thrownBy(steps: () => unknown): unknown {
  try {
    return steps();
  } catch (error) {
    return error;
  }
}
