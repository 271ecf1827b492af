import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { atomicFileOptions } from "../../../lib/files/atomic_file.ts";
import { copyFileOptions } from "../../../lib/files/copy_file_atomic.ts";
import { openFileWritableOptions } from "../../../lib/files/file_writable.ts";
import { followFileOptions } from "../../../lib/files/follow/follow_file.ts";
import {
  AtomicFile,
  copyFileAtomic,
  followFile,
  NumberFileWriter,
  openFileWritable,
  RotatingFileWritable,
} from "../../../lib/files/mod.ts";
import { numberFileWriterOptions } from "../../../lib/files/series/number_file_writer.ts";
import { rotatingFileOptions } from "../../../lib/files/series/rotating_file_writable.ts";
import { retryOptions } from "../../../lib/files/series/rotation_options.ts";
import { beside, type Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  {
    schema: atomicFileOptions,
    options: "AtomicFileOptions",
    take: (options, folder) => AtomicFile.open(join(folder, "a"), options),
  },
  {
    schema: openFileWritableOptions,
    options: "OpenFileWritableOptions",
    take: (options, folder) => openFileWritable(join(folder, "a"), options),
  },
  {
    schema: copyFileOptions,
    async take(options, folder) {
      await writeFile(join(folder, "a"), "");
      await copyFileAtomic(join(folder, "a"), join(folder, "b"), options);
    },
  },
  {
    schema: followFileOptions,
    options: "FollowFileOptions",
    take: (options, folder) => followFile(join(folder, "a"), options),
  },
  {
    schema: rotatingFileOptions,
    options: "RotationOptions",
    take: (options, directory) => new RotatingFileWritable(beside({ directory, maxFileSize: 1 }, options)),
  },
  {
    schema: numberFileWriterOptions,
    options: "RotationOptions",
    take: (options, directory) => new NumberFileWriter(beside({ directory, maxFileSize: 1 }, options)),
  },
  {
    schema: retryOptions,
    options: "RetryOptions",
    take: (retry, directory) => {
      return new RotatingFileWritable({
        directory,
        maxFileSize: 1,
        append: true,
        retry: beside({ attempts: 1 }, retry),
      });
    },
  },
];
