import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import pino from "pino";
import { type LogDestination, type LogDestinationOptions, openLogDestination } from "../../lib/pino/mod.ts";
import { faceOf } from "../support/built_faces.ts";
import { inFolder } from "../support/folders.ts";
import { tries } from "../support/long_run.ts";
import { run } from "../support/processes.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { root, runtime } from "../support/runtime.ts";
import { within } from "../support/waits.ts";
import { cannotMount, onSmallDisk, openFilesIn } from "../files/written.ts";

/** The module, whose source in TypeScript pino finds only by its path. */
const target = faceOf("pino").replace(/^file:\/\/(.*\.ts)$/, "$1");
const name = "app.log";

/** Returns the texts of the files of the series, in order. */
function textsIn(directory: string): string[] {
  const names = readdirSync(directory).filter((name) => /^app-\d{5}\.log$/.test(name)).sort();
  return names.map((name) => readFileSync(join(directory, name), "utf8"));
}

/** Returns the numbers `i` of pino's lines in the files. */
function numbersIn(directory: string): number[] {
  return textsIn(directory).join("").split("\n").slice(0, -1).map((line) => JSON.parse(line).i);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

async function opened(directory: string, options: Partial<LogDestinationOptions> = {}): Promise<LogDestination> {
  return await openLogDestination({ directory, name, maxFileSize: 10_000, ...options });
}

async function closed(destination: LogDestination): Promise<void> {
  const close = once(destination, "close");
  destination.end();
  await within(close, "the end of the destination");
}

test("a log destination takes the lines of pino, and has them in whole lines in its files", () =>
  inFolder(async (folder) => {
    const destination = await opened(folder, { maxFileSize: 3000 });
    const logger = pino(destination);
    for (let i = 0; i < 500; i++) logger.info({ i }, "ä line");
    await destination.flush();
    assert.deepEqual(numbersIn(folder), upTo(500));
    const texts = textsIn(folder);
    assert.ok(texts.length > 10);
    for (const text of texts) assert.ok(text.endsWith("}\n") && Buffer.byteLength(text) <= 3000);
    assert.equal(destination.files.length, texts.length - 1);
    await destination.rotate();
    assert.equal(destination.files.length, texts.length);
    await closed(destination);
    assert.deepEqual(openFilesIn(`${folder}/`), []);
  }));

test("a log destination has written the line of a fatal error when pino's fatal() returns", () =>
  inFolder(async (folder) => {
    const destination = await opened(folder);
    const logger = pino(destination);
    for (let i = 0; i < 300; i++) logger.info({ i });
    logger.fatal({ i: 300 }, "the end");
    assert.deepEqual(numbersIn(folder), upTo(301));
    await new Promise((resolve) => logger.flush(resolve));
    await closed(destination);
  }));

test("a log destination cuts text that comes in any pieces behind its lines", () =>
  inFolder(async (folder) => {
    for (let seed = 1; seed <= tries(8); seed++) {
      const below = randomNumbers(seed);
      const directory = join(folder, String(seed));
      const maxFileSize = 100 + below(3) * below(20_000);
      const lines = upTo(30).map((i) => {
        const text = ["ü", "€", "😀", "x"][below(4)];
        return `${i}${text.repeat(below(below(4) === 0 ? maxFileSize / 2 : 30))}\n`;
      });
      const bytes = Buffer.from(lines.join(""));
      const destination = await opened(directory, { maxFileSize });
      for (let start = 0; start < bytes.length;) {
        const end = start + 1 + below(below(2) === 0 ? 20 : 20_000);
        destination.write(bytes.subarray(start, end));
        if (below(100) === 0) await destination.flush();
        if (destination.writableNeedDrain) await within(once(destination, "drain"), "drain");
        start = end;
      }
      await closed(destination);
      const files = readdirSync(directory).filter((name) => name.startsWith("app-")).sort();
      const written = files.map((name) => readFileSync(join(directory, name)));
      assert.ok(Buffer.concat(written).equals(bytes), `seed ${seed}: ${files.length} files`);
      for (const file of written) assert.ok(file.length <= maxFileSize);
      if (lines.some((line) => Buffer.byteLength(line) > maxFileSize)) continue;
      for (const file of written) assert.equal(file.at(-1), 10, `seed ${seed}: a file ends within a line`);
    }
  }));

test("a log destination decodes text of the encoding that it is told", () =>
  inFolder(async (folder) => {
    const destination = await opened(folder);
    destination.write("c3", "hex");
    destination.cork(); // the next ones come together
    destination.write("pGI=", "base64");
    destination.write("é€", "utf-8");
    destination.write("\n\0", "utf16le");
    destination.uncork();
    await closed(destination);
    assert.deepEqual(textsIn(folder), ["äbé€\n\0\0\0\n"]);
  }));

test("a log destination takes a long line in small pieces, in time that grows with its length alone", () =>
  inFolder(async (folder) => {
    const destination = await opened(folder, { maxFileSize: 10_000_000 });
    const piece = "x".repeat(100);
    for (let i = 0; i < 40_000; i++) destination.write(piece);
    destination.write("\n");
    await closed(destination);
    assert.deepEqual(textsIn(folder).map((text) => text.length), [4_000_001]);
  }));

test("a log destination tells when it has no room, and flushSync() writes what it holds back", () =>
  inFolder(async (folder) => {
    const destination = await opened(folder, { maxFileSize: 100_000_000 });
    let expected = 0;
    for (let i = 0; destination.write(`${"y".repeat(9999)}\n`); i++) {
      expected += 10_000;
      assert.ok(i < 1000, "it takes lines without end");
    }
    for (let i = 0; i < 10; i++) destination.write("held back\n");
    destination.flushSync();
    assert.equal(textsIn(folder).join("").length, expected + 10_000 + 100);
    await within(once(destination, "drain"), "drain");
    await pipeline(Readable.from(["a\n", "b\n"]), destination);
    assert.equal(textsIn(folder).join("").slice(-14), "held back\na\nb\n");
  }));

test("a log destination that ends keeps what was written, ends its last line, and lets go of the series", () =>
  inFolder(async (folder) => {
    const destination = await opened(folder);
    destination.write("1\n2\nhalf");
    const close = once(destination, "close");
    destination.destroy();
    await within(close, "close");
    assert.deepEqual(textsIn(folder), ["1\n2\nhalf\n"]);
    for (const end of ["end", "flushSync", "destroy"] as const) {
      const next = await opened(folder);
      next.write(`3\nhalf by ${end}`);
      if (end === "flushSync") next.flushSync();
      if (end === "destroy") next.destroy();
      else next.end();
      await within(once(next, "close"), "close");
    }
    const halves = "3\nhalf by end\n3\nhalf by flushSync\n3\nhalf by destroy\n";
    assert.deepEqual(textsIn(folder), [`1\n2\nhalf\n${halves}`]);
    assert.deepEqual(openFilesIn(`${folder}/`), []);
  }));

test("what a log destination has accepted is written, in whatever way it ends", () =>
  inFolder(async (folder) => {
    const ends: Record<string, (destination: LogDestination) => unknown> = {
      end: (destination) => destination.end(),
      destroy: (destination) => destination.destroy(),
      "destroy, with an error": (destination) => destination.destroy(new Error("enough")),
      "flushSync, then destroy": (destination) => (destination.flushSync(), destination.destroy()),
      "a pipeline that fails": (destination) =>
        pipeline(
          new Readable({ read: (): void => void 0, destroy: (_error, done) => done(new Error("of the source")) })
            .destroy(),
          destination,
        ),
    };
    for (const [seed, [way, end]] of Object.entries(ends).flatMap((each) => Array(tries(4)).fill(each)).entries()) {
      const below = randomNumbers(seed);
      const directory = join(folder, String(seed));
      const destination = await opened(directory, { maxFileSize: 100_000 });
      destination.on("error", () => {});
      const count = [10, 3000, 20_000][below(3)];
      for (let i = 0; i < count; i++) {
        if (below(500) === 0) destination.cork();
        if (below(500) === 0) destination.uncork();
        destination.write(JSON.stringify({ i }) + "\n");
        if (below(5000) === 0) await destination.flush();
      }
      const close = new Promise((resolve) => destination.once("close", resolve));
      await Promise.allSettled([end(destination)]);
      await within(close, `the end by ${way}`);
      assert.deepEqual(numbersIn(directory), upTo(count), `${way}, seed ${seed}`);
    }
  }));

test(
  "a log destination outlasts a disk that is full: it drops what passes its memory, and counts that",
  { skip: cannotMount },
  () =>
    onSmallDisk(200, async (disk) => {
      const filler = join(disk, "filler");
      const warnings: Error[] = [];
      const destination = await opened(join(disk, "logs"), {
        maxFileSize: 30_000_000,
        onWarning: (error) => warnings.push(error),
      });
      writeFileSync(filler, new Uint8Array(150_000));
      const line = (i: number) => `${JSON.stringify({ i, text: "x".repeat(1000) })}\n`;
      let count = 0;
      for (; count < 100; count++) destination.write(line(count));
      await assert.rejects(within(destination.flush(), "flush()"), { code: "ENOSPC" });
      assert.throws(() => destination.flushSync(), { code: "ENOSPC" });
      for (; count < 20_000; count++) destination.write(line(count));
      assert.ok(destination.dropped > 0);
      const kept = count - destination.dropped;
      assert.ok(kept * 1000 > 16_000_000, `${kept} lines`);
      rmSync(filler);
      execFileSync("mount", ["-o", "remount,size=40m", disk], { stdio: "ignore" });
      await closed(destination);
      assert.deepEqual(numbersIn(join(disk, "logs")), upTo(kept));
      assert.equal(warnings.length, 1);
      assert.match(warnings[0].message, /no space is left on the device \(ENOSPC\); it is tried again/);
    }),
);

test(
  "a log destination on a full disk drops whole lines, whose callbacks tell it, and rotates later",
  { skip: cannotMount },
  () =>
    onSmallDisk(300, async (disk) => {
      const filler = join(disk, "filler");
      const directory = join(disk, "logs");
      const destination = await opened(directory, { maxFileSize: 1_000_000, onWarning: () => {} });
      writeFileSync(filler, new Uint8Array(250_000));
      let count = 0;
      const kept: number[] = [];
      const write = (length: number) => {
        const i = count++;
        const line = `${JSON.stringify({ i, text: "x".repeat(length) })}\n`;
        for (let at = 0; at < line.length; at += 900_000) {
          const isLast = at + 900_000 >= line.length;
          const tell = (error: Error | null | undefined) => void (error ? 0 : kept.push(i));
          if (isLast) destination.write(line.slice(at), tell);
          else destination.write(line.slice(at, at + 900_000));
        }
      };
      write(90_000);
      await assert.rejects(within(destination.flush(), "flush()"), { code: "ENOSPC" });
      await assert.rejects(within(destination.rotate(), "rotate()"), { code: "ENOSPC" });
      for (let i = 0; i < 40; i++) write(i % 3 === 0 ? 3_000_000 : 1000);
      assert.ok(destination.dropped > 0);
      rmSync(filler);
      execFileSync("mount", ["-o", "remount,size=80m", disk], { stdio: "ignore" });
      while (!await destination.flush().then(() => true, () => false)) {
        await new Promise((next) => setTimeout(next, 20));
      }
      for (let i = 0; i < 10; i++) write(1000);
      await closed(destination);
      assert.deepEqual(numbersIn(directory), kept);
      assert.equal(kept.length + destination.dropped, count);
      assert.equal(kept.at(-1), count - 1);
    }),
);

test("a log destination that is full says so to those that write, and takes more after drain", () =>
  inFolder(async (folder) => {
    const destination = await opened(folder, { maxFileSize: 1_000_000 });
    let waits = 0;
    for (let i = 0; i < 30_000; i++) {
      if (destination.write(JSON.stringify({ i, text: "x".repeat(100) }) + "\n")) continue;
      assert.equal(destination.writableNeedDrain, true);
      waits++;
      await within(once(destination, "drain"), "room");
      assert.equal(destination.writableNeedDrain, false);
    }
    await closed(destination);
    assert.deepEqual(numbersIn(folder), upTo(30_000));
    assert.ok(waits > 0);
  }));

test("the callback of a write tells success once the chunk's whole lines are in the files", () =>
  inFolder(async (folder) => {
    for (let seed = 0; seed < tries(12); seed++) {
      const below = randomNumbers(seed);
      const directory = join(folder, String(seed));
      const destination = await opened(directory, { maxFileSize: 700 });
      const missing: string[] = [];
      let text = "";
      for (let i = 0; i < 60; i++) {
        const piece = "é".repeat(below(300)) + (below(3) === 0 ? "" : "\n");
        text += piece;
        const lines = text.slice(0, text.lastIndexOf("\n") + 1);
        const told = new Promise<void>((resolve) => {
          destination.write(below(2) === 0 ? piece : new TextEncoder().encode(piece), (error) => {
            if (error || !textsIn(directory).join("").startsWith(lines)) missing.push(`write ${i}: ${error}`);
            resolve();
          });
        });
        if (below(4) === 0) await within(told, "a callback");
      }
      await closed(destination);
      assert.deepEqual(missing, [], `seed ${seed}`);
    }
  }));

test("the callback of a write tells success of what is in the files, and of nothing else, however the destination ends", () =>
  inFolder(async (folder) => {
    for (let seed = 0; seed < tries(12); seed++) {
      const below = randomNumbers(seed);
      const directory = join(folder, String(seed));
      const destination = await opened(directory, { maxFileSize: 700 });
      destination.on("error", () => {});
      const close = once(destination, "close");
      const end = below(20);
      const ways = [() => destination.end(), () => destination.destroy(), () => destination.destroy(new Error("over"))];
      const told = upTo(25).map((i) => {
        if (i === end) ways[below(3)]();
        return new Promise<readonly [string, boolean]>((resolve) => {
          const line = `${i} ${"x".repeat(below(99))}\n`;
          destination.write(line, (error) => resolve([line, !error]));
        });
      });
      const results = await within(Promise.all(told), "the callbacks");
      await within(close.catch(() => {}), "the end");
      const lines = textsIn(directory).join("");
      assert.equal(lines, results.slice(0, end).map(([line]) => line).join(""), `seed ${seed}`);
      assert.deepEqual(results.map(([, isIn]) => isIn), upTo(25).map((i) => i < end), `seed ${seed}`);
    }
  }));

test("a log destination that was destroyed flushes and rotates no more, and says why", () =>
  inFolder(async (folder) => {
    const destination = await opened(folder);
    destination.write("line\n");
    destination.destroy();
    const gone = { name: "Error", code: "ERR_STREAM_DESTROYED" };
    await assert.rejects(within(destination.flush(), "flush()"), gone);
    await assert.rejects(within(destination.rotate(), "rotate()"), gone);
    const told = new Promise((resolve) => void destination.flush(resolve));
    assert.equal((await within(told, "the callback of flush()") as { code?: unknown }).code, gone.code);
    assert.deepEqual(textsIn(folder), ["line\n"]);
  }));

test("a log destination that could not be opened holds no series", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "logs");
    writeFileSync(directory, "");
    await assert.rejects(opened(directory, { retry: { attempts: 1e9, delay: 1 }, onWarning: () => {} }), {
      code: /^(EEXIST|ENOTDIR)$/,
    });
    rmSync(directory);
    for (let i = 0; i < 5; i++) await closed(await opened(folder)); // another attempt would be made meanwhile
    assert.equal(existsSync(directory), false);
    await closed(await opened(directory));
  }));

