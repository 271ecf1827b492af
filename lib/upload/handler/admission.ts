import { announcedOf } from "../body/announced.ts";
import { fieldOf } from "../body/body_source.ts";
import { requireCodings } from "../body/decoded_body.ts";
import { boundaryOf } from "../form/form_parser.ts";
import { randomName } from "../form/form_options.ts";
import { nameTaken, quoted, Refusal } from "../body/upload_error.ts";
import { requireOwnSite } from "./cross_site.ts";
import type { UploadInfo } from "./handler_options.ts";
import { type Settings, typeOf } from "./settings.ts";
import { headersOf, type UploadRequest } from "./incoming.ts";
import { essenceOf } from "../../semantics/mod.ts";
import { decodePath, pathBelow, requireName } from "./naming.ts";
import { type Place, requireConditions } from "./storage.ts";

/** The supported methods, as a value of `Allow`. */
export const METHODS = "OPTIONS, POST, PUT";

export interface Admitted {
  readonly info: UploadInfo;
  /** The file to store the body as; undefined if it is a form. */
  readonly file: { readonly name: string; readonly found: Place | undefined } | undefined;
}

/** Decides by the header and the names of files whether a request is admitted; throws if it is not. */
export async function admit(settings: Settings, request: UploadRequest): Promise<Admitted> {
  const { method, source } = request;
  const below = pathBelow(request.target, settings.basePath);
  if (below === undefined) throw new Refusal("NOT_FOUND", `Files are stored below ${settings.basePath} only`);
  if (method !== "PUT" && method !== "POST") {
    throw new Refusal("METHOD_NOT_ALLOWED", `Files are stored with PUT or POST, not ${method}`, { Allow: METHODS });
  }
  requireOwnSite(settings.allowedOrigins, request);
  const path = decodePath(below);
  const given = fieldOf(source, "content-type");
  const isForm = method === "POST" && essenceOf(given ?? "") === "multipart/form-data";
  requireBody(settings, request, isForm);
  const contentType = isForm ? given! : typeOf(settings.accept, given, path, "application/octet-stream");
  if (!isForm) requireType(settings, contentType);
  const headers = settings.name ? headersOf(request) : new Headers();
  const info = { method, path, contentType, headers };
  if (isForm) return { info, file: undefined };
  const name = await nameOf(settings, info);
  if (name === undefined) throw new Refusal("NOT_FOUND", "There is no place for this file");
  return { info, file: { name, found: await requirePlace(settings, name, request) } };
}

/** Returns the name of a file; undefined if it is refused. Throws if the name is invalid or reserved. */
export async function nameOf(settings: Settings, info: UploadInfo): Promise<string | undefined> {
  const { method, path, contentType } = info;
  const byDefault = (): string => method === "PUT" ? path : randomName("", essenceOf(contentType));
  const name = settings.name ? await settings.name(info) : byDefault();
  if (name === undefined) return undefined;
  if (typeof name !== "string") throw new TypeError(`name() must give a path or undefined, not ${String(name)}`);
  requireName(name, settings);
  requireExtension(settings, name);
  return name;
}

/** Requires an accepted extension: the last one of the name counts, in any case. */
export function requireExtension({ extensions }: Settings, name: string): void {
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  if (extensions === undefined) return;
  if (extensions.some((ending) => last.endsWith(ending) && last.length > ending.length)) return;
  const message = `A file of the name ${quoted(name)} is not accepted: names must end in ${extensions.join(", ")}`;
  throw new Refusal("UNSUPPORTED", message);
}

export function requireType({ accept }: Settings, contentType: string): void {
  if (accept === undefined || accept.accepts(contentType)) return;
  const message = `The type ${JSON.stringify(contentType)} is not accepted: use ${accept}`;
  // RFC 9110, section 12.5.1: `Accept` in a response lists the types that requests may have.
  throw new Refusal("UNSUPPORTED", message, { Accept: String(accept) });
}

/** Checks everything about a body that needs none of its bytes, so that a refused body is not requested. */
function requireBody({ save }: Settings, { source }: UploadRequest, isForm: boolean): void {
  if (fieldOf(source, "content-range") !== undefined) {
    // RFC 9110, section 14.5; some scripts send the pieces of a file by POST.
    throw new Refusal("PARTIAL_PUT", "Files are stored whole: send no Content-Range");
  }
  const transfer = fieldOf(source, "transfer-encoding")?.trim().toLowerCase();
  if (transfer && transfer !== "chunked") {
    // RFC 9112, section 6.1
    throw new Refusal("TRANSFER_CODING", `The transfer coding ${JSON.stringify(transfer)} is not known: use chunked`);
  }
  announcedOf(source, save);
  const coding = fieldOf(source, "content-encoding");
  if (save.decode && coding !== undefined) requireCodings(coding);
  if (isForm) boundaryOf(source, undefined, save.decode);
}

/** Returns the file that the upload may replace, if there is one. The conditions of a PUT `request` must hold. */
export async function requirePlace(
  { storage, save }: Settings,
  name: string,
  request?: Pick<UploadRequest, "method" | "source">,
): Promise<Place | undefined> {
  const status = await storage.look(name);
  if (request?.method === "PUT") requireConditions(request.source, status);
  if (status === undefined || save.overwrite) return status;
  throw nameTaken(name);
}
