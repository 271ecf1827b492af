import { connect, type Socket } from "node:net";
import { contentOf } from "./content.ts";

/** Uploads to send, all at once. */
export interface Sending {
  readonly port: number;
  readonly uploads: number;
  /** The size of each. */
  readonly bytes: number;
}

/** The durations of an upload, in seconds. */
export interface Sent {
  /** The duration from the first connection to the last answer. */
  readonly wall: number;
  /** The mean duration from the start of an upload to its answer. */
  readonly mean: number;
  /** The 99th percentile of the uploads' durations. */
  readonly p99: number;
}

/** Sends them over a plain socket each, so that the sender costs next to nothing. Rejects if any is not accepted. */
export async function send({ port, uploads, bytes }: Sending): Promise<Sent> {
  const start = performance.now();
  const answers = Array.from({ length: uploads }, (_, index) => upload(port, index, bytes));
  const taken = (await Promise.all(answers)).sort((a, b) => a - b);
  return {
    wall: (performance.now() - start) / 1000,
    mean: taken.reduce((sum, each) => sum + each, 0) / uploads,
    p99: taken[Math.ceil(uploads * 0.99) - 1],
  };
}

/** Sends an upload, and resolves to the seconds until its response. */
function upload(port: number, index: number, bytes: number): Promise<number> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1");
    socket.setEncoding("latin1").on("data", (text) => {
      answer += text;
      if (!answer.includes("\r\n\r\n")) return;
      if (/^HTTP\/1\.1 20[014] /.test(answer)) resolve((performance.now() - start) / 1000);
      else reject(new Error(`upload ${index} was answered: ${answer.split("\r\n")[0]}`));
      socket.destroy();
    });
    socket.on("error", (cause) => reject(new Error(`upload ${index} failed: ${cause.message}`, { cause })));
    socket.on("close", () => reject(new Error(`upload ${index} got no answer`))); // no harm after the answer
    socket.write(
      `PUT /${index} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`,
    );
    writeAll(socket, contentOf(index, bytes));
  });
}

function writeAll(socket: Socket, pieces: Generator<Uint8Array>): void {
  const { value, done } = pieces.next();
  if (!done) socket.write(value, (error) => error ?? writeAll(socket, pieces));
}
