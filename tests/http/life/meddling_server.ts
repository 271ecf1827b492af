/**
 * A server of HTTP/1.1 in a process of its own. Arguments: `tls` or `tcp`. It prints its port, and ends with its input. Each response is
 * the request's path. After that to `/poisoned…` comes another that nobody asked for, after that to `/closed…` the end. When
 * those are on their way the file that the field `tell` names is made.
 */
import { writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { certificates } from "../certificates.ts";
import { Listener } from "../faults/listener.ts";

const POISON = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison";

function answer(socket: Socket, path: string, file: string | undefined): void {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${path.length}\r\n\r\n${path}`);
  // The client has taken the response in by then, or else it sees what follows at once.
  setTimeout(() => {
    const tell = (): void => {
      if (file !== undefined) setTimeout(() => writeFileSync(file, ""), 5);
    };
    if (path.startsWith("/poisoned")) socket.write(POISON, tell);
    else if (path.startsWith("/closed")) socket.end(tell);
  }, 10);
}

const isSecure = process.argv[2] === "tls";
const listener = new Listener(isSecure ? { certificate: certificates, alpn: ["http/1.1"] } : {}, (socket) => {
  socket.on("data", (chunk: Uint8Array) => {
    const text = new TextDecoder().decode(chunk);
    const path = /^[A-Z]+ (\S+) HTTP/.exec(text)?.[1];
    if (path !== undefined) answer(socket, path, /^tell: (.*)$/m.exec(text)?.[1].trim());
  });
});
await listener.start();
console.log(listener.port);
process.stdin.resume().on("end", () => process.exit());
