import { Answer, varying, without } from "./answer.ts";
import { answerResource, type OnFault } from "./answer_resource.ts";
import { isPreflight, isPreflightOfRead, PREFLIGHT } from "./cross_origin.ts";
import type { GeneralFields } from "./custom_fields.ts";
import type { FolderAnswers } from "./folder_answers.ts";
import { acceptsHTML } from "./http/accept.ts";
import { decodeTarget } from "./http/request_target.ts";
import { type RequestFields, Resource } from "./resource.ts";
import type { Redirect } from "./served_paths.ts";
import type { Table } from "./table.ts";

const ALLOW = ["Allow", "GET, HEAD, OPTIONS"];
/** Fields that the page of a 404 is without: it is not what was asked for. */
const NOT_OF_404 = ["etag", "last-modified", "cache-control", "accept-ranges", "repr-digest", "use-as-dictionary"];

/**
 * Answers a request from `table`.
 *
 * @param target The request target, or the URL.
 */
export function respond(
  table: Table,
  method: string,
  target: string,
  request: RequestFields,
  onFault: OnFault,
): Answer {
  const path = decodeTarget(target);
  if (path === undefined) return respondWithoutPath(table.folder, method, target, request);
  const entry = table.at(path);
  const answer = entry && respondWith(entry, table, method, target, request, onFault);
  if (answer) return answer;
  const { folder } = table;
  // The page that asks is to read the 404.
  if (asksForOrigin(folder, method, request)) return respondToMethod(method, folder.general, request, PREFLIGHT);
  const page = table.fallback?.at(path);
  if (page === undefined) return respondNotFound(table, request, "", onFault);
  if (!acceptsHTML(request.get("accept"))) return respondNotFound(table, request, "Accept", onFault);
  return respondWithPage(page, table, method, target, request, onFault);
}

/**
 * Answers a request as {@linkcode respond} does, or undefined if it is for what follows in a chain: there is nothing at
 * its path, or it is not one that reads.
 */
export function respondInChain(
  table: Table,
  method: string,
  target: string,
  request: RequestFields,
  onFault: OnFault,
): Answer | undefined {
  const reads = method === "GET" || method === "HEAD";
  if (!reads && !(table.folder.cors && isPreflightOfRead(method, request))) return undefined;
  const path = decodeTarget(target);
  if (path === undefined) return respondWithoutPath(table.folder, method, target, request);
  const entry = table.at(path);
  const answer = entry && respondWith(entry, table, method, target, request, onFault);
  // What follows may answer scripts of other origins, and what asks for data, at paths that the fallback would take.
  if (answer || !reads || !table.fallback || !acceptsHTML(request.get("accept"))) return answer;
  const page = table.fallback.at(path);
  return page && respondWithPage(page, table, method, target, request, onFault);
}

/** The answer to everything once the handler is closed. */
export function respondClosed({ general, closed }: FolderAnswers, request: RequestFields): Answer {
  return general.permit(closed, request);
}

/** Undefined if it is a file of the previous deploy that is gone. */
function respondWith(
  entry: Resource | Redirect,
  table: Table,
  method: string,
  target: string,
  request: RequestFields,
  onFault: OnFault,
): Answer | undefined {
  const resource = entry instanceof Resource ? entry : table.resourceNamed(entry.file)!;
  const general = resource.general();
  if (method !== "GET" && method !== "HEAD") {
    return respondToMethod(method, general, request, asksForOrigin(table.folder, method, request) ? PREFLIGHT : []);
  }
  const answer = entry instanceof Resource
    ? answerResource(entry, method, request, onFault)
    : redirectAnswer(entry, target, general);
  return answer && general.permit(answer, request);
}

function respondWithPage(
  page: Resource | "failed",
  table: Table,
  method: string,
  target: string,
  request: RequestFields,
  onFault: OnFault,
): Answer {
  if (page === "failed") return table.folder.general.permit(table.folder.failed, request);
  return respondWith(page, table, method, target, request, onFault)!;
}

function respondWithoutPath(folder: FolderAnswers, method: string, target: string, request: RequestFields): Answer {
  const { general, badRequest } = folder;
  if (method === "OPTIONS" && target === "*") return respondToMethod(method, general, request, []);
  return general.permit(badRequest, request);
}

function respondToMethod(
  method: string,
  general: GeneralFields,
  request: RequestFields,
  more: readonly string[],
): Answer {
  const answer = method === "OPTIONS"
    ? new Answer(204, general.beside([...ALLOW, ...more]))
    : general.text(405, "Method Not Allowed", ALLOW);
  return general.permit(answer, request);
}

/** Whether a page of another origin is to be told what it may send. */
function asksForOrigin({ cors }: FolderAnswers, method: string, request: RequestFields): boolean {
  return cors !== undefined && isPreflight(method, request);
}

/**
 * The answer for a path that there is nothing at.
 *
 * @param vary The request field that this depends on; empty if on none.
 */
function respondNotFound(table: Table, request: RequestFields, vary: string, onFault: OnFault): Answer {
  const chosen = table.notFound?.choose(request);
  if (chosen === undefined || chosen.resource.hasChanged) {
    const { general, notFound } = table.folder;
    return general.permit(vary === "" ? notFound : notFound.varyingBy(vary), request);
  }
  const fields = varying(without(chosen.fields(), NOT_OF_404), vary);
  const own = ["Cache-Control", "no-cache", "Content-Length", String(chosen.representation.size)];
  const answer = chosen.answer(404, [...fields, ...own]);
  if (answer) return chosen.resource.general().permit(answer, request);
  onFault(chosen);
  return respondNotFound(table, request, vary, onFault);
}

/** The query goes along; what a server let through that is no part of a URL is encoded. */
function redirectAnswer({ status, location }: Redirect, target: string, general: GeneralFields): Answer {
  const query = /\?[^#]*/.exec(target)?.[0] ?? "";
  const encoded = query.replace(/[^!-~]+/g, (text) => encodeURIComponent(text.toWellFormed()));
  return new Answer(status, general.beside(["Location", location + encoded, "Content-Length", "0"]));
}
