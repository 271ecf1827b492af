import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { noise } from "../../support/bytes.ts";
import { root, runtime } from "../../support/runtime.ts";
import { inFolder } from "../../support/folders.ts";
import { BOUNDARY, TYPE } from "./forms.ts";
import { isLong } from "../../support/long_run.ts";
import { needs } from "../../support/needs.ts";

const MEBIBYTE = 2 ** 20;
const skip = needs("proc");
const chunk = noise(MEBIBYTE, 9);

const head = (name: string, filename?: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${
    filename ? `; filename="${filename}"` : ""
  }\r\n\r\n`;

/** The size of the large file in MiB: many times the server's allowed growth. */
const LARGE = isLong ? 2048 : 256;

/** Sends a form with 500 texts, 500 files and one large file; returns the answer. */
async function sendForm(port: number, mebibytes: number): Promise<string> {
  const small = Array.from({ length: 500 }, (_, i) => `${head(`t${i}`)}text ${i}\r\n${head("f", `${i}`)}file ${i}\r\n`);
  const first = Buffer.from(small.join("") + head("big", "big"));
  const last = `\r\n--${BOUNDARY}--\r\n`;
  const length = first.length + mebibytes * MEBIBYTE + last.length;
  const socket = connect(port, "127.0.0.1");
  const answer = allOf(socket);
  socket.write(
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${TYPE}\r\nContent-Length: ${length}\r\n\r\n`,
  );
  socket.write(first);
  for (let sent = 0; sent < mebibytes; sent++) {
    if (!socket.write(chunk)) await Promise.race([once(socket, "drain"), answer]);
    if (socket.destroyed) break;
  }
  if (!socket.destroyed) socket.write(last);
  return await answer;
}

async function allOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const data of socket) text += data;
  return text;
}

/** Returns the peak memory of the process, in MiB. */
function peakOf({ pid }: ChildProcess): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

test(
  `a server that receives a form of 1,001 parts, one of them of ${LARGE} MiB, grows by less than 64 MiB`,
  { skip },
  () =>
    inFolder(async (folder) => {
      const script = fileURLToPath(new URL("serving_forms.ts", import.meta.url));
      const args = [...(runtime === "deno" ? ["run", "-A", "--no-check"] : []), script, folder];
      const server = spawn(process.execPath, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
      try {
        const [port] = await once(server.stdout!, "data");
        assert.match(await sendForm(Number(port), 1), /500 fields, 501 files, 1052466 bytes/);
        const before = peakOf(server);
        assert.match(
          await sendForm(Number(port), LARGE),
          new RegExp(`500 fields, 501 files, ${LARGE * MEBIBYTE + 3890} bytes`),
        );
        const grown = peakOf(server) - before;
        assert.ok(grown < 64, `it grew from ${before} MiB by ${grown} MiB`);
        assert.equal((await readdir(folder)).length, 1002);
      } finally {
        server.stdin!.end();
        await once(server, "close");
      }
    }),
);
