import { fieldOf } from "../../body/body_source.ts";
import { requireOwnSite } from "../cross_site.ts";
import type { Incoming } from "../incoming.ts";
import type { Settings } from "../settings.ts";
import { answerDraft, createsByDraft } from "./draft.ts";
import { type Exchange, failed, type Fields, type Outcome, sessionIn } from "./exchange.ts";
import { maxSizeOf, uploadLimit } from "./limits.ts";
import { answerTus } from "./tus.ts";
import { CHECKSUMS, EXTENSIONS, VERSION } from "./tus_fields.ts";

/** The methods of a session's resource. */
const METHODS: readonly string[] = ["DELETE", "GET", "HEAD", "PATCH"];

/** The method that counts: clients that cannot send PATCH or DELETE send POST, and say so. */
function methodOf({ method, source }: Incoming): string {
  if (method !== "POST" || fieldOf(source, "tus-resumable") === undefined) return method;
  return fieldOf(source, "x-http-method-override")?.trim().toUpperCase() ?? method;
}

/** Whether a request is for the resource of a session. */
export function isForSession({ basePath, sessions }: Settings, request: Incoming): boolean {
  return sessions !== undefined && sessionIn(request, basePath) !== undefined && METHODS.includes(methodOf(request));
}

/**
 * Answers a request of a protocol for resumable uploads. Never rejects.
 *
 * @returns undefined if it is of none.
 */
export async function answerResumable(exchange: Exchange): Promise<Outcome | undefined> {
  const { settings, request } = exchange;
  const isTus = fieldOf(request.source, "tus-resumable") !== undefined;
  const method = methodOf(request);
  const isForOne = isForSession(settings, request);
  // Of tus, whatever method it says: its data is no file.
  const isCreation = isTus ? request.method === "POST" : createsByDraft(request);
  if (!isForOne && !isCreation) return undefined;
  const id = isForOne ? sessionIn(request, settings.basePath) : undefined;
  try {
    requireOwnSite(settings.allowedOrigins, request);
  } catch (error) {
    return failed(exchange, error, isTus ? { "Tus-Resumable": VERSION } : {});
  }
  return isTus ? await answerTus(exchange, method, id) : await answerDraft(exchange, id);
}

/** Returns the fields that announce both protocols in the response to `OPTIONS`. */
export function capabilities(settings: Settings): Fields {
  const maxSize = maxSizeOf(settings);
  return {
    "Tus-Resumable": VERSION,
    "Tus-Version": VERSION,
    "Tus-Extension": EXTENSIONS,
    "Tus-Checksum-Algorithm": CHECKSUMS,
    ...(maxSize !== Infinity && { "Tus-Max-Size": String(maxSize) }),
    "Upload-Limit": uploadLimit(settings, undefined),
  };
}
