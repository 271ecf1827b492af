import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { isLockName, pidNamespace, ProcessLock } from "../../lib/files/internal.ts";
import { inFolder } from "../support/folders.ts";
import { isLong, tries } from "../support/long_run.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { root } from "../support/runtime.ts";
import { LIMIT, until, within } from "../support/waits.ts";
import type { Task } from "./lock_process.ts";
import { needs } from "../support/needs.ts";

const program = new URL("lock_process.ts", import.meta.url);
const words = process.versions.deno ? ["run", "-A", "--no-check", "--config", join(root, "deno.json")] : [];
/** The number of times that each process has the lock. */
const ROUNDS = isLong ? 200 : 5;
const cannotInspect = needs("proc");
/** A command before which another makes the process that it starts one of another container. */
const CONTAINER = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const cannotIsolate = spawnSync(CONTAINER[0], [...CONTAINER.slice(1), "true"]).status === 0
  ? false
  : "no process can be put into a space of its own";

class LockProcess {
  readonly child: ChildProcess;
  readonly closed: Promise<unknown[]>;
  readonly #lines: AsyncIterator<string>;

  constructor(task: Task, before: readonly string[] = []) {
    const command = [...before, process.execPath, ...words, fileURLToPath(program), JSON.stringify(task)];
    this.child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    this.closed = once(this.child, "close");
    this.#lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]();
  }

  async line(): Promise<string | undefined> {
    const { value } = await within(this.#lines.next(), "a line of a process");
    return value;
  }

  /** Has a process that obeys call a method of its lock; returns its line. */
  async answer(method: "take" | "renew" | "release" | "requireHeld"): Promise<string | undefined> {
    this.child.stdin!.write(`${method}\n`);
    return await this.line();
  }

  async kill(): Promise<void> {
    process.kill(this.child.pid!, "SIGKILL"); // Deno's kill() sends no second signal
    await within(this.closed, "the end of a process");
  }
}

async function taken(directory: string, options: { waitFor?: number; heartbeat?: number } = {}): Promise<ProcessLock> {
  const lock = new ProcessLock({
    directory,
    subject: "the test",
    onHandOverRequested: () => {},
    busy: ({ processId }) => Object.assign(new Error(`${processId} has it`), { code: "EBUSY" }),
    ...options,
  });
  await within(Promise.resolve(lock.take()), "take()");
  return lock;
}

async function locksIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => isLockName(name));
}

/**
 * Reads the log of those that had a lock: each has left it before the next one came, unless it was killed, and then it
 * does nothing more.
 */
async function readLog(directory: string, killed: ReadonlySet<string>): Promise<Map<string, number>> {
  const rounds = new Map<string, number>();
  const gone = new Set<string>();
  let inside: string | undefined;
  for (const line of (await readFile(join(directory, "log"), "utf8")).split("\n").slice(0, -1)) {
    const [id, round, step] = line.split(" ");
    assert.ok(!gone.has(id), `${id} goes on although another had the lock of it`);
    if (step === "in") {
      if (inside !== undefined) {
        const [before] = inside.split(" ");
        assert.ok(killed.has(before), `${line}, while ${inside} had the lock`);
        gone.add(before);
      }
      inside = `${id} ${round}`;
    } else {
      assert.equal(inside, `${id} ${round}`, line);
      inside = undefined;
      rounds.set(id, (rounds.get(id) ?? 0) + 1);
    }
  }
  return rounds;
}

test("of processes and threads that contend for a lock, one has it at a time", () =>
  inFolder(async (directory) => {
    await writeFile(join(directory, "number"), "0");
    // To read the folder takes so long that others do something meanwhile.
    await Promise.all(Array.from({ length: 600 }, (_, i) => writeFile(join(directory, `another file ${i}`), "")));
    const task = (id: string): Task => ({ directory, id, work: "contend", rounds: ROUNDS });
    const processes = [1, 2, 3].map((i) => new LockProcess(task(`p${i}`)));
    const threads = [1, 2].map((i) => new Worker(program, { workerData: task(`t${i}`) }));
    await within(
      Promise.all([
        ...processes.map(async ({ closed }) => assert.deepEqual(await closed, [0, null])),
        ...threads.map((thread) => once(thread, "exit")),
      ]),
      "the processes and threads",
    );
    const rounds = await readLog(directory, new Set());
    assert.deepEqual(Object.fromEntries(rounds), { p1: ROUNDS, p2: ROUNDS, p3: ROUNDS, t1: ROUNDS, t2: ROUNDS });
    assert.equal(await readFile(join(directory, "number"), "utf8"), String(5 * ROUNDS), "no one's count was lost");
    assert.deepEqual(await locksIn(directory), []);
  }));

