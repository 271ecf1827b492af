/**
 * A process that connects, says `attached`, and `closed` when the server closed the connection; it ends earlier if nothing keeps it.
 *
 *   holding.ts TCP|TLS PORT HOLD,HOLD,…
 */
import process from "node:process";
import { connectTcp, connectTls } from "./connecting.ts";

const [kind, port, holds] = process.argv.slice(2);
const transport = await (kind === "TLS" ? connectTls : connectTcp)(Number(port));
transport.attach({
  onData() {},
  onDrain() {},
  onEnd() {},
  onClose() {
    console.log("closed");
  },
});
console.log("attached");
transport.write(new TextEncoder().encode("hello"));
for (const hold of holds!.split(",")) transport.keepProcess(hold === "true");
