/**
 * A server in a process of its own. It prints its ports, without and with TLS, and ends with its input. A line of a client, `KIND FILE`, it
 * answers at once; once there is `FILE.go` it sends what KIND says, and makes FILE when that is on its way.
 */
import { existsSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import process from "node:process";
import { certificates } from "../http/certificates.ts";
import { Listener } from "../http/faults/listener.ts";

const KINDS: Record<string, (socket: Socket, sent: () => void) => void> = {
  "bytes": (socket, sent) => void socket.write("more", sent),
  "many-bytes": (socket, sent) => void socket.write(new Uint8Array(40_000), sent),
  "end": (socket, sent) => void socket.end(sent),
  "reset": (socket, sent) => void socket.once("close", sent).resetAndDestroy(),
};

function onSocket(socket: Socket): void {
  socket.on("data", (chunk) => {
    const [, kind, file] = /^(\S+) (.*)$/.exec(String(chunk))!;
    socket.write("as you like");
    const act = (): void => {
      if (existsSync(`${file}.go`)) KINDS[kind](socket, () => void setTimeout(() => writeFileSync(file, ""), 3));
      else setTimeout(act, 1);
    };
    act();
  });
}

const plain = await new Listener({}, onSocket).start();
const secure = await new Listener({ certificate: certificates }, onSocket).start();
console.log(plain.port);
console.log(secure.port);
process.stdin.resume().on("end", () => process.exit());
