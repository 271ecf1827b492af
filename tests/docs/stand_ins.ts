import { createServer } from "node:net";

/** What takes the places of public hosts and usual ports when a block is run. */
export interface StandIns {
  /** Origin of the server that stands for every host below `example` and `example.com`. */
  readonly origin: string;
  /** A free port for each of the usual ones. */
  readonly ports: Readonly<Record<UsualPort, number>>;
}

type UsualPort = "8000" | "8080" | "3000";

const hosts = /https?:\/\/(?:[\w-]+\.)*example(?:\.com|\.org|\.net)?(?::\d+)?(?![\w.-])/g;
const ports = /((?:listen|serve)\(\s*|\bport:\s*|\bport\s*=\s*|[\w\]]:)(8000|8080|3000)\b/gi;

/** The code with the stand-ins in their places, also in its comments. */
export function withStandIns(code: string, { origin, ports: free }: StandIns): string {
  return code.replace(hosts, origin)
    .replace(ports, (_, before: string, port: UsualPort) => `${before}${free[port]}`);
}

/** Takes free ports. No port is given twice by a process, nor is one that systems give out by themselves. */
export async function freePorts(): Promise<StandIns["ports"]> {
  return { "8000": await freePort(), "8080": await freePort(), "3000": await freePort() };
}

// Below what systems give out by themselves; processes begin at different places.
const first = 12_000;
const count = 18_000;
let next = Math.floor(Math.random() * count);

async function freePort(): Promise<number> {
  while (true) {
    const port = first + next++ % count;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
