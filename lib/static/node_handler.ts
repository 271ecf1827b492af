import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer, Fields, FileParts } from "./answer.ts";
import { FileReader, PIECE } from "./file_reader.ts";
import { NodeFields } from "./node_fields.ts";
import { openVerified } from "./open_verified.ts";
import type { Site } from "./site.ts";

/** Goes on to what comes after in a chain of Connect or Express. */
export type Next = (error?: unknown) => void;

/** Answers a request to `node:http` or the compatible side of `node:http2`. */
export function answerNode(site: Site, req: IncomingMessage, res: ServerResponse, next: Next | undefined): void {
  const method = req.method!;
  if (next && method !== "GET" && method !== "HEAD") return next();
  const fields = new NodeFields(req.headers);
  const answer = site.respond(method, targetOf(req, site.basePath), fields);
  if (answer === undefined && next) return next();
  send(site, req, res, answer ?? site.respondNotFound(fields), next);
}

function send(site: Site, req: IncomingMessage, res: ServerResponse, answer: Answer, next: Next | undefined): void {
  if (answer.file && req.method !== "HEAD") {
    site.track(sendFile(site, req, res, answer, answer.file, next));
    return;
  }
  res.writeHead(answer.status, merged(answer.fields, res) as string[]);
  if (answer.bytes === undefined || req.method === "HEAD") res.end();
  else res.end(answer.bytes);
}

/** What Express and Connect leave of a path below a mount is not all of it: a base path is part of the whole. */
function targetOf(req: IncomingMessage & { originalUrl?: string }, basePath: string): string {
  return basePath === "/" ? req.url! : req.originalUrl ?? req.url!;
}

/** `Vary` may have been set before, for what the answer depends on besides ours; other fields of ours replace such. */
function merged(fields: Fields, res: ServerResponse): Fields {
  if (!res.hasHeader("vary")) return fields;
  const before = String(res.getHeader("vary"));
  const at = fields.indexOf("Vary");
  return at === -1 ? fields : fields.with(at + 1, `${before}, ${fields[at + 1]}`);
}

async function sendFile(
  site: Site,
  req: IncomingMessage,
  res: ServerResponse,
  answer: Answer,
  file: FileParts,
  next: Next | undefined,
): Promise<void> {
  const handle = await openVerified(file.variant);
  if (handle === undefined) {
    site.fault(file.variant); // one less to choose from
    return answerNode(site, req, res, next);
  }
  const reader = new FileReader(handle, file);
  try {
    res.writeHead(answer.status, merged(answer.fields, res) as string[]);
    await sendPieces(reader, res);
    res.end();
  } catch (error) {
    res.destroy(error as Error); // a short body must not pass for a whole one
  } finally {
    await reader.close();
  }
}

/** Reads the next piece while the last one is being sent, into two buffers in turn. */
async function sendPieces(reader: FileReader, res: ServerResponse): Promise<void> {
  const buffers = [new Uint8Array(PIECE), new Uint8Array(PIECE)];
  let written: Promise<void> | undefined;
  for (let turn = 0;; turn ^= 1) {
    const length = await reader.read(buffers[turn]);
    await written;
    if (length === 0 || res.destroyed) return;
    written = new Promise((resolve) => {
      const done = () => {
        res.off("close", done);
        resolve();
      };
      res.once("close", done);
      res.write(buffers[turn].subarray(0, length), done);
    });
  }
}
