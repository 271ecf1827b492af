/**
 * Writes lines to a series for as long as it lives, and prints the number of the last one whenever some are acknowledged.
 * The arguments are the folder, the name of the lines, and more options as JSON.
 */
import { writeSync } from "node:fs";
import process from "node:process";
import type * as Files from "../../../lib/files/mod.ts";
import { faceOf } from "../../support/built_faces.ts";

const { RotatingFileWritable }: typeof Files = await import(faceOf("files"));
const [directory, run, options] = process.argv.slice(2);
const log = new RotatingFileWritable({
  directory,
  name: "app.log",
  maxFileSize: 20_000,
  append: true,
  ...JSON.parse(options),
});
const writer = log.getWriter();
writer.closed.catch((error) => {
  console.error(error);
  process.exit(1);
});
// It is killed long before, unless its test has ended by a time limit.
setTimeout(() => process.exit(1), 60_000).unref();

/** Prints a number, unless the pipe is full: the next number implies this one. */
function tell(line: number): void {
  try {
    writeSync(1, `${line}\n`);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EAGAIN") throw error;
  }
}

for (let line = 0;; line++) {
  await writer.ready;
  const written = writer.write(`${run}:${line} ${"x".repeat(line % 90)}\n`);
  if (line % 10 === 0) written.then(() => tell(line), () => {});
  if (line % 500 === 0) await log.rotate();
  if (line % 40 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}
