import { freePort } from "../support/ports.ts";

/** The local servers and ports that replace public hosts and well-known ports when a block runs. */
export interface StandIns {
  /** Origin of the server that replaces every host below `example` and `example.com`. */
  readonly origin: string;
  /** A free port for each of the usual ones. */
  readonly ports: Readonly<Record<UsualPort, number>>;
}

type UsualPort = "8000" | "8080" | "3000";

const hosts = /https?:\/\/(?:[\w-]+\.)*example(?:\.com|\.org|\.net)?(?::\d+)?(?![\w.-])/g;
const ports = /((?:listen|serve)\(\s*|\bport:\s*|\bport\s*=\s*|[\w\]]:)(8000|8080|3000)\b/gi;

/** Returns the code with the stand-ins in their places, also in its comments. */
export function withStandIns(code: string, { origin, ports: free }: StandIns): string {
  return code.replace(hosts, origin)
    .replace(ports, (_, before: string, port: UsualPort) => `${before}${free[port]}`);
}

/** Takes free ports. */
export async function standInPorts(): Promise<StandIns["ports"]> {
  return { "8000": await freePort(), "8080": await freePort(), "3000": await freePort() };
}
