#!/usr/bin/env node
/**
 * The command `millrace`, on every runtime: `millrace precompress DIR` and `millrace serve DIR`.
 *
 * @module
 */
import process from "node:process";

// Package managers only warn of a runtime that is too old, and where the code then fails says nothing to its user.
if ("detached" in ArrayBuffer.prototype) {
  const { main } = await import("./main.ts");
  process.exitCode = await main(process.argv.slice(2));
} else {
  console.error(`millrace needs Node 22.18, Deno 2.4, Bun 1.2.23 or newer; this is ${process.version}`);
  process.exitCode = 1;
}
