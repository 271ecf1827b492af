import { acceptsHTML } from "../../semantics/mod.ts";
import { answerResource, type OnFault } from "../answer/answer_resource.ts";
import { Answer, fieldsFor, only, type RequestFields, varying } from "../answer/answer.ts";
import { type GeneralFields, isPreflight, PREFLIGHT } from "../answer/custom_fields.ts";
import { Resource } from "../answer/resource.ts";
import { decodeTarget, type Redirect } from "./served_paths.ts";
import type { FolderAnswers, Table } from "./table.ts";

/** A request, in the form that both handlers pass on. */
export interface HandlerRequest {
  readonly method: string;
  /** The request target, or the URL. */
  readonly target: string;
  readonly fields: RequestFields;
  /** The last part of a mount's path without a slash: redirects repeat it, so that relative links work. */
  readonly unslashed: string | undefined;
}

const ALLOW = ["Allow", "GET, HEAD, OPTIONS"];

export function respond(table: Table, request: HandlerRequest, onFault: OnFault): Answer {
  const { folder, fallback } = table;
  const path = decodeTarget(request.target);
  if (path === undefined) return respondWithoutPath(folder, request);
  const entry = table.at(path);
  const answer = entry && respondWith(entry, table, request, onFault);
  if (answer) return answer;
  // Preflights get the permission, so that the page can read the 404 that follows.
  if (asksForOrigin(folder, request)) return respondToMethod(folder.general, request, PREFLIGHT);
  const page = fallback?.at(path);
  if (page === undefined) return respondNotFound(path, table, request, "", onFault);
  if (!acceptsHTML(request.fields.get("accept"))) {
    return respondNotFound(path, table, request, "Accept", onFault);
  }
  return respondWithPage(page, table, request, onFault);
}

/** Answers like {@linkcode respond}; undefined if there is no file at the path, or the method is another one. */
export function respondInChain(table: Table, request: HandlerRequest, onFault: OnFault): Answer | undefined {
  const { folder, fallback } = table;
  const { method, fields } = request;
  const reads = method === "GET" || method === "HEAD";
  const asksToRead = /^(?:GET|HEAD)$/.test(fields.get("access-control-request-method") ?? "");
  if (!reads && !(folder.cors && asksToRead && isPreflight(method, fields))) return undefined;
  const path = decodeTarget(request.target);
  if (path === undefined) return respondWithoutPath(folder, request);
  const entry = table.at(path);
  const answer = entry && respondWith(entry, table, request, onFault);
  // Preflights and data requests to the fallback's paths may be for later routes.
  if (answer || !reads || !fallback || !acceptsHTML(fields.get("accept"))) return answer;
  const page = fallback.at(path);
  return page && respondWithPage(page, table, request, onFault);
}

export function respondClosed({ general, closed }: FolderAnswers, { fields }: HandlerRequest): Answer {
  return general.permit(closed, fields);
}

/** Answers a request; returns undefined for a missing file of the previous deploy. */
function respondWith(
  entry: Resource | Redirect,
  table: Table,
  request: HandlerRequest,
  onFault: OnFault,
): Answer | undefined {
  const { method, fields } = request;
  const resource = entry instanceof Resource ? entry : table.resourceNamed(entry.file)!;
  const general = resource.general();
  if (method !== "GET" && method !== "HEAD") {
    return respondToMethod(general, request, asksForOrigin(table.folder, request) ? PREFLIGHT : []);
  }
  if (entry instanceof Resource && request.unslashed === undefined) {
    const answer = answerResource(entry, method, fields, onFault);
    return answer && general.permit(answer, fields);
  }
  // Redirects from a mount's path without a slash, as for any other folder.
  const toMount = { status: 301, location: `./${printed(request.unslashed ?? "")}/` };
  const { status, location } = entry instanceof Resource ? toMount : entry;
  const query = printed(/\?[^#]*/.exec(request.target)?.[0] ?? ""); // the redirect keeps the query
  // Some browsers keep redirects without a lifetime for ever.
  const lifetime = only(resource.fields(), "Cache-Control");
  const own = ["Location", location + query, "Content-Length", "0", ...lifetime];
  const answer = new Answer(table.folder.redirectStatus ?? status, general.beside(own));
  return general.permit(answer, fields);
}

function respondWithPage(page: Resource | "failed", table: Table, request: HandlerRequest, onFault: OnFault): Answer {
  if (page === "failed") return table.folder.general.permit(table.folder.failed, request.fields);
  return respondWith(page, table, request, onFault)!;
}

function respondWithoutPath({ general, badRequest }: FolderAnswers, request: HandlerRequest): Answer {
  if (request.method === "OPTIONS" && request.target === "*") return respondToMethod(general, request, []);
  return general.permit(badRequest, request.fields);
}

function respondToMethod(general: GeneralFields, { method, fields }: HandlerRequest, more: readonly string[]): Answer {
  const answer = method === "OPTIONS"
    ? new Answer(204, general.beside([...ALLOW, ...more]))
    : general.text(405, "Method Not Allowed", ALLOW);
  return general.permit(answer, fields);
}

/** Whether the request is a preflight that `cors` answers. */
function asksForOrigin({ cors }: FolderAnswers, { method, fields }: HandlerRequest): boolean {
  return cors !== undefined && isPreflight(method, fields);
}

/** Returns the answer for a `path` without a file. `vary`: the request field that this depends on; empty without one. */
function respondNotFound(
  path: string,
  table: Table,
  request: HandlerRequest,
  vary: string,
  onFault: OnFault,
): Answer {
  const chosen = table.notFoundAt(path)?.choose(request.fields, request.method);
  if (chosen === undefined || chosen.resource.hasChanged) {
    const { general, notFound } = table.folder;
    return general.permit(vary === "" ? notFound : notFound.varyingBy(vary), request.fields);
  }
  const fields = varying(fieldsFor("page", chosen.fields()), vary);
  const own = ["Cache-Control", "no-cache", "Content-Length", String(chosen.representation.size)];
  const answer = chosen.answer(404, [...fields, ...own]);
  if (answer) return chosen.resource.general().permit(answer, request.fields);
  onFault(chosen);
  return respondNotFound(path, table, request, vary, onFault);
}

/** Encodes a part of a request target: servers accept characters that URLs must not contain. */
function printed(part: string): string {
  return part.replace(/[^!-~]+/g, (text) => encodeURIComponent(text.toWellFormed()));
}
