import assert from "node:assert/strict";
import fs, { closeSync, lutimesSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import process from "node:process";
import test, { mock } from "node:test";
import {
  isLockName,
  LockLostError,
  pidNamespace,
  ProcessLock,
  type ProcessLockOptions,
} from "../../lib/files/internal.ts";
import { BeatWatch, makeIfPossible } from "../../lib/files/lock_holder.ts";
import { needs } from "../support/needs.ts";
import { inFolder } from "../support/folders.ts";
import { pause, until, within } from "../support/waits.ts";
import { cannotMount, onDiskOfFewFiles, onSmallDisk } from "./written.ts";

const PREFIX = ".millrace-lock-";
/** A process that no system has. */
const NO_PROCESS = 2 ** 30;

type Options = Partial<ProcessLockOptions>;

function newLock(directory: string, options: Options = {}): ProcessLock {
  return new ProcessLock({
    directory,
    subject: "the test",
    busy: ({ processId }) => Object.assign(new Error(`${processId} has it`), { code: "EBUSY" }),
    ...options,
  });
}

async function taken(directory: string, options: Options = {}): Promise<ProcessLock> {
  const lock = newLock(directory, options);
  await within(Promise.resolve(lock.take()), "take()");
  return lock;
}

function locksIn(directory: string): Promise<string[]> {
  return readdir(directory).then((names) => names.filter((name) => isLockName(name)));
}

/** Creates the lock file of another process in a folder, with a modification time `age` ms ago. */
async function put(directory: string, identity: string, age = 0): Promise<string> {
  const path = join(directory, `${PREFIX}${identity}-01234567`);
  await writeFile(path, "");
  const time = (Date.now() - age) / 1000;
  await utimes(path, time, time);
  return path;
}

/** A holder in another container, or on another machine. */
const FOREIGN = "00000000.1.0.0";
/** A holder that runs, and whose thread cannot be inspected: of this process, as of a system without /proc. */
const WITHOUT_THREAD = `${pidNamespace()}.${process.pid}.0.0`;
const dead = (): string => `${pidNamespace()}.${NO_PROCESS}.${NO_PROCESS}.1`;

test("a lock whose folder cannot be listed leaves no file, and can be taken once it can", (context) =>
  inFolder(async (folder) => {
    const { readdirSync: list } = fs;
    for (const waitFor of [0, 1000]) {
      fs.readdirSync = (() => {
        throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
      }) as never;
      syncBuiltinESMExports();
      try {
        if (readdirSync === list) return context.skip("imports of this runtime do not follow the module");
        assert.throws(() => newLock(folder, { waitFor }).take(), { code: "EMFILE" });
      } finally {
        fs.readdirSync = list;
        syncBuiltinESMExports();
      }
      assert.deepEqual(await locksIn(folder), []);
      (await taken(folder, { waitFor })).release();
    }
  }));

test("a lock whose file cannot be touched is lost if and only if the file is gone", (context) =>
  inFolder(async (folder) => {
    const { lutimesSync: touch } = fs;
    for (const code of ["EPERM", "EACCES", "EIO", "EROFS"]) {
      const lock = await taken(folder, { heartbeat: 1 });
      fs.lutimesSync = (() => {
        throw Object.assign(new Error(`${code}: refused`), { code });
      }) as never;
      syncBuiltinESMExports();
      try {
        if (lutimesSync === touch) return context.skip("imports of this runtime do not follow the module");
        lock.renew();
        assert.equal(lock.isLost, false, code);
        assert.equal(fs.readdirSync(folder).filter(isLockName).length, 1); // not while a beat makes another file
        for (const name of fs.readdirSync(folder)) fs.rmSync(join(folder, name)); // a beat may make another file later
        await until(() => lock.isLost, "the loss");
        lock.renew();
        assert.equal(lock.isLost, false);
        assert.equal(fs.readdirSync(folder).filter(isLockName).length, 1); // not while a beat makes another file
      } finally {
        fs.lutimesSync = touch;
        syncBuiltinESMExports();
        lock.release();
      }
    }
  }));

test("a lock that is lost stays so until it is made anew", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "locked");
    await mkdir(directory);
    const lock = await taken(directory, { heartbeat: 10_000 });
    await rm(directory, { recursive: true });
    for (let i = 0; i < 2; i++) {
      assert.throws(() => lock.renew(), { code: "ENOENT" });
      assert.equal(lock.isLost, true);
    }
    await mkdir(directory);
    lock.renew();
    assert.equal(lock.isLost, false);
    lock.release();
    assert.deepEqual(await readdir(directory), []);
  }));