test(
  "of processes that are killed at any moment each has its lock alone, and the others take it over",
  { skip: cannotInspect },
  () =>
    inFolder(async (directory) => {
      await writeFile(join(directory, "number"), "0");
      await writeFile(join(directory, "log"), "");
      const start = (id: string, rounds: number) => new LockProcess({ directory, id, work: "contend", rounds });
      const survivors = [start("s1", ROUNDS), start("s2", ROUNDS)];
      const killed = new Set<string>();
      const victims = Array.from({ length: isLong ? 6 : 3 }, async (_, i) => {
        const id = `v${i}`;
        killed.add(id);
        const victim = start(id, 1_000_000);
        await until(
          async () => (await readFile(join(directory, "log"), "utf8")).includes(`${id} 0 in`),
          `a round of ${id}`,
        );
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
        await victim.kill();
      });
      await within(Promise.all(victims), "the victims");
      for (const { closed } of survivors) assert.deepEqual(await within(closed, "a survivor"), [0, null]);
      const rounds = await readLog(directory, killed);
      assert.deepEqual([rounds.get("s1"), rounds.get("s2")], [ROUNDS, ROUNDS]);
      (await taken(directory)).release();
      assert.deepEqual(await locksIn(directory), [], "what the victims left is removed");
    }),
);

const seed = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000);
/** Permissions without which nothing can be looked for, removed and created, or listed. */
const CLOSED = [0, 0o644, 0o555, 0o333];

test(
  `while its folder is closed for a moment, a lock is not lost, and one that is released then is free afterwards (${seed})`,
  { skip: needs("modes") },
  () =>
    inFolder(async (base) => {
      const random = randomNumbers(seed);
      const directory = join(base, "locked");
      await mkdir(directory);
      await chmod(base, 0o755);
      const user = process.getuid!() === 0 ? 1000 : undefined; // permissions are nothing to a superuser
      if (user !== undefined) await chown(directory, user, user);
      const processes = [0, 1].map((id) => new LockProcess({ directory, id: String(id), work: "obey", user }));
      const state: ("free" | "held" | "lost")[] = ["free", "free"];
      try {
        let mode = 0o755;
        let log = "";
        for (let step = tries(600); step >= 0; step--) {
          const own = random(2);
          const [holder, other] = [processes[own], state[1 - own]];
          const check = async (method: Parameters<LockProcess["answer"]>[0], expected: RegExp): Promise<void> => {
            const answer = await holder.answer(method);
            log += `${mode.toString(8)} ${own} is ${state[own]}: ${method} ${answer}\n`;
            assert.match(answer!, expected, log);
          };
          const isClosed = mode !== 0o755;
          if (random(3) === 0 || step === 0) {
            mode = isClosed ? 0o755 : CLOSED[random(CLOSED.length)];
            await chmod(directory, mode);
            const count = state.filter((each) => each === "held").length;
            const isClean = async () => mode !== 0o755 || (await locksIn(directory)).length === count;
            await until(isClean, `the files of locks that were released are gone:\n${log}`);
          } else if (state[own] === "free") {
            await check("take", isClosed ? /^EACCES$/ : other === "held" ? /^EBUSY$/ : /^ok$/);
            if (!isClosed && other !== "held") state[own] = "held";
          } else if (random(4) === 0) {
            await check("release", /^ok$/);
            state[own] = "free";
          } else if (state[own] === "lost") {
            await check("renew", isClosed ? /^EACCES$/ : other === "held" ? /^EBUSY$/ : /^ok$/);
            await check("requireHeld", isClosed || other === "held" ? /^LockLostError$/ : /^ok$/);
            if (!isClosed) state[own] = other === "held" ? "free" : "held";
          } else if (!isClosed && random(5) < 2) {
            for (const name of await locksIn(directory)) await rm(join(directory, name));
            // Only a folder that can be entered shows that the file is missing.
            mode = random(2) === 0 ? mode : CLOSED[2 + random(2)];
            await chmod(directory, mode);
            await check("renew", mode === 0o755 ? /^ok$/ : /^EACCES$/);
            state[own] = mode === 0o755 ? "held" : "lost";
          } else {
            await check("renew", /^ok$/);
            await check("requireHeld", /^ok$/);
          }
        }
        if (mode !== 0o755) await chmod(directory, 0o755);
        for (const holder of processes) await holder.answer("release");
        await until(async () => (await locksIn(directory)).length === 0, `no file is left of\n${log}`);
      } finally {
        for (const { child } of processes) child.kill("SIGKILL");
      }
    }),
);

test("a process that holds a lock hands it over when it is asked", () =>
  inFolder(async (directory) => {
    const holder = new LockProcess({ directory, id: "h", work: "hold", waitFor: 1000, handsOver: true });
    assert.equal(await holder.line(), "held");
    const lock = await taken(directory, { waitFor: 60_000 });
    assert.equal(await holder.line(), "asked");
    assert.equal((await locksIn(directory)).length, 1, "the request is gone");
    lock.release();
    await holder.kill();
  }));

