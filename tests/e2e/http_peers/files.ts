import { fileURLToPath } from "node:url";
import type { Origins } from "./application.ts";

/** Returns a file of the tests' certificates, for servers that read it themselves. */
export function certificateFile(name: string): string {
  return fileURLToPath(new URL(`../../http/certificates/${name}`, import.meta.url));
}

/** Returns the path of a file beside this one. */
export function fileHere(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Returns the origins at five ports, one for each protocol. */
export function originsAt([h2, h2c, h1, h1s, verified]: readonly number[]): Origins {
  return {
    h2: `https://127.0.0.1:${h2}`,
    h2c: `http://127.0.0.1:${h2c}`,
    h1: `http://127.0.0.1:${h1}`,
    h1s: `https://127.0.0.1:${h1s}`,
    verified: `https://127.0.0.1:${verified}`,
  };
}
