#!/usr/bin/env node
/**
 * The command `millrace`, on every runtime: `millrace precompress DIR` and `millrace serve DIR`.
 *
 * @module
 */
// Package managers only warn of an old runtime, and modules of the package fail there with errors of other causes.
if ("detached" in ArrayBuffer.prototype) await (await import("./version.ts")).runCommand(() => import("./main.ts"));
else {
  const { default: process } = await import("node:process");
  // bunx runs commands under Node if there is one.
  const hint = process.env.npm_config_user_agent?.startsWith("bun/") ? ": try bunx --bun" : "";
  console.error(`millrace needs Node 22.18, Deno 2.4, Bun 1.2.23 or newer; this is ${process.version}${hint}`);
  process.exitCode = 1;
}
