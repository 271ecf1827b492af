import assert from "node:assert/strict";
import test from "node:test";
import { type Module, ourModules } from "./module_graph.ts";

/** A job that has one mechanism: no module does it a second time by the means that the mechanism is made of. */
interface Mechanism {
  readonly name: string;
  /** The means, in code without comments. */
  readonly pattern: RegExp;
  /** The module to use instead. */
  readonly instead: string;
  /** The modules that may use the means, with the reason. */
  readonly allowed: Readonly<Record<string, string>>;
  /** Sources in which the check has to find it. */
  readonly planted: readonly string[];
  /** Sources in which it must not. */
  readonly innocent: readonly string[];
}

const OWN_LATE_BOUND = "streams import nothing, and take the timers that a page or a test has put there";

const mechanisms: readonly Mechanism[] = [
  {
    name: "timers",
    pattern: /\bset(?:Timeout|Interval)\b|\bAbortSignal\.timeout\b/,
    instead: "lib/timers",
    allowed: {
      "lib/timers/timer.ts": "the mechanism itself",
      "lib/streams/language/host.ts": OWN_LATE_BOUND,
      "lib/streams/writable/batches/batched_sink.ts": OWN_LATE_BOUND,
      "lib/streams/writable/batches/batch.ts": OWN_LATE_BOUND,
    },
    planted: [
      "const timer = setTimeout(() => end(), 50);",
      'import { setInterval as repeat } from "node:timers";',
      "let timer: ReturnType<typeof setTimeout>;",
      "globalThis.setInterval(look, 1000);",
      "const signal = AbortSignal.timeout(5000);",
    ],
    innocent: ["const limit = new TimeLimit(5000, signal);", "socket.on('timeout', end);", "setImmediate(run);"],
  },
  {
    name: "the longest delay of a timer",
    pattern: /\b2 \*\* 31\b|\b0x7fff_?ffff\b|\b2_?147_?483_?64[78]\b/i,
    instead: "MAX_TIMER_DELAY of lib/timers",
    allowed: {
      "lib/timers/timer.ts": "the mechanism itself",
      "lib/codecs/session.ts": "bytes of output",
      "lib/http/h2/protocol.ts": "windows and streams of HTTP/2",
      "lib/streams/language/options.ts": "streams import nothing",
    },
    planted: ["const LONGEST = 2 ** 31 - 1;", "Math.min(ms, 0x7fffffff)", "if (ms > 2_147_483_647) throw error;"],
    innocent: ["const size = 2 ** 32;", "const mask = 0x7fff;", "const bits = 31;"],
  },
  {
    name: "removals",
    pattern:
      /\b(?:(?:rm|rmdir|unlink)(?:Sync)?|remove(?:File|Folder)Now)\(|[{,]\s*(?:rm|rmdir|unlink)(?:Sync)?\s*(?:[,}]|as\b)/,
    instead:
      "removeIfSame() or CreatedFile of lib/files/created_file.ts, or removeTemporary() of lib/files/temporary.ts",
    allowed: {
      "lib/files/created_file.ts": "the mechanism itself: proves that a file is still the same",
      "lib/files/rename.ts": "the calls themselves, which wait while Windows refuses",
      "lib/files/temporary.ts": "the mechanism itself: all names that it removes are its own",
      "lib/files/place.ts": "a file that takes another name loses the temporary one",
      "lib/files/series/file_series.ts": "`overwrite` says that the files of an earlier series of the name go",
      "lib/precompress/journal.ts": "the journal is removed by the run that holds it",
      "lib/precompress/target.ts": "removes folders in which nothing is left",
      "lib/upload/session/disk_session.ts": "the files of a session, in a folder of its own, under its lock",
    },
    planted: [
      'import { rm } from "node:fs/promises";',
      'import { readFile, unlink as remove } from "node:fs/promises";',
      'import {\n  lstatSync,\n  rmSync,\n} from "node:fs";',
      "fs.rmdirSync(folder);",
      "await promises.unlink(path);",
      "removeFileNow(path);",
    ],
    innocent: [
      "await removeIfSame(path, identity);",
      "list.remove(item);",
      "await bucket.delete(key);",
      'const name = "rm";',
    ],
  },
  {
    name: "renames",
    pattern: /\brename(?:Sync)?\(|[{,]\s*rename(?:Sync)?\s*(?:[,}]|as\b)/,
    instead: "renameFile() of lib/files/rename.ts",
    allowed: {
      "lib/files/rename.ts": "the mechanism itself: waits while Windows refuses",
    },
    planted: [
      'import { rename } from "node:fs/promises";',
      'import { lstatSync, renameSync as move } from "node:fs";',
      "fs.renameSync(from, to);",
    ],
    innocent: ["await renameFile(from, to);", 'throw new Error("its name is not UTF-8: rename it");'],
  },
  {
    name: "copies",
    pattern: /\b(?:copyFile|cp)(?:Sync)?\(|[{,]\s*(?:copyFile|cp)(?:Sync)?\s*(?:[,}]|as\b)/,
    instead: "copyToTemporary() of lib/files/copy_file_atomic.ts",
    allowed: {},
    planted: ['import { copyFile } from "node:fs/promises";', "fs.copyFileSync(from, to);", "await cp(from, to);"],
    innocent: ["await copyFileAtomic(from, to);", "await copyToTemporary(from, to, {});"],
  },
  {
    name: "temporary names",
    pattern: /\bmkdtemp|[`"'/]\.millrace-[^"'`]*(?:\$\{[^`]*)?(?:tmp|part|next|new)\b|\btmpdir\(|\.tmp[`"']/,
    instead: "temporaryPath(), temporaryDirectory() or openUnnamed() of lib/files/temporary.ts",
    allowed: {
      "lib/files/temporary.ts": "the mechanism itself: a sweep knows all names that it makes",
      "lib/s3/upload/gathered_part.ts": "names the folder in which openUnnamed() makes its files",
    },
    planted: [
      'const folder = await mkdtemp(join(tmpdir(), "millrace-cache-"));',
      "const path = join(folder, `.millrace-part-${randomUUID()}`);",
      "const next = `.millrace-${process.pid}-${id}.tmp`;",
      "await writeFile(`${path}.tmp`, text);",
    ],
    innocent: [
      "const path = temporaryPath(target);",
      'const OURS = ".millrace-";',
      'const SESSIONS = ".millrace-uploads";',
    ],
  },
  {
    name: "random names of files",
    pattern: /\brandomUUID\b/,
    instead: "temporaryPath() of lib/files/temporary.ts",
    allowed: {
      "lib/files/temporary.ts": "the mechanism itself",
      "lib/files/lock_holder.ts": "tells the locks of one thread apart",
      "lib/files/process_identity.ts": "the space of a process that may not ask for its own",
      "lib/http/request/request_body.ts": "the boundary of a form",
      "lib/upload/form/form_options.ts": "the names of files that stay",
      "lib/upload/session/bucket_objects.ts": "the keys of what two servers may store at a time",
      "lib/upload/session/sessions.ts": "the ids of uploads",
      "lib/upload/sink/created_object.ts": "the marks of objects",
    },
    planted: ["const path = join(folder, crypto.randomUUID());", 'import { randomUUID } from "node:crypto";'],
    innocent: ["const path = temporaryPath(target);"],
  },
  {
    name: "locks between processes",
    pattern:
      /\bisProcessAlive\b|\.kill\([^()]*, *0\)|\/proc\/[^"'`]*\b(?:task|thread-self)\b|(?<![A-Za-z])lock[^;]*["'][aw]x\+?["']|\bO_EXCL\b/i,
    instead: "ProcessLock of lib/files",
    allowed: {
      "lib/files/process_identity.ts": "the mechanism itself: tells whether the holder runs",
      "lib/runtime/mod.ts": "the question that the mechanism asks",
      "lib/runtime/process.ts": "the question that the mechanism asks",
    },
    planted: [
      'const file = openSync(join(folder, "lock"), "wx");',
      'writeFileSync(lockPath, String(process.pid), { flag: "wx" });',
      "const file = openSync(path, O_CREAT | O_EXCL);",
      "process.kill(pid, 0);",
      "if (isProcessAlive(pid) === false) unlinkSync(lock);",
      "readFileSync(`/proc/${pid}/task/${id}/stat`);",
      'readlinkSync("/proc/thread-self");',
    ],
    innocent: [
      'process.kill(process.pid, "SIGTERM");',
      'openSync(path, "w");',
      "readdirSync('/proc/self/fd');",
      'openSync(temporary, "wx");',
    ],
  },
  {
    name: "closes that nothing awaits",
    pattern: /\bvoid [\w#.?]+\.close\(\)(?!\.)/,
    instead: "drop() of lib/files/open_file.ts, or close().catch(): a late failure would end the process",
    allowed: {},
    planted: ["void file.close();", "for (const file of files) void file.#inner?.close();"],
    innocent: ["await file.close();", "file.drop();", "void file.close().catch(() => {});"],
  },
  {
    name: "checks of options",
    pattern:
      /\bunknown option\b|\btypeof [\w.?]+ !==? "boolean"|\bfor \(const \w+ (?:in|of Object\.keys\() ?(?:given|init|options)\b/,
    instead: "schema() of lib/streams",
    allowed: {
      "lib/streams/language/options.ts": "the mechanism itself",
      "lib/streams/pipe/pipe_options.ts":
        "a dictionary of the Streams Standard; schemas would have the codecs load all of the streams",
      "lib/cli/flags.ts": "refuses unknown flags; the members of schemas check their values",
      "lib/http/request/fetch_request.ts":
        "a dictionary of the Fetch Standard, in which only options of the client are refused",
    },
    planted: [
      "throw new TypeError(`unknown option ${name}`);",
      'if (typeof options.force !== "boolean") throw error;',
      "for (const name in options) if (!known.has(name)) throw error;",
      "for (const name of Object.keys(options)) check(name);",
    ],
    innocent: [
      "const { force } = cleanOptions(options);",
      'if (typeof headers === "boolean") return headers;',
      "for (const name of Object.keys(headers)) take(name);",
    ],
  },
];

/** Lists the modules that use the means of a mechanism, and may not. */
function offending({ pattern, allowed }: Mechanism, modules: readonly Pick<Module, "path" | "code">[]): string[] {
  return modules.filter(({ path, code }) => !(path in allowed) && pattern.test(code)).map(({ path }) => path);
}

const modules = ourModules();

for (const mechanism of mechanisms) {
  const { name, pattern, instead, allowed, planted, innocent } = mechanism;

  test(`one mechanism for ${name}`, () => {
    assert.deepEqual(offending(mechanism, modules), [], `use ${instead}`);
  });

  test(`each module that is excepted from the one mechanism for ${name} needs it`, () => {
    const used = modules.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
    assert.deepEqual(Object.keys(allowed).filter((path) => !used.includes(path)), []);
  });

  test(`a second mechanism for ${name} is found`, () => {
    const sources = (codes: readonly string[]) => codes.map((code, i) => ({ path: `lib/planted/${i}.ts`, code }));
    const excepted = Object.keys(allowed).slice(0, 1).map((path) => ({ path, code: planted[0] }));
    assert.deepEqual(
      offending(mechanism, [...sources(planted), ...excepted]),
      sources(planted).map(({ path }) => path),
    );
    assert.deepEqual(offending(mechanism, sources(innocent)), []);
  });
}
