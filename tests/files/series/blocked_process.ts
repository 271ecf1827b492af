/** Writes a line to a series, says so, and blocks, without a sign of life, until it is killed. */
import { writeSync } from "node:fs";
import process from "node:process";
import { RotatingFileWritable } from "../../../lib/files/mod.ts";

const log = new RotatingFileWritable({ directory: process.argv[2], name: "app.log", maxFileSize: 100, append: true });
await log.getWriter().write("1\n");
writeSync(1, "written\n");
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
