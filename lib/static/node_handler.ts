import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer, Fields, FileParts } from "./answer.ts";
import { answerBusy } from "./answer_resource.ts";
import { FileReader, isShortage } from "./file_reader.ts";
import { joinedNames } from "./http/field_names.ts";
import { NodeFields } from "./node_fields.ts";
import { sendFile } from "./send_file.ts";
import type { Site } from "./site.ts";

/** Goes on to what comes after in a chain of Connect or Express. */
export type Next = (error?: unknown) => void;

/** Answers a request to `node:http` or the compatible side of `node:http2`. */
export function answerNode(site: Site, req: IncomingMessage, res: ServerResponse, next: Next | undefined): void {
  if (res.headersSent || res.writableEnded) return; // somebody else answers, or the visitor has left
  const method = req.method!;
  const fields = new NodeFields(req.headers);
  const target = targetOf(req, site.basePath);
  const answer = next ? site.respondInChain(method, target, fields) : site.respond(method, target, fields);
  if (answer === undefined) return next!();
  send(site, req, res, answer, next);
}

function send(site: Site, req: IncomingMessage, res: ServerResponse, answer: Answer, next: Next | undefined): void {
  if (answer.file && req.method !== "HEAD") return sendFrom(answer.file, site, req, res, answer, next);
  res.writeHead(answer.status, merged(answer.fields, res) as string[]);
  if (answer.bytes === undefined || req.method === "HEAD") res.end();
  else res.end(answer.bytes);
}

function sendFrom(
  file: FileParts,
  site: Site,
  req: IncomingMessage,
  res: ServerResponse,
  answer: Answer,
  next: Next | undefined,
): void {
  let reader: FileReader;
  try {
    reader = new FileReader(file);
  } catch (error) {
    if (isShortage(error)) {
      return send(site, req, res, answerBusy(file.variant.resource, new NodeFields(req.headers)), next);
    }
    site.fault(file.variant); // one less to choose from
    return answerNode(site, req, res, next);
  }
  res.writeHead(answer.status, merged(answer.fields, res) as string[]);
  site.track(sendFile(req, res, reader));
}

/** What Express and Connect leave of a path below a mount is not all of it: a base path is part of the whole. */
function targetOf(req: IncomingMessage & { originalUrl?: string }, basePath: string): string {
  return basePath === "/" ? req.url! : req.originalUrl ?? req.url!;
}

/** `Vary` may have been set before, for what the answer depends on besides ours; other fields of ours replace such. */
function merged(fields: Fields, res: ServerResponse): Fields {
  if (!res.hasHeader("vary")) return fields;
  const at = fields.indexOf("Vary");
  if (at === -1) return fields;
  return fields.with(at + 1, joinedNames([res.getHeader("vary"), fields[at + 1]].flat().join(", ")));
}
