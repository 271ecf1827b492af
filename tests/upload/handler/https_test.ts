import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { serve } from "../../../lib/runtime/mod.ts";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { canMakeCertificates, makeCertificate } from "../../support/certificate.ts";
import { contentsOf, inUploads } from "./serving_handler.ts";

const MIB = 1024 * 1024;
const run = promisify(execFile);
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
const skip = !hasCurl ? "there is no curl" : !canMakeCertificates && "no certificate can be made";

/** Uploads a file by curl, and returns the status and the code of the response. */
async function upload(url: string, file: string, answer: string, ...more: string[]): Promise<string> {
  const args = ["-sS", "-k", "-T", file, "-o", answer, "-w", "%{http_code}", ...more, url];
  const { stdout } = await run("curl", args, { timeout: 60_000 });
  return `${stdout} ${JSON.parse(await readFile(answer, "utf8")).code}`;
}

// On Deno curl speaks HTTP/2 then.
test(
  "https: curl has its answer, and not an error, when an upload is refused while it sends",
  { skip },
  () =>
    inUploads(async (folder) => {
      const directory = join(folder, "uploads");
      const large = join(folder, "large");
      const small = join(folder, "small");
      await writeFile(large, new Uint8Array(30 * MIB));
      await writeFile(small, "hello");
      const { fetch, node } = createUploadHandler({ directory, maxBytes: 2 * MIB, log: () => {} });
      const server = await serve({ fetch, node, hostname: "127.0.0.1", port: 0, tls: makeCertificate(folder) });
      const answer = join(folder, "answer");
      try {
        const url = `${server.url}note`;
        assert.equal(await upload(url, large, answer), "413 TOO_LARGE");
        assert.equal(await upload(url, large, answer, "-H", "Expect:"), "413 TOO_LARGE");
        assert.equal(await upload(url, small, answer), "201 undefined");
        assert.equal(await upload(url, small, answer), "409 EXISTS");
        assert.equal(await upload(`${url}-2`, large, answer, "-H", "Transfer-Encoding: chunked"), "413 TOO_LARGE");
        assert.deepEqual(await contentsOf(directory), { note: "hello" });
      } finally {
        await server.stop(0);
      }
    }),
);