test("options of a log destination that are accessors, or inherited, count", () =>
  inFolder(async (folder) => {
    const counts = { get: () => 2, enumerable: true };
    for (
      const [i, options] of [Object.create({ maxFiles: 2 }), Object.defineProperty({}, "maxFiles", counts)].entries()
    ) {
      const directory = join(folder, String(i));
      Object.assign(options, { directory, name, maxFileSize: 100, levels: "pino's own" });
      const destination = await openLogDestination(options);
      for (let line = 0; line < 50; line++) destination.write(`${"x".repeat(60)}\n`);
      await closed(destination);
      assert.ok(textsIn(directory).length <= 3, `${textsIn(directory).length} files`);
    }
  }));

test("a log destination fails where its series does", () =>
  inFolder(async (folder) => {
    const first = await opened(folder);
    await assert.rejects(opened(folder), { code: "EBUSY" });
    await assert.rejects(opened(folder, { maxFileSize: 0 }), RangeError);
    await assert.rejects(
      opened(folder, { target: "x" } as object),
      /^TypeError: openLogDestination\(\): unknown option "target": use /,
    );
    await closed(first);
    writeFileSync(join(folder, "file"), "");
    await assert.rejects(opened(join(folder, "file")), { code: /^(EEXIST|ENOTDIR)$/ });
    if (runtime === "bun") return; // an error in a thread ends the process there, even if it is reported
    const busy = await opened(folder);
    const transport = pino.transport({ target, options: { directory: folder, name, maxFileSize: 1000 } });
    const [error] = await within(once(transport, "error"), "the error of a transport");
    assert.match(error.message, /another stream of this process writes the series app\.log/);
    await closed(busy);
  }));

