import { Answer, without } from "./answer.ts";
import { answerResource, type OnFault } from "./answer_resource.ts";
import { isPreflight, isPreflightOfRead, PREFLIGHT } from "./cross_origin.ts";
import type { GeneralFields } from "./custom_fields.ts";
import type { FolderAnswers } from "./folder_answers.ts";
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
  const answer = respondIfThere(table, method, target, request, onFault);
  if (answer) return answer;
  const { folder } = table;
  // The page that asks is to read the 404.
  if (asksForOrigin(folder, method, request)) return respondToMethod(method, folder.general, request, PREFLIGHT);
  return respondNotFound(table, request, onFault);
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
  const reads = method === "GET" || method === "HEAD" || (table.folder.cors && isPreflightOfRead(method, request));
  return reads ? respondIfThere(table, method, target, request, onFault) : undefined;
}

/** The answer to everything once the handler is closed. */
export function respondClosed({ general, closed }: FolderAnswers, request: RequestFields): Answer {
  return general.permit(closed, request);
}

function respondIfThere(
  table: Table,
  method: string,
  target: string,
  request: RequestFields,
  onFault: OnFault,
): Answer | undefined {
  const path = decodeTarget(target);
  if (path === undefined) return respondWithoutPath(table.folder, method, target, request);
  // A page of the application is nothing that scripts of other origins ask for.
  const isPreflight = asksForOrigin(table.folder, method, request);
  const entry = table.at(path) ?? (isPreflight ? undefined : fallbackFor(path, table));
  if (entry === undefined) return undefined;
  const resource = entry instanceof Resource ? entry : table.resourceNamed(entry.file)!;
  const general = resource.general();
  if (method !== "GET" && method !== "HEAD") {
    return respondToMethod(method, general, request, isPreflight ? PREFLIGHT : []);
  }
  const answer = entry instanceof Resource
    ? answerResource(entry, method, request, onFault)
    : redirectAnswer(entry, target, general);
  return answer && general.permit(answer, request);
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

/** The answer for a path that there is nothing at. */
function respondNotFound(table: Table, request: RequestFields, onFault: OnFault): Answer {
  const chosen = table.notFound?.choose(request);
  if (chosen === undefined || chosen.resource.hasChanged) {
    return table.folder.general.permit(table.folder.notFound, request);
  }
  const fields = [...without(chosen.fields(), NOT_OF_404), "Cache-Control", "no-cache"];
  const answer = chosen.answer(404, [...fields, "Content-Length", String(chosen.representation.size)]);
  if (answer) return chosen.resource.general().permit(answer, request);
  onFault(chosen);
  return respondNotFound(table, request, onFault);
}

/** The page of an application that routes by itself; what has an extension is a file that is missing. */
function fallbackFor(path: string, { fallback }: Table): Resource | undefined {
  if (fallback === undefined || path.includes(".", path.lastIndexOf("/"))) return undefined;
  return path.startsWith(fallback.settings.basePath) ? fallback : undefined;
}

/** The query goes along; what a server let through that is no part of a URL is encoded. */
function redirectAnswer({ status, location }: Redirect, target: string, general: GeneralFields): Answer {
  const query = /\?[^#]*/.exec(target)?.[0] ?? "";
  const encoded = query.replace(/[^!-~]+/g, (text) => encodeURIComponent(text.toWellFormed()));
  return new Answer(status, general.beside(["Location", location + encoded, "Content-Length", "0"]));
}
