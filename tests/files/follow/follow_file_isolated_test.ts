import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { appendFile, copyFile, mkdir, rename, rm, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { copyFileAtomic, followFile, type FollowFileOptions, openFileWritable } from "../../../lib/files/mod.ts";
import { LineStream } from "../../../lib/text/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { tries } from "../../support/long_run.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { pause, turn, until, within } from "../../support/waits.ts";
import { cannotListOpenFiles, openFilesIn } from "../written.ts";
import { Following } from "./following.ts";
import { needs } from "../../support/needs.ts";

/** Follows a file at `path` for as long as `use` takes; afterwards nothing in its folder may be open. */
async function following(
  path: string,
  options: FollowFileOptions,
  use: (following: Following) => Promise<void>,
): Promise<void> {
  const followed = new Following(await followFile(path, { interval: 5, ...options }));
  try {
    await use(followed);
  } finally {
    await within(followed.cancel(), "cancel()");
  }
  assert.deepEqual(openFilesIn(path), []);
}

test("followFile() begins at the end, at the beginning or at a byte", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    await writeFile(path, "0123456789");
    const cases: [FollowFileOptions["start"], string][] = [
      [undefined, ""],
      ["end", ""],
      ["beginning", "0123456789"],
      [0, "0123456789"],
      [4, "456789"],
      [10, ""],
      [11, "0123456789"], // of a former file
    ];
    for (const [start, expected] of cases) {
      await writeFile(path, "0123456789");
      await following(path, start === undefined ? {} : { start }, async (followed) => {
        await appendFile(path, "more");
        assert.equal(await followed.reach(expected.length + 4), `${expected}more`);
      });
    }
  }));

test("followFile() waits for a file, and for its folder, and reads it from its beginning", () =>
  inFolder(async (folder) => {
    const path = join(folder, "logs", "app.log");
    for (const start of ["end", "beginning", 4] as const) {
      await following(path, { start }, async (followed) => {
        const first = followed.reach(6);
        await pause(15);
        await mkdir(join(folder, "logs"));
        await pause(15);
        await writeFile(path, "first\n");
        assert.equal(await first, "first\n");
      });
      await rm(join(folder, "logs"), { recursive: true });
    }
  }));

test("followFile() reads a file that was renamed until the next one has bytes, and then to its end", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const log = await openFileWritable(path, { append: true });
    const writer = log.getWriter();
    await following(path, {}, async (followed) => {
      let expected = "";
      const write = async (text: string) => {
        await writer.write(text);
        expected += text;
      };
      for (let i = 0; i < 6; i++) {
        await write(`${i} before\n`);
        await rename(path, `${path}.${i}`);
        await write(`${i} no file\n`);
        if (i % 2 === 0) await followed.reach(expected.length);
        await appendFile(path, ""); // as logrotate's `create` does
        await write(`${i} empty file\n`);
        if (i % 3 === 0) await followed.reach(expected.length);
        await pause(i % 2 === 0 ? 15 : 0);
        await write(`${i} last\n`);
        await log.reopen();
        await write(`${i} reopened\n`);
        assert.equal(await followed.reach(expected.length), expected);
      }
      await writer.close();
    });
  }));

test(
  "followFile() reads what comes into an empty file once that was renamed",
  { skip: cannotListOpenFiles },
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "app.log");
      await writeFile(path, "1\n");
      await following(path, { start: "beginning" }, async (followed) => {
        const all = followed.reach(8);
        for (const i of [1, 2]) {
          await rename(path, `${path}.${i}`);
          closeSync(openSync(path, "w"));
          await until(() => openFilesIn(path).includes(path), "a look at the empty file");
        }
        await appendFile(`${path}.1`, "2\n");
        await pause(15);
        await appendFile(`${path}.2`, "3\n");
        await pause(15);
        await appendFile(path, "4\n");
        assert.equal(await all, "1\n2\n3\n4\n");
      });
    }),
);

