import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { writeHead } from "../../runtime/mod.ts";
import { joinedNames, linkToDictionaryBelow, useAsDictionaryBelow } from "../../semantics/mod.ts";
import { answerBusy } from "../answer/answer_resource.ts";
import type { Answer, Fields, FileParts, RequestFields } from "../answer/answer.ts";
import { isPassingRefusal } from "../scan/file_content.ts";
import { CHUNK_SIZE, FileReader } from "./file_reader.ts";
import type { HandlerRequest } from "./respond.ts";
import { rawPath } from "./served_paths.ts";
import type { Site } from "./site.ts";

/** The fields of a request to `node:http`, in the shape of `Headers`. */
export class NodeFields implements RequestFields {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get(name: string): string | undefined {
    return this.#headers[name] as string | undefined; // only Set-Cookie is an array
  }
}

/** A request in Connect or Express: `url` is the part of the target below a mount. */
export type MountedRequest = IncomingMessage & { readonly originalUrl?: string; readonly baseUrl?: string };

/** The path at which a chain mounts the handler, as in `app.use("/docs", site.node)`; the handler does not see it. */
export interface Mount {
  /** The encoded path in the request's target, without a final slash. */
  readonly path: string;
  /** The request target below the mount. */
  readonly target: string;
  /** Whether the request is for the mount itself, without a folder's final slash. */
  readonly lacksSlash: boolean;
}

/** Returns the handler's mount by `request`; undefined if there is none. */
export function mountOf(request: MountedRequest): Mount | undefined {
  const { originalUrl } = request;
  if (originalUrl === undefined || originalUrl === request.url) return undefined; // most requests have no mount
  const { baseUrl, url } = request;
  const [whole, inner] = [rawPath(originalUrl), rawPath(url!)];
  const target = inner === "" ? `/${url}` : url!; // Polka leaves only the query of "/docs?x"
  if (inner !== "" && whole.endsWith(inner)) return mountAt(whole.slice(0, -inner.length), target, false);
  const isRoot = inner === "" || inner === "/";
  if (isRoot && (baseUrl === undefined || baseUrl === whole)) return mountAt(whole, target, true);
  return mountAt(baseUrl ?? "", target, false); // middleware has rewritten the URL
}

function mountAt(path: string, target: string, lacksSlash: boolean): Mount | undefined {
  return path === "" ? undefined : { path, target, lacksSlash };
}

const INTERNAL_ERROR = 2; // RFC 9113 section 7

/**
 * Sends the bytes of `reader` as the body of `res`, and ends or aborts the response; fulfils when the file is closed. A
 * buffer is reused once `write()` calls back. Middleware that wraps `write()` may never do so: then each piece gets a
 * new buffer.
 */
export async function sendFile(req: IncomingMessage, res: ServerResponse, reader: FileReader): Promise<void> {
  const free: Uint8Array[] = [];
  let isGone = res.destroyed || res.closed || req.aborted;
  let mayWrite = true;
  let proceed = (): void => {};
  const leave = (): void => {
    isGone = true;
    reader.close();
    proceed();
  };
  const onDrain = (): void => {
    mayWrite = true;
    proceed();
  };
  // On Deno, no "close" event reaches a response that waits on a connection, or a reset one of HTTP/2.
  req.on("aborted", leave);
  res.on("close", leave).on("drain", onDrain);
  try {
    while (!isGone && reader.ahead > 0) {
      const buffer = free.pop() ?? new Uint8Array(CHUNK_SIZE);
      const length = await reader.read(buffer);
      if (!mayWrite && !isGone) await new Promise<void>((resolve) => proceed = resolve);
      if (isGone) return;
      mayWrite = res.write(buffer.subarray(0, length), () => free.push(buffer));
    }
    res.end();
  } catch {
    const { stream } = res as { stream?: { close?: (code: number) => void } };
    if (stream?.close) stream.close(INTERNAL_ERROR); // so that clients do not take the response for complete
    else res.destroy();
  } finally {
    reader.close();
    req.off("aborted", leave);
    res.off("close", leave).off("drain", onDrain);
  }
}

/** Passes a request to the next handler of Connect or Express. */
export type Next = (error?: unknown) => void;

/** Answers a request to `node:http` or the compatibility API of `node:http2`. */
export function answerNode(site: Site, req: MountedRequest, res: ServerResponse, next: Next | undefined): void {
  if (res.headersSent || res.writableEnded) return; // another handler responds, or the client has left
  const request = askedBy(req, site.basePath);
  const answer = next ? site.respondInChain(request) : site.respond(request);
  if (answer === undefined) return next!();
  const successor = site.successorOf(answer);
  if (!successor) return send(site, req, res, answer, next);
  const sent = successor.then(() => answerNode(site, req, res, next), () => send(site, req, res, answer, next));
  sent.catch(next ?? (() => res.destroy()));
}

function askedBy(req: MountedRequest, basePath: string): HandlerRequest {
  const fields = new NodeFields(req.headers);
  const method = req.method!;
  // The base path is part of the whole path; below a mount, Express and Connect leave only a part of that.
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
    if (isPassingRefusal(error)) {
      return send(site, req, res, answerBusy(file.variant.resource, new NodeFields(req.headers)), next);
    }
    site.fault(file.variant); // removes it from the choice
    return answerNode(site, req, res, next);
  }
  writeHead(res, answer.status, merged(answer.fields, site, req, res));
  site.track(sendFile(req, res, reader));
}

/** Returns the fields to send in a chain. They replace earlier fields of the same name; the names in `Vary` are joined. */
function merged(own: Fields, site: Site, req: MountedRequest, res: ServerResponse): Fields {
  const fields = belowMount(own, site, req);
  const at = res.hasHeader("vary") ? fields.indexOf("Vary") : -1;
  if (at === -1) return fields;
  return fields.with(at + 1, joinedNames([res.getHeader("vary"), fields[at + 1]].flat().join(", ")));
}

/** Adapts the patterns and links of dictionaries to the browser's paths, which include the mount. */
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
