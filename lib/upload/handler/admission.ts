import { announcedOf } from "../body/announced.ts";
import { fieldOf } from "../body/body_source.ts";
import { requireCodings } from "../body/decoded_body.ts";
import { boundaryOf } from "../form/form_parser.ts";
import { randomName } from "../form/form_options.ts";
import { nameTaken, quoted, Refusal } from "../body/upload_error.ts";
import type { UploadInfo } from "./handler_options.ts";
import { type Settings, typeOf } from "./settings.ts";
import { type Admission, headersOf, requireOwnSite, type UploadRequest } from "./incoming.ts";
import { contentCodings, essenceOf, parseBoolean } from "../../semantics/mod.ts";
import { decodePath, pathBelow, requireName } from "./naming.ts";
import { type Place, requireConditions } from "./storage.ts";

/** The supported methods, as a value of `Allow`. */
export const METHODS = "OPTIONS, POST, PUT";

export interface AdmittedFile {
  readonly name: string;
  /** The file that it replaces. */
  readonly found: Place | undefined;
}

export interface Admitted {
  readonly admission: Admission;
  readonly info: UploadInfo;
  /** The file to store the body as; undefined if it is a form. */
  readonly file: AdmittedFile | undefined;
}

/** Checks all of a request but files and bytes, so that a refused body is not sent; `isPart`: it may be resumable. */
export function admitRequest(settings: Settings, request: UploadRequest, isPart: boolean): Admission {
  const { basePath, save, allowedOrigins, sessions } = settings;
  const { method, source } = request;
  const below = pathBelow(request.target, basePath);
  if (below === undefined) throw new Refusal("NOT_FOUND", `Files are stored below ${basePath} only`);
  if (!isPart && method !== "PUT" && method !== "POST") {
    throw new Refusal("METHOD_NOT_ALLOWED", `Files are stored with PUT or POST, not ${method}`, { Allow: METHODS });
  }
  requireOwnSite(allowedOrigins, request);
  const path = decodePath(below);
  const field = (name: string): string | undefined => fieldOf(source, name)?.trim();
  // RFC 9110, section 14.5; some scripts send the pieces of a file by POST. The others are fields of resumable uploads.
  const isRange = field("content-range") !== undefined || parseBoolean(field("upload-incomplete")) === true;
  const isTus = sessions === undefined && field("tus-resumable") !== undefined;
  if (isRange || !isPart && (isTus || parseBoolean(field("upload-complete")) === false)) {
    throw new Refusal("PARTIAL_PUT", "Files are stored whole: send no part of one");
  }
  const transfer = field("transfer-encoding")?.toLowerCase();
  if (transfer && transfer !== "chunked") {
    // RFC 9112, section 6.1
    throw new Refusal("TRANSFER_CODING", `The transfer coding ${JSON.stringify(transfer)} is not known: use chunked`);
  }
  const isForm = isFormRequest(request);
  if (isPart && !isResumable(settings, request)) {
    const message = "A form, and a body whose coding is undone, is sent in one request, which is the whole upload";
    throw new Refusal("UNSUPPORTED", message, { "Accept-Encoding": "identity" });
  }
  const announced = announcedOf(source, isPart ? { ...save, maxBytes: Infinity } : save);
  const coding = field("content-encoding");
  if (save.decode && coding !== undefined) requireCodings(coding);
  if (isForm) boundaryOf(source, undefined, save.decode);
  return { path, isForm, announced };
}

export function isFormRequest({ method, source }: UploadRequest): boolean {
  return method === "POST" && essenceOf(fieldOf(source, "content-type") ?? "") === "multipart/form-data";
}

/** Whether a body can be kept as received and stored later; false for forms and bodies to decode. */
export function isResumable({ save }: Settings, request: UploadRequest): boolean {
  const coding = fieldOf(request.source, "content-encoding");
  return !isFormRequest(request) && !(save.decode && contentCodings(coding ?? "").length > 0);
}

/** Decides by the header and the names of files whether the file or form in a request is admitted; throws if it is not. */
export async function admit(
  settings: Settings,
  request: UploadRequest,
  admission: Admission,
  filename?: string,
): Promise<Admitted> {
  const { path, isForm } = admission;
  const { method } = request;
  const given = fieldOf(request.source, "content-type");
  const contentType = isForm ? given! : typeOf(settings.accept, given, path, "application/octet-stream");
  const headers = settings.name ? headersOf(request) : new Headers();
  const info = { method, path, contentType, headers, ...(filename !== undefined && { filename }) };
  return { admission, info, file: isForm ? undefined : await requireFile(settings, info, request) };
}

/** @throws {Refusal} `NOT_FOUND` if `name()` gives a file no name; other errors of {@linkcode admitFile}. */
export async function requireFile(
  settings: Settings,
  info: UploadInfo,
  request?: Pick<UploadRequest, "method" | "source">,
): Promise<AdmittedFile> {
  const file = await admitFile(settings, info, request);
  if (file === undefined) throw new Refusal("NOT_FOUND", "There is no place for this file");
  return file;
}

/** Checks a file's type and names, the file it replaces, and a PUT's conditions; undefined if `name()` gives none. */
export async function admitFile(
  settings: Settings,
  info: UploadInfo,
  request?: Pick<UploadRequest, "method" | "source">,
): Promise<AdmittedFile | undefined> {
  const { accept, extensions, storage, save } = settings;
  if (accept && !accept.accepts(info.contentType)) {
    const message = `The type ${JSON.stringify(info.contentType)} is not accepted: use ${accept}`;
    // RFC 9110, section 12.5.1: `Accept` in a response lists the types that requests may have.
    throw new Refusal("UNSUPPORTED", message, { Accept: String(accept) });
  }
  // An accepted type takes precedence over an extension, which clients choose, unless that is accepted, too.
  const typeSaysMore = accept !== undefined && extensions === undefined;
  const name = settings.name
    ? await settings.name(info)
    : info.method === "PUT"
    ? info.path
    : randomName(typeSaysMore ? "" : info.filename ?? "", essenceOf(info.contentType), extensions);
  if (name === undefined) return undefined;
  if (typeof name !== "string") throw new TypeError(`name() must give a path or undefined, not ${String(name)}`);
  requireName(name, settings);
  if (info.filename !== undefined) requireExtension(settings, info.filename);
  requireExtension(settings, name);
  const found = await storage.look(name);
  if (request?.method === "PUT") requireConditions(request.source, found);
  if (found === undefined || save.overwrite) return { name, found };
  throw nameTaken(name);
}

/** Requires an accepted extension: the last one of the name counts, in any case. */
function requireExtension({ extensions }: Settings, name: string): void {
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  if (extensions === undefined) return;
  if (extensions.some((ending) => last.endsWith(ending) && last.length > ending.length)) return;
  const message = `A file of the name ${quoted(name)} is not accepted: names must end in ${extensions.join(", ")}`;
  throw new Refusal("UNSUPPORTED", message);
}
