/**
 * A process that connects, prints `attached`, and `closed` when the server has closed the connection. It ends earlier if nothing keeps the process alive.
 *
 *   holding.ts TCP|TLS|"TLS over a socket" PORT HOLD,HOLD,…    the server reads the last word, too: whether to end it
 */
import { connect } from "node:net";
import process from "node:process";
import { connectTcp, connectTls, trusting } from "./connecting.ts";

const [kind, port, holds] = process.argv.slice(2);
const overSocket: Parameters<typeof connectTls>[2] = {
  connect: ({ hostname, port }) => connect({ host: hostname, port, noDelay: true }),
};
const transport = kind === "TCP"
  ? await connectTcp(Number(port))
  : await connectTls(Number(port), trusting, kind === "TLS" ? {} : overSocket);
transport.attach({
  onData() {},
  onDrain() {},
  onEnd() {},
  onClose() {
    console.log("closed");
  },
});
console.log("attached");
transport.write(new TextEncoder().encode(holds));
for (const hold of holds!.split(",")) transport.keepProcess(hold === "true");