test("a lock is taken over where its file may not be removed, and its holder told, which takes another if that is free", (context) =>
  inFolder(async (folder) => {
    const path = await put(folder, FOREIGN, 60_000);
    const { unlinkSync: remove, lutimesSync: touch } = fs;
    fs.unlinkSync = (name) => {
      if (name === path) throw Object.assign(new Error("EPERM: of a sticky folder"), { code: "EPERM" });
      remove(name);
    };
    syncBuiltinESMExports();
    try {
      if (unlinkSync === remove) return context.skip("imports of this runtime do not follow the module");
      (await taken(folder, { heartbeat: 100, expiry: 30_000 })).release();
      assert.deepEqual((await readdir(folder)).sort(), [basename(path), `${basename(path)}-lost`]);
      for (const mayTouch of [true, false]) { // not once it has given up its rights
        const lock = newLock(folder, { heartbeat: 1 });
        assert.equal(lock.take(), undefined); // it is known to be dead
        const [own] = (await locksIn(folder)).filter((name) => !name.startsWith(basename(path)));
        if (!mayTouch) {
          fs.lutimesSync = ((touched: string, ...times: [number, number]) => {
            if (touched.endsWith(own)) throw Object.assign(new Error("EPERM: given up"), { code: "EPERM" });
            touch(touched, ...times);
          }) as never;
        }
        fs.writeFileSync(join(folder, `${own}-lost`), "");
        syncBuiltinESMExports();
        await until(() => lock.isLost, "the loss");
        await pause(10);
        assert.throws(() => lock.requireHeld(), LockLostError);
        lock.renew();
        await pause(10);
        assert.equal(lock.isLost, false);
        lock.release();
        assert.deepEqual((await locksIn(folder)).filter((name) => !name.endsWith("-lost")), [basename(path)]);
      }
      remove(path);
      (await taken(folder)).release();
      assert.deepEqual(await readdir(folder), []);
    } finally {
      fs.unlinkSync = remove;
      fs.lutimesSync = touch;
      syncBuiltinESMExports();
    }
  }));

test("a holder that may not touch its file any more shows that it lives by a new one, or is lost before that expires", (context) =>
  inFolder(async (folder) => {
    const { lutimesSync: touch, openSync: open, writeFileSync: write } = fs;
    for (const mayCreate of [true, false]) {
      const lock = await taken(folder, { heartbeat: 40, expiry: 400 });
      const [former] = await locksIn(folder);
      const refuse = (path: string): void => {
        throw Object.assign(new Error(`EPERM: refused of ${path}`), { code: "EPERM" });
      };
      fs.lutimesSync = ((path: string, ...times: [number, number]) => {
        return path.endsWith(former) ? refuse(path) : touch(path, ...times);
      }) as never;
      if (!mayCreate) fs.writeFileSync = fs.openSync = refuse as never;
      syncBuiltinESMExports();
      try {
        if (lutimesSync === touch) return context.skip("imports of this runtime do not follow the module");
        const touched = () => fs.readdirSync(folder).map((name) => fs.statSync(join(folder, name)).mtimeMs);
        if (mayCreate) {
          const start = Math.max(...touched());
          await until(() => Math.max(...touched()) > start + 400, "beats"); // always of one file at least
          lock.requireHeld();
          assert.equal((await locksIn(folder)).length, 1);
          assert.throws(() => void newLock(folder).take(), { code: "EBUSY" });
        } else {
          const [start] = touched();
          // Times of files are those of the last tick of the system's clock.
          await until(() => Date.now() - start >= 410 || lock.isLost, "the loss");
          assert.ok(lock.isLost);
        }
      } finally {
        fs.lutimesSync = touch;
        fs.writeFileSync = write;
        fs.openSync = open;
        syncBuiltinESMExports();
        lock.release();
      }
      assert.deepEqual(await readdir(folder), []);
    }
  }));

