import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Origins } from "./application.ts";
import { certificateFile } from "./files.ts";
import { pattern } from "./pattern.ts";
import { type PeerProcess, programPath, startDaemon } from "./processes.ts";
import { freePorts } from "../../support/ports.ts";

const command = programPath("nghttpd");

/** The reason for a missing nghttpd; false if it is installed. */
export const noNghttpd: string | false = command ? false : "nghttpd is not installed";

/** The limit of concurrent streams. */
export const NGHTTPD_STREAMS = 10;

/**
 * Starts nghttpd with a folder of files: `hello`, `other` and `large`, 1 MiB of the pattern. It sends back what is POSTed, has
 * `x-trailer: last` after every body, and pushes `other` with `hello` to who lets it.
 */
export async function startNghttpd(folder: string, kind: "h2" | "h2c"): Promise<PeerProcess> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "hello"), "hello");
  await writeFile(join(folder, "other"), "other");
  await writeFile(join(folder, "large"), pattern(2 ** 20));
  return await startDaemon<Origins>(command ?? "nghttpd", async () => {
    const [port] = await freePorts(1);
    const words = ["--address=127.0.0.1", `--htdocs=${folder}`, "--echo-upload", "--trailer=x-trailer: last"];
    words.push("--push=/hello=/other", `--max-concurrent-streams=${NGHTTPD_STREAMS}`);
    if (kind === "h2c") {
      return { words: [...words, "--no-tls", String(port)], origins: { h2c: `http://127.0.0.1:${port}` } };
    }
    const secure = [String(port), certificateFile("localhost.key"), certificateFile("localhost.pem")];
    return { words: [...words, ...secure], origins: { h2: `https://127.0.0.1:${port}` } };
  });
}