test("followFile() reads a file to its end that was removed, and then the next one", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    await writeFile(path, "1\n");
    await following(path, { start: "beginning" }, async (followed) => {
      await followed.reach(2);
      await appendFile(path, "2\n");
      await unlink(path);
      await writeFile(path, "3\n");
      assert.equal(await followed.reach(6), "1\n2\n3\n");
      if (needs("replacing")) return;
      await writeFile(`${path}.new`, "4\n");
      await rename(`${path}.new`, path); // replaced
      assert.equal(await followed.reach(8), "1\n2\n3\n4\n");
    });
  }));

test("followFile() reads a file from its beginning that was copied and truncated", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const writer = (await openFileWritable(path, { append: true })).getWriter();
    await following(path, {}, async (followed) => {
      for (const text of ["a longer text\n", "less\n", "even less\n", "x\n"]) {
        await writer.write(text);
        assert.equal((await followed.reach(followed.text.length + text.length)).slice(-text.length), text);
        await copyFile(path, `${path}.1`);
        await truncate(path);
        assert.equal(openFilesIn(path).length, cannotListOpenFiles ? 0 : 2); // the writer's and the reader's
        const seen = followed.read(); // sees the truncated file, and waits
        await pause(15);
        await writer.write("begun anew\n");
        assert.equal(await seen, "begun anew\n");
      }
      await writer.close();
    });
  }));

test("followFile() notices a truncated file that has grown beyond its place since", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const first = "2026-11-01 first\n".repeat(20);
    const second = "2026-11-02 second\n".repeat(30);
    for (const start of ["end", "beginning", 100] as const) {
      await writeFile(path, first);
      await following(path, { start }, async (followed) => {
        if (start !== "end") await followed.read();
        const before = followed.text;
        await writeFile(path, second); // truncated, and longer
        assert.equal(await followed.reach(before.length + second.length), before + second);
      });
    }
  }));

test("followFile() reads a file anew whose beginning is another, though its end and its size are the same", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const rest = "GET /health 200\n".repeat(10);
    await writeFile(path, `started at 1\n${rest}`);
    for (const [start, more] of [["end", ""], ["beginning", ""], ["end", rest], ["beginning", rest]] as const) {
      await following(path, { start }, async (followed) => {
        if (start !== "end") await followed.read();
        const before = followed.text;
        for (let i = 2; i < 4; i++) {
          const text = `started at ${i}\n${rest}${more}`;
          await pause(20); // the times of the two files must differ by the file system's clock
          await writeFile(path, text);
          followed.text = before;
          assert.equal(await followed.reach(before.length + text.length), before + text);
        }
      });
      await writeFile(path, `started at 1\n${rest}`);
    }
  }));

test("followFile() joins no half line with what comes after it, wherever a file was cut, replaced or begun anew", () =>
  inFolder(async (folder) => {
    for (let seed = 1; seed <= tries(8); seed++) {
      const below = randomNumbers(seed);
      const path = join(folder, `${seed}.log`);
      await writeFile(path, "");
      await following(path, { start: "beginning", interval: 1 }, async (followed) => {
        let expected = "";
        for (let step = 0; step < 20; step++) {
          const text = `${step} is whole\n${step} is ${below(2) === 0 ? "half" : `${"h".repeat(below(300))}\n`}`;
          if (below(2) === 0) await rename(path, `${path}.${step}`);
          await writeFile(path, text);
          expected += expected === "" || expected.endsWith("\n") ? text : `\n${text}`;
          assert.equal(await followed.reach(expected.length), expected, `seed ${seed}`);
        }
      });
    }
  }));

test("followFile() goes on with all files that came while their reader was slow", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const large = "y".repeat(600_000);
    await writeFile(path, large);
    await following(path, { start: "beginning", interval: 1 }, async (followed) => {
      let expected = large;
      for (let i = 1; i <= 3; i++) {
        await rename(path, `${path}.${i}`);
        await writeFile(path, `${i}`);
        expected += `\n${i}`; // a line ends with its file
        await pause(5);
        await followed.read(); // a piece of the first file, or of the rest
      }
      assert.equal(await followed.reach(expected.length), expected);
    });
  }));