test("as the target of a transport it has all lines of pino, on any number of threads", () =>
  inFolder(async (folder) => {
    const options = { name, maxFileSize: 20_000 };
    const one = pino.transport({ target, options: { ...options, directory: join(folder, "one") } });
    const logger = pino(one);
    for (let i = 0; i < 2000; i++) logger.info({ i }, "😀".repeat(i % 7));
    await within(new Promise((resolve) => logger.flush(resolve)), "flush()");
    assert.deepEqual(numbersIn(join(folder, "one")), upTo(2000));

    const targets = ["info", "error"].map((level) => ({
      target,
      level,
      options: { ...options, directory: join(folder, level) },
    }));
    const both = pino.transport({ targets });
    const leveled = pino(both);
    for (let i = 0; i < 100; i++) leveled[i % 2 === 0 ? "info" : "error"]({ i });
    for (const transport of [one, both]) {
      const close = once(transport, "close");
      transport.end();
      await within(close, "the end of a transport");
    }
    assert.deepEqual(numbersIn(join(folder, "info")), upTo(100));
    assert.deepEqual(numbersIn(join(folder, "error")), upTo(100).filter((i) => i % 2 === 1));
    assert.deepEqual(openFilesIn(`${folder}/`), []);
  }));

/** The ends of a process: on Deno an uncaught error calls no handler of `exit`. */
const ends = runtime === "deno" ? ["exit", "end"] : ["exit", "throw", "end"];
const permissions = runtime === "deno" ? ["run", "-A", "--no-check"] : [];

