import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { within } from "../../support/waits.ts";
import { cannotMount, onSmallDisk } from "../faults/small_disk.ts";
import { filesIn } from "./exchange_case.ts";

const MIB = 2 ** 20;
const TUS = { "Tus-Resumable": "1.0.0" };
const DATA = { ...TUS, "Content-Type": "application/offset+octet-stream" };
const PARTIAL = { "Content-Type": "application/partial-upload" };
const bytes = Buffer.alloc(3 * MIB, "0123456789abcdef-");

/** Fills a disk with a file of another program, and leaves `left` bytes. */
function fill(disk: string, left: number): string {
  const { bavail, bsize } = statfsSync(disk);
  const path = join(disk, ".other");
  writeFileSync(path, Buffer.alloc(bavail * bsize - left));
  return path;
}

for (const kind of ["tus", "draft"] as const) {
  test(
    `${kind}: an upload that fills the disk is answered with 507, keeps what came, and goes on once there is room`,
    { skip: cannotMount },
    () =>
      inFolder((folder) =>
        onSmallDisk(folder, 8, async (disk) => {
          const { fetch } = createUploadHandler({
            directory: disk,
            resumable: true,
            log: () => {},
            name: ({ filename }) => filename ?? "note",
          });
          const ask = (
            method: string,
            path: string,
            headers: Record<string, string>,
            body?: Uint8Array<ArrayBuffer>,
          ) => {
            const length: Record<string, string> = body ? { "Content-Length": String(body.length) } : {};
            const init = { method, headers: { ...length, ...headers }, ...(body && { body }) };
            return within(fetch(new Request(`http://localhost${path}`, init)), `${method} ${path}`);
          };
          const whole = bytes;
          const create = (body: Uint8Array<ArrayBuffer>): Promise<Response> =>
            kind === "tus"
              ? ask("POST", "/", { ...DATA, "Upload-Length": String(whole.length) }, body)
              : ask("PUT", "/note", { "Upload-Complete": "?0" }, body);
          const offsetOf = async (upload: string): Promise<number> => {
            const head = await ask("HEAD", upload, kind === "tus" ? TUS : {});
            assert.ok(head.ok || head.status === 507, String(head.status));
            return head.ok ? Number(head.headers.get("upload-offset")) : 1000;
          };
          const finish = async (upload: string): Promise<Response> => {
            const offset = await offsetOf(upload);
            const headers = kind === "tus" ? DATA : { ...PARTIAL, "Upload-Complete": "?1" };
            return await ask("PATCH", upload, { ...headers, "Upload-Offset": String(offset) }, whole.slice(offset));
          };
          let other = fill(disk, 0);
          const refused = await create(whole.slice(0, 1000));
          assert.equal(refused.status, 507, await refused.text());
          rmSync(other);

          const upload = (await create(whole.slice(0, 1000))).headers.get("location")!;
          assert.match(upload, /^\/[0-9a-f]{32}$/);
          other = fill(disk, MIB);
          for (const _ of [1, 2]) {
            const full = await finish(upload);
            assert.equal(full.status, 507, await full.text());
          }
          rmSync(other);
          const offset = await offsetOf(upload);
          assert.ok(offset > 1000 && offset <= 1.1 * MIB, `${offset} bytes are kept`);
          const done = await finish(upload);
          assert.ok(done.ok, await done.text());
          assert.deepEqual(Object.keys(await filesIn(disk)), ["note"]);
          assert.ok((await readFile(join(disk, "note"))).equals(bytes));
          assert.equal(
            readdirSync(join(disk, ".millrace-uploads")).length,
            1,
            "of the one that was refused nothing is left",
          );
        })
      ),
  );
}
