import { fieldOf } from "../../body/body_source.ts";
import type { Incoming } from "../incoming.ts";
import type { Settings } from "../settings.ts";
import type { Fields } from "./exchange.ts";

/** Fields of requests that scripts need leave for; others they may not set without being asked for by name. */
const ASKED = [
  "Authorization",
  "Content-Digest",
  "Content-Disposition",
  "Content-Encoding",
  "Content-Type",
  "If-Match",
  "If-None-Match",
  "Repr-Digest",
  "Tus-Resumable",
  "Upload-Checksum",
  "Upload-Complete",
  "Upload-Concat",
  "Upload-Defer-Length",
  "Upload-Draft-Interop-Version",
  "Upload-Incomplete",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Offset",
  "Want-Repr-Digest",
  "X-HTTP-Method-Override",
  "X-Request-ID",
  "X-Requested-With",
].join(", ");

/** Fields of responses that scripts may see. */
const TOLD = [
  "Content-Location",
  "Location",
  "Repr-Digest",
  "Retry-After",
  "Tus-Checksum-Algorithm",
  "Tus-Extension",
  "Tus-Max-Size",
  "Tus-Resumable",
  "Tus-Version",
  "Upload-Complete",
  "Upload-Concat",
  "Upload-Defer-Length",
  "Upload-Expires",
  "Upload-Incomplete",
  "Upload-Length",
  "Upload-Limit",
  "Upload-Metadata",
  "Upload-Offset",
].join(", ");

/** How long browsers may remember what they were allowed, in s: a day, of which Chromium takes 2 hours. */
const REMEMBERED = "86400";

/**
 * The fields of CORS for pages of the origins that `allowCrossSite` lets upload.
 *
 * @returns nothing for pages of other origins, and for programs that are no browsers.
 * @see {@link https://fetch.spec.whatwg.org/#http-cors-protocol}
 */
export function corsFields({ allowedOrigins }: Settings, { method, source }: Incoming): Fields {
  const origin = fieldOf(source, "origin")?.trim();
  if (origin === undefined || allowedOrigins === false) return {};
  const vary = { Vary: "Origin" };
  if (allowedOrigins !== true && !allowedOrigins.has(origin.toLowerCase())) return vary;
  const isPreflight = method === "OPTIONS" && fieldOf(source, "access-control-request-method") !== undefined;
  return {
    ...vary,
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": TOLD,
    ...(isPreflight && {
      "Access-Control-Allow-Methods": "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT",
      "Access-Control-Allow-Headers": ASKED,
      "Access-Control-Max-Age": REMEMBERED,
    }),
  };
}
