#!/usr/bin/env node
/**
 * The command `millrace`, on every runtime: `millrace precompress DIR` and `millrace serve DIR`.
 *
 * @module
 */
import process from "node:process";
import { commandWords } from "../runtime/mod.ts";
import { asksForVersion, version } from "./version.ts";

// Package managers only warn of an old runtime, and the later error would not name the cause.
if ("detached" in ArrayBuffer.prototype) {
  const words = commandWords();
  // Printed by `console`, since opening `process.stdout` takes Bun 6 ms.
  if (asksForVersion(words)) console.log(`millrace ${version}`);
  else process.exitCode = await (await import("./main.ts")).main(words);
} else {
  console.error(`millrace needs Node 22.18, Deno 2.4, Bun 1.2.23 or newer; this is ${process.version}`);
  process.exitCode = 1;
}
