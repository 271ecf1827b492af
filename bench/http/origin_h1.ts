import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { bodyPiece, fieldsOf } from "./answer.ts";
import type { OriginOptions, Traffic } from "./origin_options.ts";
import { RequestSkipper } from "./request_skipper.ts";

let ready:
  | { readonly second: number; readonly bytes: number; readonly head: Buffer; readonly whole: Buffer }
  | undefined;

/** Head and, if it is small, body of an answer; a new one every second for its date. */
function readyAnswer(bytes: number): { readonly head: Buffer; readonly whole: Buffer } {
  const second = Math.floor(Date.now() / 1000);
  if (ready?.second === second && ready.bytes === bytes) return ready;
  const fields = fieldsOf(bytes).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = Buffer.from(`HTTP/1.1 200 OK\r\n${fields}\r\n`, "latin1");
  ready = {
    second,
    bytes,
    head,
    whole: bytes <= bodyPiece.length ? Buffer.concat([head, bodyPiece.subarray(0, bytes)]) : head,
  };
  return ready;
}

/** Speaks HTTP/1.1 on a connection. Requests that were pipelined are answered in turn, as all take the same time. */
export function serveText(socket: Socket, { delay, bytes }: OriginOptions, seen: Traffic): void {
  let underWay = 0;
  const answer = (): void => {
    underWay--;
    if (socket.destroyed) return;
    const { head, whole } = readyAnswer(bytes);
    if (bytes <= bodyPiece.length) socket.write(whole);
    else sendLarge(socket, head, bytes);
  };
  const skipper = new RequestSkipper(() => {
    seen.requests++;
    seen.peakStreams = Math.max(seen.peakStreams, ++underWay);
    if (delay === 0) answer();
    else setTimeout(answer, delay);
  });
  socket.on("data", (chunk: Buffer) => {
    const bodyBytes = skipper.take(chunk);
    seen.received += bodyBytes;
  });
}

/** Writes as fast as the client reads. */
function sendLarge(socket: Socket, head: Buffer, bytes: number): void {
  let left = bytes;
  socket.write(head);
  const pump = (): void => {
    while (left > 0) {
      const piece = bodyPiece.subarray(0, Math.min(left, bodyPiece.length));
      left -= piece.length;
      if (!socket.write(piece) && left > 0) return void socket.once("drain", pump);
    }
  };
  pump();
}
