import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryPath } from "../../lib/files/mod.ts";
import { faceOf } from "../support/built_faces.ts";
import { type Ended, run } from "../support/processes.ts";
import { root } from "../support/runtime.ts";
import { inFolder } from "../support/folders.ts";

const elsewhere = "deno" in process.versions ? false : "permissions of this kind are Deno's";
/** The configuration of the project, outside of which the program is. */
const config = ["--config", join(root, "deno.json")];
const source = fileURLToPath(new URL("permitted_operations.ts", import.meta.url));

/** Writes the program into a folder, with the faces of the build, which load in a fifth of the time; returns its path. */
async function programIn(folder: string): Promise<string> {
  const text = (await readFile(source, "utf8")).replace(
    /"\.\.\/\.\.\/lib\/(\w+)\/mod\.ts"/g,
    (_, part) =>
      JSON.stringify(part === "runtime" ? new URL("../../lib/runtime/mod.ts", import.meta.url) : faceOf(part)),
  );
  const program = join(folder, "permitted_operations.ts");
  await writeFile(program, text);
  return program;
}

interface Granted {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
}

/**
 * Returns an operation by a process that was granted no more than these paths: how it ended, and all that it asked for.
 */
async function permitted(
  program: string,
  words: readonly string[],
  { read = [], write = [] }: Granted,
  audit: string,
): Promise<Ended & { asked: string[] }> {
  const flags = [
    ...read.map((path) => `--allow-read=${path}`),
    ...write.map((path) => `--allow-write=${path}`),
  ];
  const args = ["run", ...config, "--no-check", "--no-prompt", "--quiet", ...flags, program, ...words];
  const ended = await run(process.execPath, args, root, { DENO_AUDIT_PERMISSIONS: audit, DENO_TRACE_PERMISSIONS: "1" });
  const lines = (await readFile(audit, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const asked = lines.map((line) => {
    const { permission, value } = JSON.parse(line) as { permission: string; value?: string };
    return `${permission} ${value ?? ""}`;
  });
  return { ...ended, asked };
}

/**
 * Creates in a folder a `file` with "text", a `link` to it, an `empty` folder, and an ended process's temporary file.
 */
async function fill(folder: string): Promise<void> {
  await writeFile(join(folder, "file"), "text");
  await chmod(join(folder, "file"), 0o600);
  await symlink("file", join(folder, "link"));
  await mkdir(join(folder, "empty"));
  await writeFile(temporaryPath(join(folder, "file")).replace(`.${process.pid}-`, `.${spawnSync("true").pid}-`), "");
}

const cases: readonly (readonly [operation: string, path: string, granted: "file" | "folder", result: string])[] = [
  ["openFileReadable", "file", "file", "text"],
  ["openFileWritable", "file", "file", "written"],
  ["openFileWritable", "new", "file", "written"],
  ["openFileWritable atomic", "file", "folder", "written"],
  ["openFileWritable atomic", "new", "folder", "written"],
  ["openFileWritable atomic", "link", "folder", "written"],
  ["AtomicFile", "file", "folder", "committed"],
  ["AtomicFile", "new", "folder", "committed"],
  ["AtomicFile", "link", "folder", "committed"],
  ["AtomicFile with a mode", "file", "folder", "committed"],
  ["AtomicFile without replace", "new", "folder", "committed"],
  ["copyFileAtomic", "file", "folder", "copied"],
  ["copyFileAtomic", "new", "folder", "copied"],
  ["RotatingFileWritable", "empty", "file", "written"],
  ["RotatingFileWritable", "missing", "file", "written"],
  ["RotatingFileWritable atomic", "missing", "file", "written"],
  ["NumberFileWriter", "missing", "file", "written"],
  ["removeAbandonedTemporaries", "", "folder", "0"], // a process of another system cannot be checked
  ["isAbandonedTemporary", "file", "file", "false"],
  ["temporaryPath", "file", "file", "true"],
  ["precompress()", "", "folder", "0"],
  ["precompress() with out", "empty", "folder", "0"],
  ["createStaticHandler()", "", "folder", "200"],
  ["saveBody()", "file", "folder", "1"],
  ["saveBody()", "new", "folder", "1"],
];

/** The modules of the workers of precompress(), which Deno reads as it would any other file. */
const modules = [join(root, "lib"), join(root, "node_modules")];

for (const [operation, name, grants, result] of cases) {
  test(`${operation} of ${name || "a folder"} asks for nothing but the ${grants} that was named`, {
    skip: elsewhere,
  }, () =>
    inFolder((audits) =>
      inFolder(async (folder) => {
        await fill(folder);
        const path = join(folder, name);
        const granted = grants === "file" ? path : folder;
        const readsOnly = operation === "openFileReadable" || operation === "isAbandonedTemporary";
        const writesOnly = operation === "openFileWritable";
        const { code, stdout, stderr, asked } = await permitted(await programIn(audits), [
          operation,
          path,
          join(folder, "file"),
        ], {
          read: writesOnly ? [] : operation.startsWith("precompress()") ? [granted, ...modules] : [granted],
          write: readsOnly ? [] : [granted],
        }, join(audits, "audit"));
        assert.deepEqual({ code, stdout }, { code: 0, stdout: `${result}\n` }, stderr);
        const beyond = asked.filter((line) =>
          !/^(read|write) /.test(line) ||
          !(line.includes(` ${granted}`) || modules.some((folder) => line.startsWith(`read ${folder}`)))
        );
        assert.deepEqual(beyond, []);
        assert.equal(
          asked.length > 0,
          !["isAbandonedTemporary", "temporaryPath"].includes(operation),
          "it was audited",
        );
      })
    ));
}

test(
  "a process that may not ask which others run takes none for dead",
  { skip: elsewhere },
  () =>
    inFolder(async (audits) => {
      // Deno grants everything to a process of its own that is started without any permission.
      const granted = { read: [audits] };
      const audit = join(audits, "audit");
      const program = await programIn(audits);
      const { stdout, stderr, asked } = await permitted(program, ["isProcessAlive", `${process.pid}`], granted, audit);
      assert.equal(stdout, "undefined\n", stderr);
      assert.deepEqual(asked, []);
      for (const [id, isAlive] of [[process.pid, true], [spawnSync("true").pid, false]]) {
        const args = ["run", ...config, "-A", "--no-check", program, "isProcessAlive", `${id}`];
        assert.equal((await run(process.execPath, args, root)).stdout, `${isAlive}\n`);
      }
    }),
);
