/**
 * A server of HTTP/1.1 in a process of its own. It prints its port, and ends with its input. Each response is the
 * request's path, which says what follows it after how many µs: `/fin/50/…` the end, `/rst/50/…` a reset,
 * `/second/50/…` a response without a request. To each line of its input it answers how many of these were sent later
 * than {@linkcode LATE} after their response.
 */
import type { Socket } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { Listener } from "../faults/listener.ts";

/** The delay in ms above which an ending counts as late; clients keep idle connections longer. */
const LATE = 1.5;

let late = 0;

/** The scheduled actions and their times. */
const due: { at: number; act: () => void }[] = [];

/** Checks the clock in each turn of the event loop, since timers are too coarse. */
function look(): void {
  const now = performance.now();
  for (const task of due.splice(0)) {
    if (task.at <= now) task.act();
    else due.push(task);
  }
  if (due.length > 0) setImmediate(look);
}

function answer(socket: Socket, path: string): void {
  const [, kind, microseconds] = path.split("/");
  const began = performance.now();
  const sent = (): void => {
    if (performance.now() - began > LATE) late++;
  };
  const act = (): void => {
    if (socket.destroyed) return;
    if (kind === "fin") socket.end(sent);
    else if (kind === "second") socket.write(responseOf("/second"), sent);
    else if (kind === "rst") socket.once("close", sent).resetAndDestroy();
  };
  socket.write(responseOf(path));
  due.push({ at: began + Number(microseconds) / 1000, act });
  if (due.length === 1) setImmediate(look);
}

function responseOf(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const listener = new Listener({}, (socket) => {
  let text = "";
  socket.on("data", (chunk: Uint8Array) => {
    text += new TextDecoder().decode(chunk);
    for (;;) {
      const end = text.indexOf("\r\n\r\nx"); // each request's body is an x
      if (end < 0) return;
      const path = text.split(" ", 2)[1];
      text = text.slice(end + 5);
      if (socket.writable) answer(socket, path);
    }
  });
});
await listener.start();
console.log(listener.port);
createInterface({ input: process.stdin }).on("line", () => {
  console.log(late);
  late = 0;
}).on("close", () => process.exit());
