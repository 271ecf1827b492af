import assert from "node:assert/strict";
import { appendFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { FollowedSeries } from "../../../lib/files/follow/followed_series.ts";
import { type FileSequence, type FollowedFile, FollowSource } from "../../../lib/files/follow/follow_source.ts";
import { NamedFile } from "../../../lib/files/follow/named_file.ts";
import { ReadableStream } from "../../../lib/streams/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { pause } from "../../support/waits.ts";
import { Following } from "./following.ts";

/** The files of a file server, whose open files can become stale: reading them fails from then on. */
class ServedFiles {
  #opened: FollowedFile[] = [];
  #stale = new Set<FollowedFile>();

  forget(): void {
    for (const file of this.#opened.splice(0)) this.#stale.add(file);
  }

  of(sequence: FileSequence): FileSequence {
    const served = (file: FollowedFile): FollowedFile => {
      this.#opened.push(file);
      return new Proxy(file, {
        get: (_target, name) => {
          const value = Reflect.get(file, name, file);
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            const isStale = this.#stale.has(file) && (name === "read" || name === "hasBytes");
            if (isStale) throw Object.assign(new Error("ESTALE: stale file handle, read"), { code: "ESTALE" });
            return value.apply(file, args);
          };
        },
        set: (_target, name, value) => Reflect.set(file, name, value, file),
      });
    };
    return {
      path: sequence.path,
      endsLines: sequence.endsLines,
      get number() {
        return sequence.number;
      },
      first: async (...args) => (await sequence.first(...args)).map(served),
      next: async (newest) => {
        const file = await sequence.next(newest);
        return file && served(file);
      },
    };
  }
}

/** Follows a sequence of served files; `use` gets its reader, its files, and the warnings. */
async function following(
  sequence: FileSequence,
  use: (followed: Following, files: ServedFiles, warnings: string[]) => Promise<void>,
): Promise<void> {
  const warnings: string[] = [];
  const files = new ServedFiles();
  const onWarning = (error: Error): unknown => warnings.push(error.message);
  const source = new FollowSource(files.of(sequence), { interval: 3, onWarning, signal: undefined });
  await source.open();
  const followed = new Following(new ReadableStream(source, { highWaterMark: 0 }));
  try {
    await use(followed, files, warnings);
  } finally {
    await followed.cancel();
  }
}

for (const isSeries of [false, true]) {
  const what = isSeries ? "a series" : "a file";
  const sequenceIn = (folder: string): { path: string; sequence: FileSequence } => ({
    path: join(folder, isSeries ? "app-00001.log" : "app.log"),
    sequence: isSeries
      ? new FollowedSeries(join(folder, "app.log"), "beginning")
      : new NamedFile(join(folder, "app.log"), 0),
  });

  test(`followFile() goes on behind its position in ${what} whose open file a server has forgotten`, () =>
    inFolder(async (folder) => {
      const { path, sequence } = sequenceIn(folder);
      await writeFile(path, "line 1\nline 2\n");
      await following(sequence, async (followed, files, warnings) => {
        assert.equal(await followed.reach(14), "line 1\nline 2\n");
        files.forget();
        await appendFile(path, "line 3\nhalf of");
        assert.equal(await followed.reach(28), "line 1\nline 2\nline 3\nhalf of");
        files.forget();
        await appendFile(path, " line 4\n");
        assert.equal(await followed.reach(44), "line 1\nline 2\nline 3\nhalf of\nhalf of line 4\n");
        assert.deepEqual(warnings, []);
      });
    }));

  test(`followFile() reads ${what} from its beginning that another client has replaced, and tells of it`, () =>
    inFolder(async (folder) => {
      const { path, sequence } = sequenceIn(folder);
      await writeFile(path, "line 1\n");
      await following(sequence, async (followed, files, warnings) => {
        assert.equal(await followed.reach(7), "line 1\n");
        await writeFile(join(folder, "new"), "line 2\n");
        await pause(5);
        await rename(join(folder, "new"), path);
        files.forget();
        assert.equal(await followed.reach(14), "line 1\nline 2\n");
        if (!isSeries) assert.match(warnings.join(), /lines behind the position may be lost or read again/);
      });
    }));

  test(`followFile() joins half a line of ${what} that a server has lost with no line of the next one`, () =>
    inFolder(async (folder) => {
      const { path, sequence } = sequenceIn(folder);
      await writeFile(path, "line 1\nhalf of");
      await following(sequence, async (followed, files) => {
        assert.equal(await followed.reach(14), "line 1\nhalf of");
        await rm(path);
        files.forget();
        const next = followed.reach(22);
        await pause(30);
        await writeFile(isSeries ? join(folder, "app-00002.log") : path, "line 2\n");
        assert.equal(await next, "line 1\nhalf of\nline 2\n");
      });
    }));
}

test("followFile() reads the files of a series that were opened ahead when a server forgets its open files", () =>
  inFolder(async (folder) => {
    const lines = Array.from({ length: 6 }, (_, i) => `line ${i + 1}\n`);
    for (const [i, line] of lines.entries()) await writeFile(join(folder, `app-0000${i + 1}.log`), line);
    const sequence = new FollowedSeries(join(folder, "app.log"), "beginning");
    await following(sequence, async (followed, files) => {
      while (sequence.number < 3) await Promise.all([followed.read(), pause(5)]);
      const read = followed.text.length;
      files.forget();
      assert.equal(await followed.reach(42), lines.join(""), `the first ${read} bytes were read before`);
    });
  }));