test("followFile() warns when more files wait for its reader than it holds open", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const large = `${"y".repeat(6_000_000)}\n`;
    await writeFile(path, large);
    const warnings: string[] = [];
    const onWarning = (error: Error): void => void warnings.push(error.message);
    await following(path, { start: "beginning", interval: 1, onWarning }, async (followed) => {
      for (let i = 1; i <= 20; i++) {
        await pause(2);
        await followed.read(); // a piece of the first file
        await rename(path, `${path}.old${i}`);
        await writeFile(path, `${i}\n`);
      }
      await pause(2);
      await followed.read();
      await followed.reach(large.length + 16 * 2);
    });
    assert.ok(warnings.length > 0 && warnings.length < 5, warnings.join("\n")); // one each time that all are in use
    for (const each of warnings) assert.match(each, /^16 files of .*app\.log wait: files that come and go until one/);
  }));

test(
  "followFile() follows the link at a name, and the next file that it leads to",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "current.log");
      await writeFile(join(folder, "1.log"), "1\n");
      await symlink("1.log", path);
      await following(path, { start: "beginning" }, async (followed) => {
        await followed.reach(2);
        await writeFile(join(folder, "2.log"), "2\n");
        await symlink("2.log", `${path}.new`);
        await rename(`${path}.new`, path);
        assert.equal(await followed.reach(4), "1\n2\n");
      });
    }),
);

test("followFile() reads nothing that nobody asks for, and leaves no descriptor behind", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    await writeFile(path, "1\n2\n");
    const unread = await followFile(pathToFileURL(path), { start: "beginning" });
    await writeFile(path, "written anew\n");
    const lines = unread.pipeThrough(new LineStream());
    for await (const line of lines) {
      assert.equal(line, "written anew");
      break;
    }
    const waiting = (await followFile(path, { interval: 5 })).getReader();
    const read = waiting.read();
    await pause(15);
    await within(waiting.cancel(), "cancel() while a read waits");
    assert.deepEqual(await read, { done: true, value: undefined });
    await within((await followFile(path)).cancel(), "cancel() before any read");
    await within((await followFile(join(folder, "none"))).cancel(), "cancel() without a file");
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("followFile() ends with the reason of its signal, whether it is read or not", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    await writeFile(path, "");
    for (const file of [path, join(folder, "none")]) {
      const abort = new AbortController();
      const [unread, waiting] = await Promise.all(
        [1, 2].map(() => followFile(file, { signal: abort.signal, interval: 5 })),
      );
      const reason = new Error("enough");
      const read = waiting.pipeThrough(new LineStream()).getReader().read();
      await pause(10);
      abort.abort(reason);
      await assert.rejects(within(read, "the abort of a read"), reason);
      await assert.rejects(unread.getReader().read(), reason);
      await assert.rejects(followFile(file, { signal: abort.signal }), reason);
      await until(() => openFilesIn(folder).length === 0, "the end of reads under way");
    }
  }));

