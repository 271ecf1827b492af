import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The reason for a missing curl; false if it is installed. */
export const noCurl: string | false = spawnSync("curl", ["--version"]).status === 0 ? false : "curl is not installed";

/** A request that curl sends. */
export interface CurlRequest {
  /** The target from its first slash on; sent as it is. */
  readonly path: string;
  /** Default: GET. */
  readonly method?: "GET" | "HEAD";
  /** The request's fields by name. Default: only curl's `Accept`, `Host` and `User-Agent`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Whether curl sends Accept-Encoding with its codings, and decodes the response. Default: false. */
  readonly decoded?: boolean;
}

/** The server's response. */
export interface CurlAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Sends requests to a port of 127.0.0.1 by curl, one after the other, and returns the responses in that order. */
export async function curl(port: number, requests: readonly CurlRequest[]): Promise<CurlAnswer[]> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-curl-"));
  try {
    const words = requests.flatMap(({ path, method = "GET", fields = {}, decoded }, i) => [
      ...(i > 0 ? ["--next"] : []),
      ...["--silent", "--show-error", "--path-as-is", "--globoff", "--max-time", "30"],
      ...["--dump-header", join(folder, `${i}.head`)],
      // It writes the header fields of a HEAD where a body would go.
      ...(method === "HEAD" ? ["--head", "--output", "/dev/null"] : ["--output", join(folder, `${i}.body`)]),
      ...(decoded ? ["--compressed"] : []),
      ...Object.entries(fields).flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
      `http://127.0.0.1:${port}${path}`,
    ]);
    await runCurl(words);
    return await Promise.all(requests.map((_, i) => answer(join(folder, String(i)))));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs curl to its end; rejects with its error message. */
export function runCurl(words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("curl", words, { stdio: ["ignore", "ignore", "pipe"] });
    let complaint = "";
    child.stderr.on("data", (text) => complaint += text);
    child.on("error", reject);
    child.on(
      "close",
      (status) => status === 0 ? resolve() : reject(new Error(`curl ended with ${status}: ${complaint}`)),
    );
  });
}

async function answer(place: string): Promise<CurlAnswer> {
  const [statusLine, ...lines] = (await readFile(`${place}.head`, "latin1")).trimEnd().split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  // curl makes no file for a body that is empty.
  const body = await readFile(`${place}.body`).catch(() => new Uint8Array(0));
  return { status: Number(statusLine.split(" ")[1]), headers, body };
}