for (const way of ["stream", "transport"]) {
  test(`all lines of a ${way} are there when the process has ended`, () =>
    inFolder(async (folder) => {
      // The thread of a transport is not there any more when listeners of exit run.
      const all = way === "stream" ? [...ends, "listener", "blocked"] : ends;
      await Promise.all(all.map(async (end) => {
        const directory = join(folder, end);
        const script = fileURLToPath(new URL("logging_process.ts", import.meta.url));
        const { code, stdout, stderr } = await run(
          process.execPath,
          [...permissions, script, way, directory, "3000", end],
          root,
        );
        assert.equal(code === 0, end !== "throw", stderr);
        if (end === "blocked") return assert.match(`${stderr}${stdout}`, /^Cannot .+\n(.*\n)*the last listener\n$/);
        assert.deepEqual(numbersIn(directory), upTo(end === "listener" ? 3001 : 3000), end);
      }));
    }));
}

test("a series whose thread was terminated goes on in another one of the same process", () =>
  inFolder(async (folder) => {
    const worker = new Worker(new URL("logging_thread.ts", import.meta.url), { workerData: folder });
    await within(once(worker, "message"), "the first line");
    await worker.terminate();
    const destination = await within(opened(folder), "the lock of a thread that is gone");
    destination.write("second\n");
    await closed(destination);
    assert.equal(textsIn(folder).join(""), "first\nsecond\n");
  }));
