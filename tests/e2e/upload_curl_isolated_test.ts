import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { atLast } from "../support/waits.ts";
import { content } from "../upload/faults/good_uploads.ts";
import { sha256 } from "../upload/faults/upload_messages.ts";
import { type Logged, type UploadEntry, UploadProcess } from "../upload/faults/upload_process.ts";
import { type Ended, run } from "../support/processes.ts";
import { noCurl } from "./same_tree/curl.ts";

const skip = noCurl;
const LIMIT = 5_000_000;
const entries: readonly UploadEntry[] = ["node", "fetch", "http2"];
const files = { "large.bin": content, "small.txt": content.subarray(0, 1000), "empty.txt": content.subarray(0, 0) };

let folder = "";
const servers = new Map<UploadEntry, UploadProcess>();

before(async () => {
  if (skip) return;
  folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-curl-")));
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
  await writeFile(join(folder, "huge.bin"), Buffer.alloc(LIMIT + 1));
  for (const entry of entries) {
    await mkdir(join(folder, entry));
    servers.set(entry, await UploadProcess.start(join(folder, entry), entry, { maxBytes: LIMIT, digest: "sha-256" }));
  }
});

after(async () => {
  for (const server of servers.values()) await server.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** The response curl received, and its statistics of the exchange. */
interface Got {
  readonly status: number;
  readonly body: string;
  /** Bytes of the body that it sent. */
  readonly sent: number;
  /** Everything that `-v` prints. */
  readonly told: string;
}

/** Runs curl where the files are. The last word is the path to send to. */
async function curl(entry: UploadEntry, ...words: string[]): Promise<Got> {
  const { code, stdout, stderr } = await curlEnded(entry, ...words);
  assert.equal(code, 0, stderr);
  const [body, status, sent] = stdout.split("\n---\n");
  return { status: Number(status), body, sent: Number(sent), told: stderr };
}

function curlEnded(entry: UploadEntry, ...words: string[]): Promise<Ended> {
  const url = `http://127.0.0.1:${servers.get(entry)!.port}${words.pop()}`;
  const version = entry === "http2" ? ["--http2-prior-knowledge"] : [];
  const format = "\n---\n%{http_code}\n---\n%{size_upload}";
  return run("curl", ["-sSv", "--max-time", "30", ...version, "-w", format, ...words, url], folder);
}

async function assertSaved(entry: UploadEntry, name: string, bytes: Uint8Array): Promise<void> {
  assert.equal(sha256(await readFile(join(folder, entry, name))), sha256(bytes), name);
}

for (const entry of entries) {
  test(`${entry}: curl -T puts files, with their length or in chunks, fast or slow`, { skip }, async () => {
    for (const [name, bytes] of Object.entries(files)) {
      assert.equal((await curl(entry, "-T", name, `/put-${name}`)).status, 201, name);
      await assertSaved(entry, `put-${name}`, bytes);
      if (bytes.length === 0) continue; // curl never sends the end of an empty body in chunks
      const chunks = await curl(entry, "-T", name, "-H", "Transfer-Encoding: chunked", `/chunks-${name}`);
      assert.equal(chunks.status, 201, name);
      await assertSaved(entry, `chunks-${name}`, bytes);
    }
    assert.equal((await curl(entry, "-T", "large.bin", "--limit-rate", "3M", "/slow.bin")).status, 201);
    await assertSaved(entry, "slow.bin", files["large.bin"]);
  });

  test(`${entry}: curl -T - puts what comes from a pipe`, { skip }, async () => {
    const url = `http://127.0.0.1:${servers.get(entry)!.port}/piped.bin`;
    const version = entry === "http2" ? "--http2-prior-knowledge" : "--http1.1";
    const piped =
      `(head -c 1000000 large.bin; sleep 0.2; tail -c +1000001 large.bin) | curl -sS ${version} -T - ${url}`;
    const { stdout, stderr } = await run("sh", ["-c", piped], folder);
    assert.equal(stderr, "");
    assert.equal(JSON.parse(stdout).files[0].bytes, content.length);
    await assertSaved(entry, "piped.bin", content);
  });

  test(`${entry}: curl -F posts several files and fields`, { skip }, async () => {
    const words = ["-F", "title=The mill", "-F", "large=@large.bin", "--form-string", 'note=with: "quotes"; and more'];
    const typed = ["-F", "small=@small.txt;type=text/plain;filename=sm\u00e4ll.txt", "-F", "empty=@empty.txt"];
    const { status, body } = await curl(entry, ...words, ...typed, "/");
    assert.equal(status, 201, body);
    const answer = JSON.parse(body);
    assert.deepEqual(answer.fields, { title: "The mill", note: 'with: "quotes"; and more' });
    const told = answer.files.map(({ field, filename, contentType, bytes }: Record<string, unknown>) => {
      return [field, filename, contentType, bytes];
    });
    assert.deepEqual(told, [
      ["large", "large.bin", "application/octet-stream", content.length],
      ["small", "sm\u00e4ll.txt", "text/plain", 1000],
      ["empty", "empty.txt", "text/plain", 0],
    ]);
    const [large, small, empty] = answer.files as { name: string }[];
    await assertSaved(entry, large.name, files["large.bin"]);
    await assertSaved(entry, small.name, files["small.txt"]);
    await assertSaved(entry, empty.name, files["empty.txt"]);
  });

  test(`${entry}: curl --data-binary posts a file`, { skip }, async () => {
    const { status, body } = await curl(entry, "--data-binary", "@large.bin", "-H", "Content-Type: image/png", "/");
    assert.equal(status, 201, body);
    const { name, digest } = JSON.parse(body).files[0];
    assert.match(name, /\.png$/);
    assert.equal(digest, `sha-256=:${Buffer.from(sha256(content), "hex").toString("base64")}:`);
    await assertSaved(entry, name, content);
  });

  test(`${entry}: curl that waits for 100 Continue is told to go on`, { skip: skip || entry === "http2" }, async () => {
    const expect = ["-H", "Expect: 100-continue", "--expect100-timeout", "20"];
    const { status, told } = await curl(entry, "-T", "large.bin", ...expect, "/expected.bin");
    assert.equal(status, 201);
    assert.match(told, /< HTTP\/1\.1 100 Continue/);
    await assertSaved(entry, "expected.bin", content);
  });

  test(`${entry}: curl gets a 413, having waited for 100 Continue or not`, { skip }, async () => {
    for (const expect of ["Expect: 100-continue", "Expect:"]) {
      const { status, body, sent } = await curl(entry, "-T", "huge.bin", "-H", expect, "/huge.bin");
      assert.equal(status, 413);
      assert.equal(JSON.parse(body).code, "TOO_LARGE");
      if (entry === "node" && expect !== "Expect:") assert.equal(sent, 0);
    }
    assert.ok(!(await readdir(join(folder, entry))).includes("huge.bin"));
  });

  test(`${entry}: of curl that leaves half-way nothing is left`, { skip }, async () => {
    const server = servers.get(entry)!;
    await server.takeLog();
    const before = (await readdir(join(folder, entry))).sort();
    const { code } = await curlEnded(
      entry,
      "-T",
      "large.bin",
      "--limit-rate",
      "500k",
      "--max-time",
      "0.7",
      "/left.bin",
    );
    assert.equal(code, 28); // it took too long
    const log: Logged[] = [];
    await atLast(async () => log.push(...await server.takeLog()) > 0);
    assert.deepEqual(log.map(({ path, status }) => [path, status]), [["/left.bin", 499]]);
    assert.deepEqual((await readdir(join(folder, entry))).sort(), before);
  });

  test(`${entry}: nobody complains on standard error`, { skip }, () => {
    assert.equal(servers.get(entry)!.complaints, "");
  });
}