test("a lock whose file a server has created, but fails to close, is taken, and a request made", (context) =>
  inFolder(async (folder) => {
    const { closeSync: close, writeFileSync: write } = fs;
    const failing = (call: (...args: never[]) => void) => (...args: unknown[]) => {
      call(...args as never[]);
      throw Object.assign(new Error("EDQUOT: disk quota exceeded"), { code: "EDQUOT" });
    };
    const geteuid = process.geteuid;
    process.geteuid &&= () => 1000; // the file of a superuser's lock stays open
    Object.assign(fs, { closeSync: failing(close), writeFileSync: failing(write) });
    syncBuiltinESMExports();
    try {
      if (closeSync === close) return context.skip("imports of this runtime do not follow the module");
      const lock = await taken(folder);
      lock.requireHeld();
      lock.release();
      assert.deepEqual(await readdir(folder), []);
      assert.ok(makeIfPossible(join(folder, "request")), "a request");
    } finally {
      Object.assign(fs, { closeSync: close, writeFileSync: write });
      syncBuiltinESMExports();
      Object.assign(process, { geteuid });
    }
  }));

test("a lock that was released is free for its process, though its user may not remove the file any more", (context) =>
  inFolder(async (folder) => {
    const { unlinkSync: unlink } = fs;
    const lock = await taken(folder);
    const [former] = await locksIn(folder);
    fs.unlinkSync = (path) => {
      if (String(path).endsWith(former)) throw Object.assign(new Error("EPERM: refused"), { code: "EPERM" });
      unlink(path);
    };
    syncBuiltinESMExports();
    try {
      if (unlinkSync === unlink) return context.skip("imports of this runtime do not follow the module");
      assert.throws(() => void newLock(folder).take(), { code: "EBUSY" });
      lock.release();
      // A superuser's process marks it for others before it ends.
      if (process.geteuid?.() === 0) assert.equal(statSync(join(folder, former)).size, 2);
      for (let i = 0; i < 2; i++) {
        const next = await taken(folder);
        assert.throws(() => void newLock(folder).take(), { code: "EBUSY" });
        next.release();
      }
      assert.deepEqual(await locksIn(folder), [former]);
    } finally {
      fs.unlinkSync = unlink;
      syncBuiltinESMExports();
    }
  }));

test("a lock is one file with a name that it is known by, and no file once it is released", () =>
  inFolder(async (folder) => {
    for (const name of [undefined, "app.log", "a.b-millrace"]) {
      const options = name === undefined ? {} : { name };
      const lock = newLock(folder, options);
      assert.equal(lock.take(), undefined, "it is taken at once");
      const [file, ...others] = await readdir(folder);
      assert.deepEqual(others, []);
      assert.ok(isLockName(file), file);
      lock.requireHeld();
      lock.release();
      lock.release();
      assert.deepEqual(await readdir(folder), []);
    }
  }));

test("names that only resemble a lock's are none", () => {
  const names = [
    ".millrace-lock-of-nobody",
    "millrace-lock-00000000.1.0.0-01234567",
    "x.millrace-lock-00000000.1.0.0-01234567",
    ".millrace-lock-00000000.1.0.0-01234567x",
    ".millrace-lock-00000000.1.0.0-01234567-want",
    ".millrace-lock-0000000.1.0.0-01234567",
    ".millrace.journal",
  ];
  assert.deepEqual(names.filter((name) => isLockName(name)), []);
  assert.ok(isLockName(".millrace-lock-00000000.1.0.0-01234567"));
  assert.ok(isLockName(".millrace-lock-00000000.1.0.0-01234567-wanted"));
  assert.ok(isLockName(".app.log.millrace-lock-00000000.1.0.0-01234567"));
  assert.ok(isLockName(".app.log.millrace-lock-00000000.1-01234567-0123-4567-89ab-0123456789ab"));
});

