/** The programs of `lib/running.md`, each on its runtime: stopped in the middle of traffic, they lose nothing. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { asks } from "../support/asked.ts";
import { noise } from "../support/bytes.ts";
import { root, runtime } from "../support/runtime.ts";
import { until, within } from "../support/waits.ts";
import { makeProject, readBlocks, startPeerServer } from "./blocks.ts";
import { withStandIns } from "./stand_ins.ts";
import { environment, leadingArguments, makeWorkFolder, writeModule } from "./work_folder.ts";

/** Errors of connections that a server did not accept any more. */
const NOT_ACCEPTED = /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|reset|refused/;

test("a server that gets SIGTERM sends every response whole, stores uploads under way, and has a line of each", async () => {
  const [block, ...others] = readBlocks(["lib/running.md"], root).filter(({ runtimes }) => runtimes.includes(runtime));
  assert.deepEqual(others, []);
  const [project, peer] = await Promise.all([makeProject(root), startPeerServer()]);
  const options = { runtime, executable: process.execPath, project: project.folder, origin: peer.origin };
  const folder = await makeWorkFolder("running", options);
  const module = writeModule(join(folder.path, "server"), "ts", withStandIns(block.code, folder.standIns), runtime);
  const env = { ...environment(options, folder), DENO_SERVE_ADDRESS: undefined, DRAIN_MS: "100" };
  const args = [...leadingArguments[runtime], module];
  const server = spawn(process.execPath, args, { cwd: folder.path, env, stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(server, "exit");
  try {
    const port = folder.standIns.ports["8080"];
    const origin = `http://127.0.0.1:${port}`;
    const ask = asks(origin);
    /** The requests that got a response, as lines of the log. */
    const answered: string[] = [];
    const get = async (path: string): Promise<number> => {
      const { status, body } = await ask("GET", path);
      answered.push(`GET ${path} ${status}`);
      if (path === "/") assert.match(body.toString(), /<\/html>\s*$/);
      return status;
    };
    await until(() => get("/ready").then((status) => status === 200, () => false), "the server");
    assert.equal(await get("/other"), 200);
    const second = spawn(process.execPath, args, { cwd: folder.path, env, stdio: ["ignore", "inherit", "pipe"] });
    const refused = Promise.all([text(second.stderr), once(second, "exit")]);
    const prices = await subscribe(origin);
    const upload = await Upload.start(port, noise(400_000));

    const traffic = Array.from({ length: 4 }, async (_, i) => {
      try {
        while (await get("/ready") === 200) assert.equal(await get(i % 2 === 0 ? "/" : "/other"), 200);
      } catch (error) {
        assert.match(String(error) + (error as { code?: string }).code, NOT_ACCEPTED);
      }
    });
    await until(() => answered.length > 20, "traffic");
    const leaving = Array.from({ length: 10 }, async (_, sender) => {
      for (let i = 0; i < 10; i++) await leaveRefused(port, sender * 5);
    });
    await within(Promise.all(leaving), "senders that leave");
    const [reason, [status]] = await within(refused, "the end of a second server");
    assert.match(reason, /writes the series access\.log/);
    assert.doesNotMatch(reason, /EADDRINUSE|AddrInUse/); // it never listened
    assert.equal(status, 1);
    process.kill(server.pid!, "SIGTERM"); // after its own kill() Deno reports this signal as the end
    await within(Promise.all(traffic), "the end of the traffic");
    await until(() => ask("GET", "/ready").then(() => false, () => true), "the end of listening");
    await within(prices.ended, "the end of the events");
    assert.match(await upload.finish(), /^HTTP\/1\.1 201 /);
    answered.push("GET /prices 200", "PUT /films/slow.bin 201");
    assert.deepEqual(await within(ended, "the end of the process"), [0, null]);

    const stored = await readFile(join(folder.path, "uploads/slow.bin"));
    assert.ok(stored.equals(upload.bytes));
    const lines = (await readFile(join(folder.path, "logs/access-00001.log"), "utf8")).split("\n");
    const missing = answered.filter((line) => {
      const at = lines.indexOf(line);
      if (at >= 0) lines.splice(at, 1);
      return at < 0;
    });
    assert.deepEqual(missing, []);
  } finally {
    server.kill("SIGKILL");
    await ended;
    folder.remove();
    project.remove();
    await peer.close();
  }
});

/** Subscribes to events and waits for the first; `ended` rejects, if they are cut. */
async function subscribe(origin: string): Promise<{ readonly ended: Promise<void> }> {
  const asked = request(`${origin}/prices`, { agent: false }).end();
  const [response] = await within(once(asked, "response"), "the events");
  await within(once(response, "data"), "an event");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  response.on("end", resolve).on("error", reject).resume();
  promise.catch(() => {});
  return { ended: promise };
}

/** Sends a form that is refused, and resets the connection some ms after the answer, in the middle of the body. */
async function leaveRefused(port: number, later: number): Promise<void> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.once("data", () => setTimeout(() => socket.resetAndDestroy(), later));
  const type = "content-type: multipart/form-data; boundary=b";
  socket.write(`POST /films/ HTTP/1.1\r\nhost: a\r\n${type}\r\ncontent-length: 100000\r\n\r\n--b\r\na: `);
  socket.write(new Uint8Array(30_000)); // more than a header of a part may have
  await closed;
}

/** An upload whose sender takes its time. */
class Upload {
  readonly bytes: Uint8Array;
  readonly #socket: ReturnType<typeof connect>;
  #answer = "";

  private constructor(port: number, bytes: Uint8Array) {
    this.bytes = bytes;
    this.#socket = connect(port, "127.0.0.1").setEncoding("latin1");
    this.#socket.on("data", (text: string) => this.#answer += text);
  }

  /** Sends the first half. */
  static async start(port: number, bytes: Uint8Array): Promise<Upload> {
    const upload = new Upload(port, bytes);
    await once(upload.#socket, "connect");
    const head = `PUT /films/slow.bin HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    await upload.#send(Buffer.from(head, "latin1"));
    await upload.#send(bytes.subarray(0, bytes.length / 2));
    return upload;
  }

  /** Sends the rest and returns the answer. */
  async finish(): Promise<string> {
    await this.#send(this.bytes.subarray(this.bytes.length / 2));
    await until(() => this.#answer.includes("\r\n\r\n"), "the upload's answer");
    this.#socket.destroy();
    return this.#answer;
  }

  #send(bytes: Uint8Array): Promise<void> {
    return new Promise((sent, failed) => this.#socket.write(bytes, (error) => error ? failed(error) : sent()));
  }
}
