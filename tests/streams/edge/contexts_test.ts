import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../../support/runtime.ts";
import { contextsOf, mixes, NATIVE, ways } from "./contexts.ts";

/** Whether a callback may run in a context in which the runtime's own streams do not call it. */
function isAllowed(callback: string, way: string): boolean {
  const [, name, context] = /^(.*) of (.*)$/.exec(callback)!;
  // This package's pipes do all in the context that they were made in, where Node's and Bun's stray.
  if (context === "pipe") return true;
  if (context === "reader") return way.startsWith("a pipe") && ["write", "close", "abort"].includes(name!);
  // Node's transform streams run in the reader's context, the standard's in that of the write.
  return callback === "transform of maker" && runtime === "node";
}

for (const [mix, classes] of Object.entries(mixes)) {
  if (classes === NATIVE) continue;
  test(`the callbacks of a source, a transform and a sink that are ${mix} run in the contexts of the runtime's own`, async () => {
    const strayed: string[] = [];
    await Promise.all(ways.map(async (way) => {
      const expected = await contextsOf(NATIVE, way);
      for (const callback of await contextsOf(classes, way)) {
        if (!expected.includes(callback) && !isAllowed(callback, way)) strayed.push(`${way}: ${callback}`);
      }
    }));
    assert.deepEqual(strayed, []);
  });
}