test("of two callers in one thread the second is refused at once, and told that this process has it", () =>
  inFolder(async (folder) => {
    const lock = await taken(folder);
    const other = newLock(folder, { busy: ({ isInThisProcess }) => new Error(`here: ${isInThisProcess}`) });
    assert.throws(() => void other.take(), /here: true/);
    lock.requireHeld();
    assert.equal((await locksIn(folder)).length, 1);
    const elsewhere = await taken(folder, { name: "another" });
    elsewhere.release();
    lock.release();
    (await taken(folder)).release();
    assert.deepEqual(await readdir(folder), []);
  }));

test("a caller that meets another one at the same moment is not refused, but by one that stays", {
  skip: needs("proc"),
}, () =>
  inFolder(async (folder) => {
    const { ppid } = process;
    const status = readFileSync(`/proc/${ppid}/stat`, "latin1");
    const start = status.slice(status.lastIndexOf(")") + 2).split(" ")[19];
    const path = await put(folder, `${pidNamespace()}.${ppid}.${ppid}.${start}`);
    const lock = newLock(folder);
    const taking = lock.take();
    const files = readdirSync(folder).filter((name) => isLockName(name));
    unlinkSync(path); // it has seen the lock's file, too; at once, as the caller looks again some ms later
    assert.equal(files.length, 1, "neither caller has the other one's way blocked");
    await taking;
    assert.equal((await locksIn(folder)).length, 1);
    lock.release();
    await put(folder, `${pidNamespace()}.${ppid}.${ppid}.${start}`);
    await assert.rejects(taken(folder), { code: "EBUSY", message: `${ppid} has it` });
    await rm(path);
    assert.deepEqual(await readdir(folder), []);
  }));

test("a lock is its thread's whatever its folder is called, and for other copies of the package", {
  skip: needs("links"),
}, () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "logs"));
    await symlink("logs", join(folder, "link"));
    const lock = await taken(join(folder, "logs"));
    assert.throws(() => void newLock(join(folder, "link")).take(), { code: "EBUSY" });
    const { [Symbol.for("@millrace/streams.heldLocks")]: shared } = globalThis as { [key: symbol]: unknown };
    for (const name of await locksIn(join(folder, "logs"))) assert.ok((shared as Set<string>).has(name));
    lock.requireHeld();
    lock.release();
  }));

test(
  "the lock file of a process that lives is free once it has two bytes",
  { skip: needs("proc") },
  () =>
    inFolder(async (folder) => {
      const { ppid } = process;
      const status = readFileSync(`/proc/${ppid}/stat`, "latin1");
      const start = status.slice(status.lastIndexOf(")") + 2).split(" ")[19];
      const path = await put(folder, `${pidNamespace()}.${ppid}.${ppid}.${start}`);
      await assert.rejects(taken(folder), { code: "EBUSY" });
      await writeFile(path, "x"); // a beat
      await assert.rejects(taken(folder), { code: "EBUSY" });
      await writeFile(path, "xx");
      (await taken(folder)).release();
      assert.deepEqual(await readdir(folder), []);
    }),
);

test("a caller whose thread is blocked takes no holder's silence meanwhile for its end", () =>
  inFolder(async (folder) => {
    const path = await put(folder, FOREIGN);
    const taking = assert.rejects(taken(folder, { heartbeat: 100, expiry: 300 }), { code: "EBUSY" });
    await pause(40); // it has looked
    const beats = setInterval(() => utimesSync(path, new Date(), new Date()), 90); // behind the caller's look
    const end = performance.now() + 700;
    while (performance.now() < end);
    await taking;
    clearInterval(beats);
  }));

test("a lock of version 0.2.0 is its holder's while that touches its file, and free after that", () =>
  inFolder(async (folder) => {
    const path = join(folder, `${PREFIX}00000000.1-${crypto.randomUUID()}`);
    await writeFile(path, "");
    const beats = setInterval(() => utimesSync(path, new Date(), new Date()), 40);
    const options = { heartbeat: 100, expiry: 400 };
    await assert.rejects(taken(folder, options), { code: "EBUSY", message: "1 has it" });
    clearInterval(beats);
    (await taken(folder, options)).release();
    assert.deepEqual(await readdir(folder), []);
  }));

