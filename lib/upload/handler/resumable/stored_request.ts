import { fieldOf } from "../../body/body_source.ts";
import type { SessionRecord } from "../../session/session_record.ts";
import type { DigestAlgorithm } from "../../../semantics/mod.ts";
import type { UploadInfo } from "../handler_options.ts";
import { headersOf } from "../incoming.ts";
import type { Exchange } from "./exchange.ts";

/** Digests in base64, by algorithm. */
export type Digests = Readonly<Partial<Record<DigestAlgorithm, string>>>;

/** The fields of a creation that tell how the representation is stored once it is whole. */
export const KEPT_FIELDS = [
  "content-encoding",
  "content-type",
  "if-match",
  "if-none-match",
  "if-unmodified-since",
  "repr-digest",
  "want-repr-digest",
] as const;

/** Returns the {@linkcode KEPT_FIELDS} of a request. */
export function keptFields({ request }: Exchange): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_FIELDS) {
    const value = fieldOf(request.source, name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** The request that created a session, as far as storing depends on it. */
export function requestOf({ method, fields }: SessionRecord, body: ReadableStream<Uint8Array> | null): Request {
  const init: RequestInit & { duplex?: "half" } = { method, headers: fields, body, ...(body && { duplex: "half" }) };
  return new Request("http://localhost/", init);
}

/** The details of an upload, as its creation told them. */
export function infoOf({ request, settings }: Exchange, record: SessionRecord): UploadInfo {
  const { method, path, contentType, filename, metadata } = record;
  return {
    method,
    path,
    contentType,
    headers: settings.name ? headersOf(request) : new Headers(),
    ...(filename !== undefined && { filename }),
    ...(metadata !== undefined && { metadata }),
  };
}
