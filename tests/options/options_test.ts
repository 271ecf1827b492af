import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Member } from "../../lib/streams/internal.ts";
import { inFolder } from "../support/folders.ts";
import type { Taker } from "./taker.ts";

const folder = join(dirname(fileURLToPath(import.meta.url)), "takers");
const takers: Taker[] = [];
for (const name of readdirSync(folder).sort()) {
  const { takers: these } = await import(pathToFileURL(join(folder, name)).href) as { takers: readonly Taker[] };
  takers.push(...these);
}

/** Values that programs without types pass by mistake. */
const mistakes: readonly unknown[] = [null, NaN, -1, 0.5, "5", "false", "", [], [7], {}, 7, true, Symbol.iterator, 1n];

function accepts(member: Member<unknown>, value: unknown): boolean {
  try {
    member.check(value, "it");
    return true;
  } catch {
    return false;
  }
}

/** Wraps any return value so that `await using` closes it. */
function disposable(made: unknown): AsyncDisposable {
  const { getWriter, getReader, destroy, close } = (made ?? {}) as Record<string, unknown>;
  return {
    async [Symbol.asyncDispose]() {
      if (typeof getWriter === "function") await (made as WritableStream).abort();
      else if (typeof getReader === "function") await (made as ReadableStream).cancel();
      else if (typeof destroy === "function") (made as { destroy(): void }).destroy();
      else if (typeof close === "function") await (made as { close(): unknown }).close();
      else await (made as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.();
    },
  };
}

for (const { schema: { owner, members }, take, ignoresUnknown, unchecked = [] } of takers) {
  const refuses = async (options: unknown, name: string): Promise<void> => {
    await inFolder(async (empty) => {
      await assert.rejects(async () => await take(options as Record<string, unknown>, empty), (error) => {
        assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
        assert.ok(error.message.includes(name), `${error.message} names ${name}`);
        return true;
      });
    });
  };

  test(
    `${owner} refuses an unknown option, and suggests the name that was meant`,
    { skip: ignoresUnknown },
    async () => {
      await refuses({ noSuchOption: 1 }, "noSuchOption");
      for (const name of Object.keys(members)) {
        if (name.length > 4) {
          await refuses({ [`${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}x`]: 1 }, name.slice(0, -2));
        }
      }
    },
  );

  test(`${owner} reads each of its options once`, async () => {
    const names = [...Object.keys(members), ...unchecked];
    // Undefined, and its default: what is read behind the schema may depend on the value.
    for (const valueOf of [() => undefined, (name: string) => members[name]?.fallback]) {
      const reads = Object.fromEntries(names.map((name) => [name, 0]));
      const options = {};
      for (const name of names) {
        const get = (): unknown => (reads[name]++, valueOf(name));
        Object.defineProperty(options, name, { enumerable: true, configurable: true, get });
      }
      await inFolder(async (empty) => {
        try {
          await using _made = disposable(await take(options, empty));
        } catch {
          // The call needs another option, or a server that is not there: it has read its options.
        }
      });
      assert.deepEqual(Object.entries(reads).filter(([, times]) => times !== 1), []);
    }
  });

  test(`${owner} refuses values of another type than its options have, by their names`, async () => {
    for (const [name, member] of Object.entries(members)) {
      for (const value of [null, NaN, Promise.resolve()]) {
        assert.ok(!accepts(member, value), `${name} takes ${String(value)}`);
      }
      if (accepts(member, true) && accepts(member, false)) {
        assert.ok(!accepts(member, "false"), `${name} takes "false"`);
      }
      if ([1, 5, 16, 256, 1024, 65_536].some((number) => accepts(member, number))) {
        assert.ok(!accepts(member, "5"), `${name} takes "5"`);
      }
      for (const value of mistakes) if (!accepts(member, value)) await refuses({ [name]: value }, name);
    }
  });
}
