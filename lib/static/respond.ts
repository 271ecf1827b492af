import { Answer, only, valueOf, without } from "./answer.ts";
import { decodeTarget } from "./http/request_target.ts";
import { evaluate, ifRangeHolds } from "./preconditions.ts";
import { answerRange } from "./ranges.ts";
import { type RequestFields, Resource } from "./resource.ts";
import type { Redirect } from "./served_paths.ts";
import type { Table } from "./table.ts";
import type { Variant } from "./variant.ts";

const ALLOW = ["Allow", "GET, HEAD, OPTIONS"];
const ASK_AGAIN = ["Retry-After", "1", "Cache-Control", "no-store"];
/** Fields that the page of a 404 is without: it is not what was asked for. */
const NOT_OF_404 = ["etag", "last-modified", "cache-control", "accept-ranges", "repr-digest", "use-as-dictionary"];

/** Told that the file of a variant is not what was scanned. */
export type OnFault = (variant: Variant) => void;

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
  return respondIfThere(table, method, target, request, onFault) ?? respondNotFound(table, request, onFault);
}

/** Answers a request as {@linkcode respond} does, or undefined if there is nothing at its path. */
export function respondIfThere(
  table: Table,
  method: string,
  target: string,
  request: RequestFields,
  onFault: OnFault,
): Answer | undefined {
  const path = decodeTarget(target);
  if (path === undefined) return respondWithoutPath(table, method, target);
  const entry = table.at(path) ?? fallbackFor(path, table);
  if (entry === undefined) return undefined;
  if (method !== "GET" && method !== "HEAD") return respondToMethod(method, resourceOf(entry, table));
  if (!(entry instanceof Resource)) return redirectAnswer(entry, target, resourceOf(entry, table));
  return answerResource(entry, method, request, onFault);
}

/** What a file is answered with that cannot be opened now: too many are. */
export function busyAnswer(resource: Resource): Answer {
  return resource.general().text(503, "Too many files are open: ask again", ASK_AGAIN);
}

function respondWithoutPath({ folder }: Table, method: string, target: string): Answer {
  return method === "OPTIONS" && target === "*" ? new Answer(204, folder.general.beside(ALLOW)) : folder.badRequest;
}

function respondToMethod(method: string, resource: Resource): Answer {
  const general = resource.general();
  return method === "OPTIONS" ? new Answer(204, general.beside(ALLOW)) : general.text(405, "Method Not Allowed", ALLOW);
}

/** The answer for a path that there is nothing at. */
function respondNotFound(table: Table, request: RequestFields, onFault: OnFault): Answer {
  const chosen = table.notFound?.choose(request);
  if (chosen === undefined || chosen.resource.hasChanged) return table.folder.notFound;
  const fields = [...without(chosen.fields(), NOT_OF_404), "Cache-Control", "no-cache"];
  const answer = chosen.answer(404, [...fields, "Content-Length", String(chosen.representation.size)]);
  if (answer) return answer;
  onFault(chosen);
  return respondNotFound(table, request, onFault);
}

function answerResource(
  resource: Resource,
  method: string,
  request: RequestFields,
  onFault: OnFault,
): Answer | undefined {
  while (!resource.hasChanged) {
    const chosen = resource.choose(request);
    if (chosen === undefined) return notAcceptable(resource);
    const answer = answerVariant(chosen, method, request);
    if (answer) return answer;
    onFault(chosen); // one less to choose from
  }
  if (resource.isFormer) return undefined; // what is gone of the former deploy is gone
  return resource.general().text(503, "The file is being replaced: ask again", ASK_AGAIN);
}

function answerVariant(chosen: Variant, method: string, request: RequestFields): Answer | undefined {
  const verdict = evaluate(request, chosen);
  if (verdict === "failed") return preconditionFailed(chosen);
  if (verdict !== "go on") return verdict.notModified();
  // HEAD has no ranges (RFC 9110 section 14.2).
  const range = method === "GET" ? request.get("range") : undefined;
  if (range && ifRangeHolds(request, chosen)) {
    const answer = answerRange(range, chosen);
    if (answer !== "ignored") return answer;
  }
  return chosen.whole();
}

function preconditionFailed({ resource, tag }: Variant): Answer {
  return resource.general().text(412, "Precondition Failed", ["ETag", tag, ...only(resource.fields(), "Vary")]);
}

function notAcceptable(resource: Resource): Answer {
  const vary = valueOf(resource.fields(), "Vary") ?? "Accept-Encoding";
  const text = "Not Acceptable: the file is in none of the accepted content codings";
  return resource.general().text(406, text, ["Vary", vary]);
}

/** The page of an application that routes by itself; what has an extension is a file that is missing. */
function fallbackFor(path: string, { fallback }: Table): Resource | undefined {
  if (fallback === undefined || path.includes(".", path.lastIndexOf("/"))) return undefined;
  return path.startsWith(fallback.settings.basePath) ? fallback : undefined;
}

/** The file that is answered, or that a redirect leads to. */
function resourceOf(entry: Resource | Redirect, table: Table): Resource {
  return entry instanceof Resource ? entry : table.resourceNamed(entry.file)!;
}

/** The query goes along; what a server let through that is no part of a URL is encoded. */
function redirectAnswer({ status, location }: Redirect, target: string, resource: Resource): Answer {
  const query = /\?[^#]*/.exec(target)?.[0] ?? "";
  const encoded = query.replace(/[^!-~]+/g, (text) => encodeURIComponent(text.toWellFormed()));
  return new Answer(status, resource.general().beside(["Location", location + encoded, "Content-Length", "0"]));
}