test("a stream of followFile() fills the buffers of a BYOB reader", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    await writeFile(path, "0123456789");
    const reader = (await followFile(path, { start: "beginning", interval: 5 })).getReader({ mode: "byob" });
    const first = await reader.read(new Uint8Array(4));
    assert.deepEqual(first.value, new TextEncoder().encode("0123"));
    const rest = await reader.read(new Uint8Array(8));
    assert.deepEqual(rest.value, new TextEncoder().encode("456789"));
    const waiting = reader.read(new Uint8Array(8));
    await appendFile(path, "more");
    assert.deepEqual((await within(waiting, "more")).value, new TextEncoder().encode("more"));
    await reader.cancel();
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("followFile() waits where something else has the file's name for a while, and tells of that once", () =>
  inFolder(async (folder) => {
    const path = join(folder, "app.log");
    const makers: [make: () => unknown, message: string][] = [
      [() => mkdir(path), `Cannot read ${path}: it is a directory (EISDIR)`],
    ];
    if (!needs("links")) makers.push([() => symlink("app.log", path), `Cannot read ${path}: `]);
    if (!needs("mkfifo")) {
      makers.push([() => execFileSync("mkfifo", [path]), `Cannot read ${path}: it is no regular file: `]);
    }
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    await writeFile(path, "0\n");
    await following(path, { start: "beginning", interval: 1, onWarning }, async (followed) => {
      await followed.reach(2);
      for (const [i, [make, message]] of makers.entries()) {
        await rm(path, { recursive: true });
        await make();
        const next = followed.reach(4 + 2 * i);
        await until(() => warnings.length > i, "a warning");
        assert.ok(warnings[i].startsWith(message), warnings[i]);
        await pause(15);
        await rm(path, { recursive: true });
        await writeFile(path, `${i + 1}\n`);
        await next;
      }
      assert.equal(followed.text, "0\n1\n2\n3\n".slice(0, 2 + 2 * makers.length));
      assert.equal(warnings.length, makers.length);
    });
  }));

test("followFile() and copyFileAtomic() wait for no pipe that takes the name of their file at any time", {
  skip: needs("mkfifo"),
}, () =>
  inFolder(async (folder) => {
    const [path, pipe, next] = ["app-00001.log", "pipe", "next"].map((name) => join(folder, name));
    execFileSync("mkfifo", [pipe]);
    const follow = async (name: string, series: boolean): Promise<void> => {
      await (await followFile(join(folder, name), { start: "beginning", series, onWarning: () => {} })).cancel();
    };
    const uses = [
      () => follow("app-00001.log", false),
      () => follow("app.log", true),
      () => copyFileAtomic(path, join(folder, "copy")),
    ];
    for (let i = 0; i < 50; i++) {
      for (const use of uses) {
        rmSync(path, { force: true });
        writeFileSync(path, "text\n");
        const using = use().catch(() => {});
        for (let turns = i % 3; turns > 0; turns--) await turn();
        linkSync(pipe, next);
        renameSync(next, path);
        await within(using, String(use));
      }
    }
    linkSync(pipe, `${path}.gz`);
    rmSync(path);
    await within(follow("app.log", true), "a series, of which a pipe is no file");
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("followFile() fails for what is no file, and for options that are none", () =>
  inFolder(async (folder) => {
    await assert.rejects(followFile(folder), {
      code: "EISDIR",
      message: `Cannot read ${folder}: it is a directory (EISDIR)`,
    });
    const path = join(folder, "app.log");
    if (!needs("mkfifo")) {
      execFileSync("mkfifo", [path]);
      await assert.rejects(followFile(path), {
        message: `Cannot read ${path}: it is no regular file: read it with openFileReadable()`,
      });
      await rm(path);
    }
    await writeFile(path, "");
    const wrong: [unknown, RegExp][] = [
      [{ start: -1 }, /^RangeError: start -1 is out of range: use a whole number from 0/],
      [{ start: "middle" }, /^TypeError: start must be "beginning", "end", a whole number from 0 or a position/],
      [{ start: 1, series: true }, /^TypeError: a series begins at its "beginning" or its "end", not at a number/],
    ];
    for (const [options, message] of wrong) {
      await assert.rejects(followFile(path, options as FollowFileOptions), (error) => message.test(String(error)));
    }
  }));

test("followFile() loses and doubles nothing, whatever is done to the file between its reads", () =>
  inFolder(async (folder) => {
    for (let seed = 1; seed <= tries(8); seed++) {
      const below = randomNumbers(seed);
      const path = join(folder, `${seed}.log`);
      const log = await openFileWritable(path, { append: true });
      const writer = log.getWriter();
      await following(path, { start: "beginning", interval: 1 }, async (followed) => {
        let expected = "";
        const write = async (step: number): Promise<void> => {
          const text = `${step} ${"z".repeat(below(3) * below(40_000))}\n`;
          await writer.write(text);
          expected += text;
        };
        for (let step = 0; step < 60; step++) {
          const action = below(10);
          if (action === 3) await pause(below(4));
          else await write(step);
          if (action < 3) await followed.reach(expected.length); // no file may come and go unseen
          if (action === 0) {
            await copyFile(path, `${path}.${step}`);
            await truncate(path);
          } else if (action === 1) {
            await rename(path, `${path}.${step}`);
            if (below(2) === 0) await write(step);
            await log.reopen();
          } else if (action === 2) {
            await rm(path);
            if (below(2) === 0) await write(step);
            await log.reopen();
          }
        }
        assert.equal(await followed.reach(expected.length), expected, `seed ${seed}`);
        await writer.close();
      });
    }
  }));
