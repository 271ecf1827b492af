import { readdir } from "node:fs/promises";
import test from "node:test";
import { isLockName } from "../../../lib/files/internal.ts";
import { RotatingFileWritable } from "../../../lib/files/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { until } from "../../support/waits.ts";

/** Writes to a series, and drops it. */
async function write(directory: string, name: string): Promise<void> {
  const log = new RotatingFileWritable({ directory, name, maxFileSize: 100, append: true });
  await log.getWriter().write("1\n");
}

test(
  "a series whose stream was dropped is free again",
  { skip: collectGarbage === undefined && "garbage cannot be collected here" },
  () =>
    inFolder(async (directory) => {
      for (let i = 0; i < 10; i++) await write(directory, `${i}.log`);
      await until(async () => {
        collectGarbage!();
        return !(await readdir(directory)).some(isLockName);
      }, "the release of the locks");
    }),
);
