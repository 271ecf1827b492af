/**
 * Uploads to a handler in this process, which kills itself ahead of the file system's call of a number:
 *
 *   node killing_client.ts FOLDER FLOW NUMBER
 *
 * FOLDER/client.json has the client's state, from which the next process continues; FOLDER/told has a line
 * for each file that `onComplete()` was called with. Prints how many calls there were.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import process from "node:process";

type Call = (...args: unknown[]) => unknown;

const [, , folder = "", flow = "", number = ""] = process.argv;
const uploads = join(folder, "uploads");
const { appendFileSync, existsSync, readFileSync, writeFileSync } = fs;
let calls = 0;
/** Modules are read too. */
let isReady = false;

/** Counts the calls of a function that are about the folder for uploads. */
function count(target: Record<string, unknown>, name: string): void {
  const call = target[name] as Call;
  target[name] = (...args: unknown[]): unknown => {
    if (isReady && args.some((arg) => typeof arg === "number" || String(arg).startsWith(uploads))) {
      if (++calls === Number(number)) process.kill(process.pid, "SIGKILL");
    }
    return call(...args);
  };
}

const names =
  "mkdirSync writeFileSync renameSync unlinkSync rmdirSync linkSync truncateSync openSync writeSync closeSync";
for (const name of names.split(" ")) count(fs as unknown as Record<string, unknown>, name);
for (const name of ["link", "rename", "unlink", "open"]) count(fs.promises as unknown as Record<string, unknown>, name);
for (const name of ["write", "writev", "open", "close"]) count(fs as unknown as Record<string, unknown>, name);
syncBuiltinESMExports();

const { createUploadHandler } = await import("../../../lib/upload/mod.ts");
isReady = true;
const handler = createUploadHandler({
  directory: uploads,
  resumable: true,
  log: () => {},
  name: ({ filename, path }) => filename ?? path,
  onComplete: ({ name }) => appendFileSync(join(folder, "told"), `${name}\n`),
});

const isTus = flow === "tus";
const body = "hello world";

function ask(method: string, path: string, headers: Record<string, string>, text?: string): Promise<Response> {
  const length: Record<string, string> = text === undefined ? {} : { "content-length": String(text.length) };
  const init = { method, headers: { ...length, ...headers }, ...(text !== undefined && { body: text }) };
  return handler.fetch(new Request(`http://localhost${path}`, init));
}

async function create(): Promise<Response> {
  if (isTus) {
    const metadata = `filename ${btoa("note")}`;
    const headers = { "tus-resumable": "1.0.0", "upload-length": String(body.length), "upload-metadata": metadata };
    return await ask("POST", "/", headers, "");
  }
  return await ask("PUT", "/note", { "content-type": "text/plain", "upload-complete": "?0" }, "");
}

async function append(upload: string, offset: number): Promise<Response> {
  const end = offset < 5 ? 5 : body.length;
  const text = body.slice(offset, end);
  const headers: Record<string, string> = isTus
    ? { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream" }
    : { "content-type": "application/partial-upload", "upload-complete": end === body.length ? "?1" : "?0" };
  return await ask("PATCH", upload, { ...headers, "upload-offset": String(offset) }, text);
}

const known = join(folder, "client.json");
let upload = existsSync(known) ? JSON.parse(readFileSync(known, "utf8")) as string : undefined;
if (upload === undefined) {
  const created = await create();
  if (created.status !== 201) throw new Error(`creation: ${created.status} ${await created.text()}`);
  upload = created.headers.get("location")!;
  writeFileSync(known, JSON.stringify(upload));
}
for (;;) {
  const head = await ask("HEAD", upload, isTus ? { "tus-resumable": "1.0.0" } : {});
  if (head.status >= 300) throw new Error(`HEAD: ${head.status}`);
  const offset = Number(head.headers.get("upload-offset"));
  if (isTus ? offset === body.length : head.headers.get("upload-complete") === "?1") break;
  const appended = await append(upload, offset);
  if (appended.status >= 300) throw new Error(`PATCH at ${offset}: ${appended.status} ${await appended.text()}`);
}
console.log(calls);
process.exit(); // timers of locks do not matter
