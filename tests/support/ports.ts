import { createServer } from "node:net";

// Below the ports that systems give to requests for any port, which would take it before its server does; processes
// begin at different places.
const first = 12_000;
const count = 18_000;
let next = Math.floor(Math.random() * count);

/** Finds a port that nothing listens on, for a server that cannot choose one itself. No process gets one twice. */
export async function freePort(): Promise<number> {
  while (true) {
    const port = first + next++ % count;
    if (await isFree(port)) return port;
  }
}

/** Finds several ports as {@linkcode freePort} does. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
