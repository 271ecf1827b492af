/** Completes files that their owner may not write to, below the folder of its argument, and prints the failures. */
import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { RotatingFileWritable } from "../../lib/files/mod.ts";
import { DiskSessions } from "../../lib/upload/session/disk_sessions.ts";

const folder = process.argv[2];
const failures: string[] = [];

function expectMode(path: string, mode: number): void {
  const found = existsSync(path) ? (statSync(path).mode & 0o777).toString(8) : "none";
  if (found !== mode.toString(8)) failures.push(`${path}: ${found} instead of ${mode.toString(8)}`);
}

for (const mode of [0o644, 0o440]) {
  const directory = join(folder, mode.toString(8));
  mkdirSync(directory);
  const onWarning = ({ message }: Error): void => void failures.push(message);
  const log = { directory, name: "app.log", append: true, maxFileSize: 8 } as const;
  const plain = new RotatingFileWritable({ ...log, onWarning }).getWriter();
  for (let i = 0; i < 2; i++) await plain.write("a line\n");
  await plain.close();
  chmodSync(join(directory, "app-00001.log"), mode);
  await new RotatingFileWritable({ ...log, compress: "gzip", onWarning }).getWriter().close();
  expectMode(join(directory, "app-00001.log.gz"), mode);

  const hold = await new DiskSessions(directory, { mode, flush: true }).create(
    crypto.randomUUID(),
    { version: 1, state: "open", fields: {} } as never,
    () => {},
  );
  let attempts = 0;
  const check = (): void => {
    if (++attempts === 1) throw new Error("not yet");
  };
  try {
    await hold.append([new TextEncoder().encode("data")]);
    await hold.store("upload.txt", { overwrite: false, claim: { check } as never }).catch(() => {});
    await hold.store("upload.txt", { overwrite: false, claim: { check } as never });
  } catch (error) {
    failures.push(String(error));
  }
  expectMode(join(directory, "upload.txt"), mode);
  await hold.release();
}
console.log(JSON.stringify(failures));