test("a process that does not hand its lock over keeps it, and the caller is told its id in time", () =>
  inFolder(async (directory) => {
    const holder = new LockProcess({ directory, id: "h", work: "hold", waitFor: 1000 });
    assert.equal(await holder.line(), "held");
    for (const waitFor of [0, 700]) {
      const message = `${holder.child.pid} has it`;
      await assert.rejects(taken(directory, { waitFor }), { code: "EBUSY", message });
    }
    assert.equal(await holder.line(), "asked");
    assert.equal((await locksIn(directory)).length, 1, "neither a lock nor a request is left");
    await holder.kill();
    const lock = await taken(directory, { waitFor: 60_000 });
    lock.release();
    assert.deepEqual(await locksIn(directory), []);
  }));

test(
  "a stopped process keeps its lock where it can be inspected",
  { skip: cannotInspect },
  () =>
    inFolder(async (directory) => {
      const holder = new LockProcess({ directory, id: "h", work: "hold", heartbeat: 20 });
      assert.equal(await holder.line(), "held");
      process.kill(holder.child.pid!, "SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const waitFor of [0, 300]) {
        await assert.rejects(taken(directory, { waitFor, heartbeat: 20 }), { code: "EBUSY" });
      }
      await holder.kill();
    }),
);

test(
  "a process of another container keeps its lock while it beats, and loses it when it is killed",
  { skip: cannotIsolate },
  () =>
    inFolder(async (directory) => {
      const holder = new LockProcess({ directory, id: "h", work: "hold", heartbeat: 100 }, CONTAINER);
      assert.equal(await holder.line(), "held");
      for (const waitFor of [0, 1000]) {
        await assert.rejects(taken(directory, { waitFor, heartbeat: 100 }), { code: "EBUSY" });
      }
      await holder.kill();
      (await taken(directory, { heartbeat: 100 })).release();
      assert.deepEqual(await locksIn(directory), []);
    }),
);

test(
  "a process of another container that was stopped for too long stops when it sees that its lock is another's",
  { skip: cannotIsolate },
  () =>
    inFolder(async (directory) => {
      const holder = new LockProcess({ directory, id: "h", work: "write", heartbeat: 100 }, CONTAINER);
      assert.equal(await holder.line(), "held");
      const size = () => stat(join(directory, "written")).then(({ size }) => size, () => 0);
      await until(async () => await size() > 0, "a write");
      const inner = spawnSync("pgrep", ["-P", String(holder.child.pid)], { encoding: "utf8" }).stdout.trim();
      assert.match(inner, /^\d+$/);
      process.kill(Number(inner), "SIGSTOP");
      const lock = await taken(directory, { heartbeat: 100 });
      const before = await size();
      process.kill(Number(inner), "SIGCONT");
      assert.equal(await holder.line(), "lost");
      assert.ok(await size() <= before + "h\n".length, "it has written nothing more, but for what had begun");
      lock.requireHeld();
      lock.release();
      await within(holder.closed, "the end of the process", LIMIT);
    }),
);

/** A command before which another makes the process that it starts one for which the machine runs longer. */
const OTHER_TIME = ["unshare", "--time", "--boottime", "100000", "--fork"];
const cannotShiftTime = spawnSync(OTHER_TIME[0], [...OTHER_TIME.slice(1), "true"]).status === 0
  ? false
  : "no process can be put into a time of its own";

test(
  "a process for which others began at other times has a space of its own",
  { skip: cannotShiftTime },
  () =>
    inFolder(async (directory) => {
      const module = new URL("../../lib/files/process_identity.ts", import.meta.url);
      const path = join(directory, "space.mjs");
      await writeFile(path, `import { pidNamespace } from "${module}";\nconsole.log(pidNamespace());\n`);
      const command = [...OTHER_TIME.slice(1), process.execPath, ...words, path];
      const { stdout } = spawnSync(OTHER_TIME[0], command, { encoding: "utf8" });
      assert.match(stdout, /^[0-9a-f]{8}\n$/);
      assert.notEqual(stdout.trim(), pidNamespace());
    }),
);

test(
  "a lock of a thread that was terminated is taken",
  { skip: cannotInspect },
  () =>
    inFolder(async (directory) => {
      const task: Task = { directory, id: "t", work: "hold" };
      const thread = new Worker(program, { workerData: task });
      // While a thread tries to take the lock, its file is there, too, and empty: a heartbeat shows that it has the lock.
      const sizeOf = async (name: string) => (await stat(join(directory, name))).size;
      const sizes = async () => await Promise.all((await locksIn(directory)).map(sizeOf));
      await until(async () => (await sizes().catch(() => [])).join() === "1", "the thread's lock");
      await assert.rejects(taken(directory, { waitFor: 200 }), { code: "EBUSY" });
      await thread.terminate();
      (await taken(directory, { waitFor: 60_000 })).release();
      assert.deepEqual(await locksIn(directory), []);
    }),
);
