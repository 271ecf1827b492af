/**
 * One test file in this process: `child.ts ROOT FILE MODE SECONDS`.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runScripts } from "./harness.ts";
import { enter, type Mode } from "./mode.ts";
import { scriptsOf } from "./test_file.ts";

const [root, file, mode, seconds] = process.argv.slice(2) as [string, string, Mode, string];
await enter(mode);
prepareGlobals();
runScripts(scriptsOf(root, file), Number(seconds));

/** What a worker's global scope has and the harness or a test looks for. */
function prepareGlobals(): void {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(force: boolean): void } };
  Object.assign(globalThis, {
    self: globalThis,
    META_TITLE: file,
    Window: Object, // idlharness.js wants to know which interfaces this scope should have: a window has all of these
    GLOBAL: { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false },
    fetch: (path: string) => Promise.resolve(new Response(readFileSync(join(root, path)))),
    gc: gc ?? (() => Bun?.gc(true)),
  });
}
