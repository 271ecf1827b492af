#!/usr/bin/env node
/**
 * The command `millrace`, on every runtime: `millrace precompress DIR` and `millrace serve DIR`.
 *
 * @module
 */
import process from "node:process";
import { commandWords } from "../runtime/mod.ts";
import { asksForVersion, version } from "./version.ts";

// Package managers only warn of a runtime that is too old, and where the code then fails says nothing to its user.
if ("detached" in ArrayBuffer.prototype) {
  const words = commandWords();
  // Nothing is loaded for it: `console` is there, where Bun takes 6 ms to open `process.stdout`.
  if (asksForVersion(words)) console.log(`millrace ${version}`);
  else process.exitCode = await (await import("./main.ts")).main(words);
} else {
  console.error(`millrace needs Node 22.18, Deno 2.4, Bun 1.2.23 or newer; this is ${process.version}`);
  process.exitCode = 1;
}