test("the byte in a holder's file changes with its beats", () =>
  inFolder(async (folder) => {
    const lock = await taken(folder, { heartbeat: 20 });
    const [name] = await locksIn(folder);
    const marks = new Set<string>();
    await until(async () => marks.add(await readFile(join(folder, name), "latin1")).size > 3, "beats");
    for (const mark of marks) assert.match(mark, /^\d$/);
    lock.release();
  }));

test("of many callers in one thread that wait, one has it at a time, in the order in which they came", () =>
  inFolder(async (folder) => {
    let holders = 0;
    const turns: number[] = [];
    await Promise.all(Array.from({ length: 12 }, async (_, caller) => {
      for (let i = 0; i < 4; i++) {
        const lock = await taken(folder, { waitFor: 60_000 });
        assert.equal(++holders, 1);
        lock.requireHeld();
        turns.push(caller);
        await pause(1);
        holders--;
        lock.release();
      }
    }));
    assert.equal(turns.length, 48);
    assert.deepEqual(turns.slice(0, 12), Array.from({ length: 12 }, (_, i) => i));
    assert.deepEqual(await readdir(folder), []);
  }));

test("a caller waits no longer than it may, for a holder in its thread and for one elsewhere", () =>
  inFolder(async (folder) => {
    for (const holder of ["here", "elsewhere"]) {
      const lock = holder === "here" ? await taken(folder, { waitFor: 1 }) : undefined;
      const path = holder === "here" ? undefined : await put(folder, WITHOUT_THREAD);
      const beats = setInterval(() => path && utimes(path, new Date(), new Date()).catch(() => {}), 20);
      const start = performance.now();
      await assert.rejects(taken(folder, { waitFor: 300, heartbeat: 100 }), { code: "EBUSY" }, holder);
      assert.ok(performance.now() - start >= 299);
      clearInterval(beats);
      lock?.release();
      if (path !== undefined) await rm(path);
      assert.deepEqual(await readdir(folder), [], "neither a lock nor a request is left");
    }
  }));

test("a holder is asked once to hand over, by callers in its thread and elsewhere, and a refused one leaves no request", () =>
  inFolder(async (folder) => {
    for (const waiter of ["here", "elsewhere"]) {
      let asked = 0;
      const lock = await taken(folder, { waitFor: 60_000, onHandOverRequested: () => void asked++ });
      if (waiter === "here") {
        const others = [1, 2].map(() =>
          assert.rejects(taken(folder, { waitFor: 900, onHandOverRequested: () => {} }), { code: "EBUSY" })
        );
        await Promise.all(others);
      } else {
        await writeFile(join(folder, `${PREFIX}${FOREIGN}-76543210-wanted`), "");
        await until(() => asked > 0, "the request");
        await pause(600);
        await rm(join(folder, `${PREFIX}${FOREIGN}-76543210-wanted`));
      }
      assert.equal(asked, 1);
      lock.release();
      assert.deepEqual(await readdir(folder), []);
    }
  }));

test("a request that a dead caller left asks no holder", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, `${PREFIX}${dead()}-76543210-wanted`), "");
    await writeFile(join(folder, `${PREFIX}${FOREIGN}-76543210-wanted`), "");
    const asked = () => assert.fail("it was asked");
    const lock = await taken(folder, { waitFor: 1000, onHandOverRequested: asked });
    await writeFile(join(folder, `${PREFIX}${dead()}-76543210-wanted`), "");
    await pause(600);
    lock.release();
    (await taken(folder, { waitFor: 1000, onHandOverRequested: asked })).release();
    assert.deepEqual(await readdir(folder), []);
  }));

