import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { NodeHandler, Program, Settings, WebHandler } from "./program.ts";

const BYTES = 262_144;
/** SHA-256 of the client's body, which is of the letter a. */
const DIGEST = createHash("sha256").update("a".repeat(BYTES)).digest("hex");
const FIELDS = { "content-type": "application/json" };

async function digestOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest("hex");
}

function web({ folder }: Settings): Promise<WebHandler> {
  return Promise.resolve(async ({ body }) => {
    const path = join(folder, randomUUID());
    const [toHash, toFile] = body!.tee();
    const file = await open(path, "wx");
    const sink = new WritableStream<Uint8Array>({
      write: async (chunk) => void await file.write(chunk),
      close: () => file.close(),
    });
    const [digest] = await Promise.all([digestOf(toHash), toFile.pipeTo(sink)]);
    await unlink(path);
    return new Response(JSON.stringify({ digest }), { headers: FIELDS });
  });
}

async function node({ folder }: Settings): Promise<NodeHandler> {
  const { pipeline } = await import("node:stream/promises");
  return async (request, response) => {
    const path = join(folder, randomUUID());
    const hash = createHash("sha256");
    request.on("data", (chunk) => hash.update(chunk));
    await pipeline(request, createWriteStream(path, { flags: "wx" }));
    await unlink(path);
    response.writeHead(200, FIELDS).end(JSON.stringify({ digest: hash.digest("hex") }));
  };
}

/** An upload of 256 KiB that is teed to a digest and a file. */
export const teedUpload: Program = {
  title: "teed upload",
  ask: { method: "POST", body: BYTES },
  isRight: ({ body }) => body === JSON.stringify({ digest: DIGEST }),
  web,
  node,
};
