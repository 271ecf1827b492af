import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { runtime } from "../support/runtime.ts";

describe("withLateBuiltins()", { skip: runtime !== "node" && "it is the same on all runtimes" }, () => {
  /**
   * Returns the lines of a source in the package's folder of files, as they are built, except the import of `builtins`
   * and the map.
   */
  async function late(source: string): Promise<string[]> {
    const { withLateBuiltins } = await import("../../.ci/late_builtins.ts");
    const code = await withLateBuiltins(source, new URL("../../lib/files/odd.ts", import.meta.url).pathname);
    return code!.trim().split("\n").filter((line) => !/^import \{ builtins \}|^\/\/# /.test(line));
  }

  const cases: Readonly<Record<string, readonly [source: string, ...built: string[]]>> = {
    "calls": [
      'import { statSync } from "node:fs";\nstatSync("a");',
      '(0, builtins.fs.statSync)("a");',
    ],
    "constructors": [
      'import { Worker } from "node:worker_threads";\nnew Worker("a");',
      'new builtins.workerThreads.Worker("a");',
    ],
    "classes that others extend": [
      'import { Writable } from "node:stream";\nclass Sink extends Writable {}',
      "class Sink extends builtins.stream.Writable {\n}",
    ],
    "values, and members of values": [
      'import { constants } from "node:fs/promises";\nimport { sep } from "node:path";\na(constants.W_OK, sep, { sep });',
      "a(builtins.fsPromises.constants.W_OK, builtins.path.sep, { sep: builtins.path.sep });",
    ],
    "instanceof and typeof": [
      'import { isIP, Socket } from "node:net";\na instanceof Socket || typeof isIP;',
      "a instanceof builtins.net.Socket || typeof builtins.net.isIP;",
    ],
    "whole modules": [
      'import * as fs from "node:fs";\nimport timers from "node:timers";\nfs.openSync(a); b(fs); timers.setTimeout(c);',
      "builtins.fs.openSync(a);\nb(builtins.fs);\nbuiltins.timers.setTimeout(c);",
    ],
    "names that differ": [
      'import { lookup as systemLookup } from "node:dns";\nsystemLookup(a);',
      "(0, builtins.dns.lookup)(a);",
    ],
    "process and Buffer, which are globals": [
      'import { Buffer } from "node:buffer";\nimport process from "node:process";\nBuffer.from(process.platform);',
      "builtins.Buffer.from(builtins.process.platform);",
    ],
    "types beside values, which go": [
      'import { close, type Stats } from "node:fs";\nimport type { Socket } from "node:net";\nlet a: Stats | Socket; close(a);',
      "let a;\n(0, builtins.fs.close)(a);",
    ],
    "lists over several lines": [
      'import {\n  join,\n  relative,\n} from "node:path";\njoin(a, relative(b, c));',
      "(0, builtins.path.join)(a, (0, builtins.path.relative)(b, c));",
    ],
  };

  for (const [what, [source, ...built]] of Object.entries(cases)) {
    test(`reads ${what} from the module when they are used`, async () => {
      assert.deepEqual(await late(source), built.join("\n").split("\n"));
    });
  }

  test("leaves names alone that are declared nearer", async () => {
    const [, ...lines] = await late('import { join } from "node:path";\nconst f = (join: string) => join;\njoin(f);');
    assert.deepEqual(lines, ["(0, builtins.path.join)(f);"]);
    assert.doesNotMatch(
      (await late('import { join } from "node:path";\nconst f = (join: string) => join;'))[0],
      /builtins/,
    );
  });

  test("leaves sources alone that import none, or types only", async () => {
    const { withLateBuiltins } = await import("../../.ci/late_builtins.ts");
    for (
      const source of [
        'import { a } from "./a.ts";',
        'import type { Socket } from "node:net";',
        'await import("node:fs");',
      ]
    ) {
      assert.equal(await withLateBuiltins(source, "lib/a.ts"), undefined);
    }
  });

  test("refuses modules that lib/runtime/builtins.ts does not give, and sources with a name of its own", async () => {
    await assert.rejects(
      late('import { Session } from "node:inspector";\nSession;'),
      /node:inspector: add it to lib\/runtime/,
    );
    await assert.rejects(late('import { join } from "node:path";\nconst builtins = join;'), /has a name "builtins"/);
  });
});
