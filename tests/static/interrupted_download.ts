import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect } from "node:net";

/** The outcome of an answer that an event interrupts. */
export interface Download {
  readonly status: number;
  /** The `Content-Length`; undefined if the body was chunked. */
  readonly length: number | undefined;
  /** Out of its chunked coding. */
  readonly body: Buffer;
  /** Whether the body was complete. */
  readonly isWhole: boolean;
}

/** Requests a large file without reading, and runs a function once a part has arrived. */
export async function interrupted(
  port: number,
  target: string,
  happen: () => Promise<void>,
  fields: Readonly<Record<string, string>> = {},
): Promise<Download> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const chunks: Buffer[] = [];
  socket.on("error", () => {});
  let isFirst = true;
  const failed: unknown[] = [];
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (!isFirst) return;
    isFirst = false;
    socket.pause();
    happen().catch((error) => failed.push(error)).finally(() => socket.resume());
  });
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${lines.join("")}\r\n`);
  await once(socket, "close");
  if (failed.length > 0) throw failed[0];
  return parsed(Buffer.concat(chunks));
}

function parsed(all: Buffer): Download {
  const end = all.indexOf("\r\n\r\n");
  const head = all.toString("latin1", 0, end);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  const rest = all.subarray(end + 4);
  if (length !== undefined) {
    return { status, length: Number(length), body: rest, isWhole: rest.length === Number(length) };
  }
  return { status, length: undefined, ...outOfChunks(rest) };
}

function outOfChunks(rest: Buffer): { body: Buffer; isWhole: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0;;) {
    const line = rest.indexOf("\r\n", at);
    const size = line < 0 ? NaN : parseInt(rest.toString("latin1", at, line), 16);
    if (Number.isNaN(size)) return { body: Buffer.concat(chunks), isWhole: false };
    chunks.push(rest.subarray(line + 2, line + 2 + size));
    if (size === 0) return { body: Buffer.concat(chunks), isWhole: true };
    at = line + 2 + size + 2;
  }
}
