/**
 * Logs as many lines as the third argument says, in the way that the first names, to the folder of the second, and ends
 * in the way of the fourth.
 */
import { rmSync, writeFileSync } from "node:fs";
import pino from "pino";
import process from "node:process";
import type * as Pino from "../../lib/pino/mod.ts";
import { faceOf } from "../support/built_faces.ts";

const [way, directory, count, end] = process.argv.slice(2);
const options = { directory, name: "app.log", maxFileSize: 50_000 };
const target = faceOf("pino");
const { openLogDestination }: typeof Pino = await import(target);

const logger = way === "transport"
  ? pino(pino.transport({ target, options }))
  : pino(await openLogDestination(options));
for (let i = 0; i < Number(count); i++) logger.info({ i }, "a line of the log");
if (end === "listener") {
  // It comes behind that of the destination.
  process.on("exit", () => logger.info({ i: Number(count) }, "the last line"));
  process.exit();
}
if (end === "blocked") {
  // Nothing can be written from here on.
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "");
  process.on("exit", () => logger.info({}, "a line that has no place"));
  process.on("exit", () => console.log("the last listener"));
  process.exit();
}
if (end === "exit") process.exit();
if (end === "throw") throw new Error("as it is meant to");
if (end === "later") setTimeout(() => process.exit(), 300);
