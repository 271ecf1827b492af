import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { checkedRecord } from "../../../lib/precompress/manifest.ts";
import { manifestName, readManifest } from "../../../lib/precompress/mod.ts";
import { readManifestLines } from "../../../lib/static/scan/manifest_records.ts";
import { TurnSlicer } from "../../../lib/timers/mod.ts";
import { ending, type Target } from "../target.ts";

let folder = "";

/** Returns the path of the manifest, which is removed with the process. */
function place(): string {
  if (folder === "") {
    folder = mkdtempSync(join(tmpdir(), "millrace-fuzz-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  }
  return folder;
}

const sha256 = "ab".repeat(32);
const variants = {
  brotli: { state: "kept", settings: "11", size: 5, sha256 },
  gzip: { state: "unworthy", settings: "9" },
};
const record = { size: 12, sha256, variants };

/** The text of a manifest. */
export const manifest: Target = {
  name: "manifest",
  what: "manifests: what is read line by line is what JSON.parse reads, and what is none is refused in plain words",
  maxSize: 3000,
  tokens: [
    ...'{|}|\n|,\n|}}\n|"|\\"|\\u0000|": |null|[]|"files"|"version": 1|"copied": true|..|/|\\\\|1e999|__proto__'.split(
      "|",
    ),
    '"b": {"size": 1}',
  ],

  seeds(): Uint8Array[] {
    const line = (path: string): string => `${JSON.stringify(path)}: ${JSON.stringify(record)}`;
    const texts = [
      '{"version": 1, "copied": false, "files": {}}\n',
      `{"version": 1, "copied": true, "files": {\n${line("a.js")}\n}}\n`,
      `{"version": 1, "copied": false, "files": {\n${["a.js", 'b "q".js', "ü/c\\d.css"].map(line).join(",\n")}\n}}\n`,
      JSON.stringify({ version: 1, copied: true, files: { "a.js": record } }, null, 2),
    ];
    return texts.map((each) => new TextEncoder().encode(each));
  },

  async check(input): Promise<string> {
    const path = join(place(), manifestName);
    writeFileSync(path, input);
    const byLines = new Map<string, unknown>();
    const isRead = await readManifestLines(path, (file, found) => void byLines.set(file, found), new TurnSlicer());
    let whole: Awaited<ReturnType<typeof readManifest>>;
    try {
      whole = await readManifest(place());
    } catch (error) {
      assert.ok(error instanceof TypeError, `not a TypeError: ${error}`);
      assert.match(error.message, /is not a manifest/);
      // Only paths that leave the folder are refused as a whole: line by line they are of no file.
      const leaves = [...byLines.keys()].some((file) => file === "" || file.startsWith("/") || file.includes(".."));
      assert.ok(!isRead || leaves, "read line by line, but refused as a whole");
      return `${isRead} ${ending(error).replace(/.*is not/, "is not")}`;
    }
    if (isRead) {
      // As JSON has it: __proto__ is a name like others.
      const checked = [...byLines].map(([file, record]) => [file, checkedRecord(record)]).filter(([, record]) =>
        record
      );
      assert.deepEqual(Object.fromEntries(checked), { ...whole!.files }, "other records line by line");
    }
    return `${isRead} ${Math.min(3, Object.keys(whole!.files).length)}`;
  },
};
