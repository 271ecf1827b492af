import { freePorts } from "../support/ports.ts";

/** The local servers and ports that replace public hosts and well-known ports when a block runs. */
export interface StandIns {
  /** Origin of the server that replaces hosts. */
  readonly origin: string;
  /** Whether only `https://example.com/` is replaced, which is there for all; or every host below `example`. */
  readonly isOfPage: boolean;
  /** A free port for each of the usual ones. */
  readonly ports: Readonly<Record<UsualPort, number>>;
}

type UsualPort = "8000" | "8080" | "3000" | "7070";

const hosts = /https?:\/\/(?:[\w-]+\.)*example(?:\.com|\.org|\.net)?(?::\d+)?(?![\w.-])/g;
const publicPage = /https:\/\/example\.com(?=\/(?:[?"'`\s]|$))/gm;
const ports = /((?:listen|serve)\(\s*|\bport:\s*|\bport\s*=\s*|[\w\]]:)(8000|8080|3000|7070)\b/gi;

/** Returns the code with the stand-ins in their places, also in its comments. */
export function withStandIns(code: string, { origin, isOfPage, ports: free }: StandIns): string {
  return code.replace(isOfPage ? publicPage : hosts, origin)
    .replace(ports, (_, before: string, port: UsualPort) => `${before}${free[port]}`);
}

/** Takes free ports, and that of a store, by its origin. */
export async function standInPorts(store: string): Promise<StandIns["ports"]> {
  const [one, two, three] = await freePorts(3);
  return { "8000": one, "8080": two, "3000": three, "7070": Number(/\d*$/.exec(store)![0]) };
}
