/**
 * Connects subscribers to the server at a port, prints a line when all have their first bytes, and, for each line of
 * standard input, how many bytes each has got since the last one. Ends when its input does.
 *
 *   node channel_clients.ts PORT CODING COUNT
 */
import { connect } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";

const [port, coding, count] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
let bytes = 0;

function subscribe(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      resolve();
    });
    socket.on("error", reject);
    socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${coding}\r\n\r\n`);
  });
}

for (let i = 0; i < count; i += 100) await Promise.all(Array.from({ length: Math.min(100, count - i) }, subscribe));
console.log("connected");
bytes = 0;
for await (const _ of createInterface({ input: process.stdin })) {
  console.log(String(bytes / count));
  bytes = 0;
}
process.exit(0);
