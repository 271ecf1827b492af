/**
 * A server of HTTP/1.1 in a process of its own. Arguments: `tls` or `tcp`. It prints its port, and ends with its input. Each response is
 * the request's path. After it the server meddles as the path says, or with it (`/together…`); when that is on its way the file that
 * the field `tell` names is made.
 */
import { writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { certificates } from "../certificates.ts";
import { Listener } from "../faults/listener.ts";

const POISON = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison";

/** The bytes that it sends without a request. */
const MEDDLES: Record<string, (socket: Socket, sent: () => void) => void> = {
  poisoned: (socket, sent) => void socket.write(POISON, sent),
  half: (socket, sent) => void socket.write(POISON.slice(0, 20), sent),
  line: (socket, sent) => void socket.write("\r\n", sent),
  garbage: (socket, sent) => void socket.write("\0what is this?", sent),
  timeout: (socket, sent) => void socket.end("HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n", sent),
  closed: (socket, sent) => void socket.end(sent),
  cut: (socket, sent) => void socket.once("close", sent).destroy(),
};

function answer(socket: Socket, method: string, path: string, file: string | undefined): void {
  const told = (): void => {
    if (file !== undefined) setTimeout(() => writeFileSync(file, ""), 5);
  };
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${path.length}\r\n\r\n`;
  if (path.startsWith("/together")) return void socket.write(head + path + POISON, told);
  socket.write(method === "HEAD" ? head : head + path);
  // The client has read the response by then; otherwise it would get the following bytes at once.
  setTimeout(() => {
    if (method === "HEAD") socket.write(path, told); // as careless servers do
    else MEDDLES[path.slice(1)]?.(socket, told);
  }, 10);
}

const isSecure = process.argv[2] === "tls";
const listener = new Listener(isSecure ? { certificate: certificates, alpn: ["http/1.1"] } : {}, (socket) => {
  socket.on("data", (chunk: Uint8Array) => {
    const text = new TextDecoder().decode(chunk);
    const [, method, path] = /^([A-Z]+) (\S+) HTTP/.exec(text) ?? [];
    if (path !== undefined) answer(socket, method, path, /^tell: (.*)$/m.exec(text)?.[1].trim());
  });
});
await listener.start();
console.log(listener.port);
process.stdin.resume().on("end", () => process.exit());