for (const waitFor of [0, 5000]) {
  const way = waitFor === 0 ? "at once" : "with a wait";

  test(`${way}: the lock of a dead process is taken at once`, () =>
    inFolder(async (folder) => {
      await put(folder, dead());
      const lock = newLock(folder, { waitFor });
      assert.equal(lock.take(), undefined);
      assert.equal((await locksIn(folder)).length, 1);
      lock.release();
      assert.deepEqual(await readdir(folder), []);
    }));

  for (const [kind, identity] of Object.entries({ "in another container": FOREIGN, "without /proc": WITHOUT_THREAD })) {
    test(`${way}: a holder ${kind} keeps its lock while it beats, be its clock hours behind or ahead`, () =>
      inFolder(async (folder) => {
        for (const hours of [-3, 0, 3]) {
          const path = await put(folder, identity);
          let beat = 0;
          const beats = setInterval(() => {
            const time = Date.now() / 1000 + 3600 * hours + beat++ / 1000;
            utimes(path, time, time).catch(() => {});
          }, 40);
          const options = { waitFor: waitFor / 10, heartbeat: 200, expiry: 800 };
          await assert.rejects(taken(folder, options), { code: "EBUSY" });
          clearInterval(beats);
          assert.equal((await locksIn(folder)).length, 1);
          await rm(path);
        }
      }));

    test(`${way}: a holder ${kind} keeps its lock while it beats, where clients keep the times of its file`, () =>
      inFolder(async (folder) => {
        const path = await put(folder, identity);
        let beat = 0;
        const beats = setInterval(() => {
          fs.writeFileSync(path, String(beat++ % 10), { flag: "r+" });
          fs.utimesSync(path, 1e9, 1e9);
        }, 40);
        const options = { waitFor: waitFor / 10, heartbeat: 200, expiry: 800 };
        await assert.rejects(taken(folder, options), { code: "EBUSY" }).finally(() => clearInterval(beats));
        assert.equal((await locksIn(folder)).length, 1);
      }));

    test(`${way}: a holder ${kind} that does not beat loses its lock, sooner if that looks old`, () =>
      inFolder(async (folder) => {
        await put(folder, identity, 60_000);
        const start = performance.now();
        (await taken(folder, { waitFor, heartbeat: 100, expiry: 30_000 })).release();
        const ms = performance.now() - start;
        assert.ok(ms >= 149 && ms < 15_000, `${ms} ms for one that looks old`);
        for (const age of [0, -60_000]) { // the holder's clock may be ahead
          const start = performance.now();
          await put(folder, identity, age);
          // Time in which the watcher is held up for two heartbeats does not count.
          (await taken(folder, { waitFor, heartbeat: 400, expiry: 1200 })).release();
          assert.ok(performance.now() - start >= 1199, "it is watched for long enough");
        }
        assert.deepEqual(await readdir(folder), []);
      }));
  }
}

test("a holder that expires while a caller decides whether to wait loses its lock", () =>
  inFolder(async (folder) => {
    for (const last of [1, 2, 3, 4, 5]) {
      await put(folder, FOREIGN);
      let looks = 0;
      const look = mock.method(BeatWatch.prototype, "look", () => ++looks > last ? "expired" : "silent");
      try {
        (await taken(folder)).release();
      } finally {
        look.mock.restore();
      }
      assert.deepEqual(await readdir(folder), []);
    }
  }));

test("time in which a caller is held up itself does not count for its patience", () =>
  inFolder(async (folder) => {
    await put(folder, FOREIGN);
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const end = performance.now() + 1500;
    const holdUp = setInterval(() => {
      if (performance.now() > end) clearInterval(holdUp);
      else Atomics.wait(cell, 0, 0, 120);
    }, 1);
    (await taken(folder, { heartbeat: 50, expiry: 300 })).release();
    assert.ok(performance.now() > end);
  }));

test("a released lock of another container is taken as soon as that is seen", () =>
  inFolder(async (folder) => {
    for (const waitFor of [0, 5000]) {
      const path = await put(folder, FOREIGN);
      setTimeout(() => void rm(path), 100);
      const start = performance.now();
      (await taken(folder, { waitFor, heartbeat: 1000, expiry: 30_000 })).release();
      assert.ok(performance.now() - start < 15_000);
    }
  }));

test("a lock that is released while it waits is not taken", () =>
  inFolder(async (folder) => {
    for (const waitFor of [0, 5000]) {
      const path = await put(folder, FOREIGN);
      const lock = newLock(folder, { waitFor, heartbeat: 200 });
      const taking = lock.take();
      lock.release();
      await assert.rejects(taking!, LockLostError);
      await rm(path);
      assert.deepEqual(await readdir(folder), []);
    }
  }));

