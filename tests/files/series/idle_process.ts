/** Writes lines to a compressed series, waits for the compression, and leaves the series open. */
import process from "node:process";
import { RotatingFileWritable } from "../../../lib/files/mod.ts";

const log = new RotatingFileWritable({
  directory: process.argv[2],
  name: "app.log",
  maxFileSize: 20,
  append: true,
  compress: "gzip",
});
const writer = log.getWriter();
for (let i = 0; i < 3; i++) await writer.write(`the line ${i}\n`);
