import type { ServerResponse } from "node:http";
import { writeHead } from "../../runtime/mod.ts";
import type { Answer, Fields, FileParts } from "../answer/answer.ts";
import { answerBusy } from "../answer/answer_resource.ts";
import { FileReader, isShortage } from "./file_reader.ts";
import type { Asked } from "./asked.ts";
import { joinedNames, linkToDictionaryBelow, useAsDictionaryBelow } from "../../semantics/mod.ts";
import { type MountedRequest, mountOf } from "./mount.ts";
import { NodeFields } from "./node_fields.ts";
import { sendFile } from "./send_file.ts";
import type { Site } from "./site.ts";

/** Goes on to what comes after in a chain of Connect or Express. */
export type Next = (error?: unknown) => void;

/** Answers a request to `node:http` or the compatible side of `node:http2`. */
export function answerNode(site: Site, req: MountedRequest, res: ServerResponse, next: Next | undefined): void {
  if (res.headersSent || res.writableEnded) return; // somebody else answers, or the visitor has left
  const asked = askedBy(req, site.basePath);
  const answer = next ? site.respondInChain(asked) : site.respond(asked);
  if (answer === undefined) return next!();
  send(site, req, res, answer, next);
}

function askedBy(req: MountedRequest, basePath: string): Asked {
  const fields = new NodeFields(req.headers);
  const method = req.method!;
  // A base path is part of the whole path, which Express and Connect leave a part of below a mount.
  if (basePath !== "/") return { method, target: req.originalUrl ?? req.url!, fields, unslashed: undefined };
  const mount = mountOf(req);
  if (mount === undefined) return { method, target: req.url!, fields, unslashed: undefined };
  const unslashed = mount.lacksSlash ? mount.path.slice(mount.path.lastIndexOf("/") + 1) : undefined;
  return { method, target: mount.target, fields, unslashed };
}

function send(site: Site, req: MountedRequest, res: ServerResponse, answer: Answer, next: Next | undefined): void {
  if (answer.file && req.method !== "HEAD") return sendFrom(answer.file, site, req, res, answer, next);
  writeHead(res, answer.status, merged(answer.fields, site, req, res));
  if (answer.bytes === undefined || req.method === "HEAD") res.end();
  else res.end(answer.bytes);
}

function sendFrom(
  file: FileParts,
  site: Site,
  req: MountedRequest,
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
  writeHead(res, answer.status, merged(answer.fields, site, req, res));
  site.track(sendFile(req, res, reader));
}

/** The fields to send in a chain. Ours replace those of the same name that were set before, except `Vary`. */
function merged(fields: Fields, site: Site, req: MountedRequest, res: ServerResponse): Fields {
  return withFormerVary(belowMount(fields, site, req), res);
}

/** A dictionary's pattern, and the link to one, must be for paths as the browser sees them. */
function belowMount(fields: Fields, { basePath }: Site, req: MountedRequest): Fields {
  const mount = basePath === "/" ? mountOf(req) : undefined;
  if (mount === undefined) return fields;
  let below = fields;
  const move = (name: string, to: typeof useAsDictionaryBelow): void => {
    const at = below.indexOf(name);
    if (at !== -1) below = below.with(at + 1, to(mount.path, below[at + 1]));
  };
  move("Use-As-Dictionary", useAsDictionaryBelow);
  move("Link", linkToDictionaryBelow);
  return below;
}

/** Joins a `Vary` that was set before: the response depends on those fields, too. */
function withFormerVary(fields: Fields, res: ServerResponse): Fields {
  if (!res.hasHeader("vary")) return fields;
  const at = fields.indexOf("Vary");
  if (at === -1) return fields;
  return fields.with(at + 1, joinedNames([res.getHeader("vary"), fields[at + 1]].flat().join(", ")));
}