test("a holder sees that its file is gone, and says so before it writes", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "a");
    for (const lose of [() => rm(directory, { recursive: true }), () => rename(directory, join(folder, "b"))]) {
      await mkdir(directory);
      const lock = await taken(directory, { heartbeat: 40 });
      lock.requireHeld();
      await lose();
      await pause(51); // no look at the file is due before
      assert.throws(() => lock.requireHeld(), {
        name: "LockLostError",
        message: "Another process has taken over the test, or its lock was removed: try again",
      });
      lock.release();
    }
  }));

test("a lock is renewed where its file was removed, unless another has it", () =>
  inFolder(async (folder) => {
    const lock = await taken(folder, { heartbeat: 20 });
    const remove = async () => {
      for (const name of await readdir(folder)) await rm(join(folder, name));
      await until(() => lock.isLost, "the loss");
    };
    await remove();
    lock.renew();
    lock.renew(); // nothing happens
    lock.requireHeld();
    assert.equal((await locksIn(folder)).length, 1);
    assert.throws(() => void newLock(folder).take(), { code: "EBUSY" });
    await remove();
    const other = await taken(folder);
    assert.throws(() => lock.renew(), { code: "EBUSY" });
    other.requireHeld();
    other.release();
    assert.deepEqual(await readdir(folder), []);
  }));

test("without its folder a lock cannot be taken, and the system's code says why", () =>
  inFolder(async (folder) => {
    for (const waitFor of [0, 1000]) {
      const lock = newLock(join(folder, "missing"), { waitFor });
      assert.throws(() => void lock.take(), { code: "ENOENT", message: /^Cannot create .*: the directory is missing/ });
      lock.release();
    }
    await mkdir(join(folder, "missing"));
    (await taken(join(folder, "missing"), { waitFor: 1000 })).release();
  }));

test(
  "on a disk without room for a byte a lock is taken and released",
  { skip: cannotMount },
  () =>
    onSmallDisk(64, async (disk) => {
      await writeFile(join(disk, "filler"), new Uint8Array(100_000)).catch(() => {});
      await assert.rejects(writeFile(join(disk, "more"), "more"), { code: "ENOSPC" });
      await put(disk, dead());
      for (const waitFor of [0, 1000]) (await taken(disk, { waitFor })).release();
      assert.deepEqual(await locksIn(disk), []);
    }),
);

test(
  "on a disk without room for a name a lock is released, and taken in the place of a dead holder's",
  { skip: cannotMount },
  () =>
    onDiskOfFewFiles(12, async (disk) => {
      for (const waitFor of [0, 1000]) {
        const holder = await taken(disk, { waitFor });
        for (let i = 0; await writeFile(join(disk, `filler ${i}`), "").then(() => true, () => false); i++);
        holder.release();
        await put(disk, dead());
        assert.throws(() => void newLock(disk, { name: "another", waitFor }).take(), { code: "ENOSPC" });
        const next = await taken(disk, { waitFor });
        assert.throws(() => void newLock(disk).take(), { code: "ENOSPC" });
        next.release();
        for (const name of await readdir(disk)) await rm(join(disk, name));
      }
    }),
);

test(
  "on a disk without room for a name a lock is held without a file where that is asked for, unless another has it",
  { skip: cannotMount },
  () =>
    onDiskOfFewFiles(12, async (disk) => {
      const holder = await taken(disk, { waitFor: 1000 });
      for (let i = 0; await writeFile(join(disk, `filler ${i}`), "").then(() => true, () => false); i++);
      const options = { waitFor: 100, mayLackFile: true, onHandOverRequested: () => {} };
      await assert.rejects(taken(disk, options), { code: "EBUSY" });
      holder.release();
      await writeFile(join(disk, "last"), "");
      const lock = await taken(disk, options);
      assert.deepEqual(await locksIn(disk), []);
      lock.requireHeld();
      lock.release();
    }),
);
