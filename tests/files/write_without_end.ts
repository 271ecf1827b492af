/** Begins to write a file, reports that, and continues until it is killed. */
import process from "node:process";
import { AtomicFile } from "../../lib/files/mod.ts";

const file = await AtomicFile.open(process.argv[2]);
await file.write(new Uint8Array(1000));
console.log("begun");
// The timer holds the file: one that is dropped is discarded when it is collected.
setInterval((_: AtomicFile) => {}, 1000, file);
