import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** Computes the SHA-256 of a file, however large, in hexadecimal. */
export async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk);
  return hash.digest("hex");
}
