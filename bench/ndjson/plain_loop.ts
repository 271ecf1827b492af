import { Buffer } from "node:buffer";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";

const READ_SIZE = 1024 * 1024;

/** Does the job without streams: the time of reading, `JSON` and writing alone. */
export async function withoutStreams(input: string, directory: string): Promise<void> {
  const from = await open(input);
  const to = await open(join(directory, "records.ndjson"), "w");
  const buffer = Buffer.alloc(READ_SIZE);
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (;;) {
    const { bytesRead } = await from.read(buffer, 0, READ_SIZE);
    if (bytesRead === 0) break;
    const lines = (rest + decoder.write(buffer.subarray(0, bytesRead))).split("\n");
    rest = lines.pop()!;
    await to.writeFile(lines.map((line) => `${JSON.stringify(JSON.parse(line))}\n`).join(""));
  }
  await to.close();
  await from.close();
}
