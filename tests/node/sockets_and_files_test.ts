import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { fromNodeReadable, fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { allOf, withTcpServer } from "./loopback.ts";
import { until, within } from "../support/waits.ts";
import { needs } from "../support/needs.ts";

function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-node-"));
  return use(folder).finally(() => rmSync(folder, { recursive: true }));
}

const pattern = Uint8Array.from({ length: 3_000_000 }, (_, i) => i % 251);

describe("streams over sockets of node:net", () => {
  it("carry bytes there and back, whole and in order, and end one side after the other", async () => {
    await withTcpServer((socket) => {
      fromNodeReadable(socket).pipeTo(fromNodeWritable(socket)).catch(assert.fail);
    }, async (port) => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      const echoed = allOf(fromNodeReadable(socket));
      const chunks = Array.from({ length: 300 }, (_, i) => pattern.subarray(i * 10_000, (i + 1) * 10_000));
      await ReadableStream.from(chunks).pipeTo(fromNodeWritable(socket));
      assert.deepEqual(await echoed, Buffer.from(pattern));
    });
  });

  it("reject a pipe and cancel its source when the other side resets the connection", async () => {
    await withTcpServer((socket) => {
      socket.once("data", () => socket.resetAndDestroy());
    }, async (port) => {
      const socket = connect({ port, host: "127.0.0.1" });
      await once(socket, "connect");
      let reason: unknown;
      const source = new ReadableStream<Uint8Array>({
        async pull(controller): Promise<void> {
          await new Promise((resolve) => setImmediate(resolve));
          controller.enqueue(new Uint8Array(1000));
        },
        cancel: (error) => void (reason = error),
      });
      await assert.rejects(source.pipeTo(fromNodeWritable(socket)), (error) => error === reason);
      assert.ok(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"].includes((reason as { code: string }).code));
    });
  });

  it("hold the source back while the other side reads nothing", async () => {
    await withTcpServer((socket) => void socket.pause(), async (port) => {
      const socket = connect({ port, host: "127.0.0.1" });
      let given = 0;
      const source = new ReadableStream<Uint8Array>({
        pull(controller): void {
          given += 10_000;
          controller.enqueue(new Uint8Array(10_000));
        },
      });
      const piped = source.pipeTo(fromNodeWritable(socket));
      for (let before = -1; given !== before;) {
        before = given;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.ok(socket.writableLength <= 80_000, `${socket.writableLength} bytes wait in the socket`);
      socket.destroy();
      await assert.rejects(piped, { code: "ERR_STREAM_PREMATURE_CLOSE" });
    });
  });
});

describe("streams over files of node:fs", () => {
  it("copy a file", async () => {
    await inFolder(async (folder) => {
      writeFileSync(join(folder, "from"), pattern);
      const from = fromNodeReadable(createReadStream(join(folder, "from")));
      await within(from.pipeTo(fromNodeWritable(createWriteStream(join(folder, "to")))), "the copy");
      assert.deepEqual(readFileSync(join(folder, "to")), Buffer.from(pattern));
    });
  });

  it("write what small chunks come in one turn by one write", async () => {
    await inFolder(async (folder) => {
      const file = createWriteStream(join(folder, "file"));
      await ReadableStream.from(Array<string>(1000).fill("line\n")).pipeTo(fromNodeWritable<string>(file));
      assert.equal(readFileSync(join(folder, "file"), "utf8"), "line\n".repeat(1000));
    });
  });

  it("fail with the system's error if a file cannot be opened", async () => {
    const missing = join(tmpdir(), "millrace-no-such-folder", "file");
    const piped = ReadableStream.from(["a"]).pipeTo(fromNodeWritable(createWriteStream(missing)));
    await assert.rejects(within(piped, "the pipe"), { code: "ENOENT" });
    await assert.rejects(within(fromNodeReadable(createReadStream(missing)).getReader().read(), "the read"), {
      code: "ENOENT",
    });
  });

  const skip = needs("proc");
  it("reject the writes that found no room", { skip }, async () => {
    const writer = fromNodeWritable<string>(createWriteStream("/dev/full")).getWriter();
    const writes = [writer.write("a"), writer.write("b"), writer.closed];
    for (const write of writes) await assert.rejects(within(write, "the write"), { code: "ENOSPC" });
  });

  it("close the file of a stream that is cancelled or aborted", async () => {
    await inFolder(async (folder) => {
      writeFileSync(join(folder, "from"), pattern);
      const from = createReadStream(join(folder, "from"));
      const reader = fromNodeReadable(from).getReader();
      await reader.read();
      await reader.cancel();
      const to = createWriteStream(join(folder, "to"));
      await once(to, "open");
      await fromNodeWritable(to).abort();
      await until(() => from.closed && to.closed, "closing");
    });
  });
});

describe("fromNodeWritable() of process.stdout and process.stderr", () => {
  it("leaves them open when it closes or is aborted", () => {
    const script = fileURLToPath(new URL("./standard_output.ts", import.meta.url));
    const options = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
    const { stdout, stderr, status } = spawnSync(process.execPath, [...options, script], {
      encoding: "utf8",
      timeout: 30_000,
    });
    assert.deepEqual({ stdout, stderr, status }, {
      stdout: "0123456789first\nsecond\nlisteners: 0\n",
      stderr: "third\nfourth\n",
      status: 0,
    });
  });

  for (const way of ["pipe", "pipe, stay open", "from a readable", "writer", "abort"]) {
    it(`tells by its promises that the reader has left, and nothing else (${way})`, async () => {
      const script = fileURLToPath(new URL("./left_output.ts", import.meta.url));
      const options = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
      const child = spawn(process.execPath, [...options, script, way], { stdio: ["ignore", "pipe", "pipe"] });
      let told = "";
      child.stderr.setEncoding("utf8").on("data", (text) => {
        told += text;
        if (told.includes("stuck")) child.stdout.destroy();
      });
      if (way !== "abort") child.stdout.once("data", () => child.stdout.destroy()); // as `head` does
      else if ("Deno" in globalThis) setTimeout(() => child.stdout.destroy(), 1000); // whose writes to a full pipe block
      const [code] = await within(once(child, "close"), "the end of the process");
      assert.deepEqual([told.replace("stuck\n", ""), code], ["caught EPIPE\n", 7]);
    });
  }
});
