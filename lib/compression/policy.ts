import { isEncoderLoaded } from "../codecs/internal.ts";
import { acceptedCodings, ifMatchHolds, isCompressibleType, joinedNames, namesNotWith } from "../semantics/mod.ts";
import type { BodyRecorder } from "./dictionaries/recorders.ts";
import { type CompressionCoding, formatOf, type Settings } from "./options.ts";

/** The header fields of a response, to be read and changed. Names are in lower case. */
export interface ResponseFields {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  delete(name: string): void;
}

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly accepted: string | null | undefined;
  readonly status: number;
  /** Returns a field of the request; names are in lower case. */
  readonly request: (name: string) => string | null | undefined;
  readonly fields: ResponseFields;
}

export interface Encoding {
  readonly coding: CompressionCoding | DictionaryCoding;
  /** The dictionary of a {@linkcode DictionaryCoding}. */
  readonly dictionary: Uint8Array | undefined;
  /** The recorder of the body, if it may become a dictionary. */
  readonly recorder: BodyRecorder | undefined;
  /** The body's length in bytes by `Content-Length`: clients could not see that a compressed body ends too early. */
  readonly length: number | undefined;
}

/** A content coding with a dictionary (RFC 9842). */
export type DictionaryCoding = "dcz" | "dcb";

/** Fields that describe the bytes of the uncompressed body, not of the encoded one. */
const OF_THE_BYTES = namesNotWith("encoded");

/** Chooses the coding of a response (RFC 9110, 12.5.3), and adds to its `Vary`; undefined to send it uncompressed. */
export function chooseCoding(settings: Settings, exchange: Exchange, length?: number): Encoding | undefined {
  const { status, fields } = exchange;
  if (!mayBeCoded(settings, exchange)) return undefined;
  if (status === 304) return void revalidate(settings, exchange);
  if (!isAllowed(settings, exchange)) return undefined;
  addToVary(fields, "Accept-Encoding");
  // A 206 needs the Vary of the whole representation (15.3.7).
  if (status === 206 || fields.get("content-range") !== undefined) return undefined;
  const use = settings.dictionaries?.useFor(exchange);
  const field = fields.get("content-length") ?? "";
  const claimed = /^\d+$/.test(field) ? Number(field) : undefined;
  const known = claimed ?? length;
  if (known !== undefined && (known < settings.threshold || known === 0)) return undefined;
  const coding = preferred(settings, exchange.accepted);
  const delta = use?.dictionary && withDictionary(settings, exchange.accepted, coding);
  if (coding === undefined && delta === undefined) return undefined;
  use?.offer();
  const dictionary = delta && use!.dictionary!.bytes;
  return { coding: delta ?? coding!, dictionary, recorder: use?.recorder, length: claimed };
}

/** Returns the coding with a dictionary that the client prefers, if it accepts it with at least the weight of `other`. */
function withDictionary(
  { codings }: Settings,
  accepted: string | null | undefined,
  other: CompressionCoding | undefined,
): DictionaryCoding | undefined {
  const weights = acceptedCodings(accepted);
  const usable = codings.filter((coding) => coding !== "gzip" && isEncoderLoaded(formatOf[coding]))
    .map((coding): DictionaryCoding => coding === "zstd" ? "dcz" : "dcb");
  const [best] = usable.toSorted((a, b) => weights[b] - weights[a]);
  if (best === undefined || weights[best] === 0) return undefined;
  return weights[best] >= weights[other ?? "identity"] ? best : undefined;
}

/** Changes the header fields of a response whose body is encoded with `coding`. */
export function markEncoded(fields: ResponseFields, coding: Encoding["coding"]): void {
  for (const name of OF_THE_BYTES) fields.delete(name);
  fields.set("content-encoding", coding);
  weakenTag(fields);
}

/** Whether a response has a body that may be encoded, or may confirm an encoded one: a 304 needs no type. */
function mayBeCoded({ types }: Settings, { method, status, fields }: Exchange): boolean {
  if (status < 200 || status === 204 || status === 205 || method === "CONNECT") return false;
  if (!/^(?:identity)?$/i.test(fields.get("content-encoding") ?? "")) return false;
  if (/(?:^|,)\s*no-transform\s*(?:,|$)/i.test(fields.get("cache-control") ?? "")) return false;
  const type = fields.get("content-type");
  if (type === undefined) return status === 304;
  return isCompressibleType(type) || MORE_TYPES.test(type) || Boolean(types?.accepts(type));
}

/** Compressible types of text and of records, in addition to those of the MIME database. */
const MORE_TYPES = new RegExp(
  String
    .raw`^application/(?:(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines|yaml|protobuf|msgpack)|json-seq|cbor|cbor-seq|` +
    String.raw`graphql|sql|sparql-query|n-triples|n-quads|trig|[^;\s]+\+(?:yaml|cbor|json-seq|protobuf))\s*(?:;|$)`,
  "i",
);

function isAllowed({ filter, warn }: Settings, { method, url, status, fields }: Exchange): boolean {
  try {
    const allows: unknown = filter?.({ method, url, status, header: (name) => fields.get(name.toLowerCase()) }) ?? true;
    if (!(allows instanceof Promise)) return Boolean(allows);
    warn("a response is not compressed: the filter has returned a promise, which nothing waits for");
    allows.catch(() => {}); // no unhandled rejection beside the warning
    return false;
  } catch (error) {
    warn(`a response is not compressed: the filter has thrown ${String(error)}`);
    return false;
  }
}

/** Returns the coding that {@linkcode likedBest} chooses among those whose codec is loaded. */
export function preferred({ codings }: Settings, accepted: string | null | undefined): CompressionCoding | undefined {
  return likedBest(codings, accepted, (coding) => isEncoderLoaded(formatOf[coding]));
}

/** Returns the coding that a client accepts with the highest weight, if that is not below that of no coding; among equals, the first. */
export function likedBest<Coding extends CompressionCoding>(
  codings: readonly Coding[],
  accepted: string | null | undefined,
  isUsable: (coding: Coding) => boolean,
): Coding | undefined {
  const weights = acceptedCodings(accepted);
  const isLiked = (coding: Coding): boolean => weights[coding] > 0 && weights[coding] >= weights.identity;
  const usable = codings.filter((coding) => isLiked(coding) && isUsable(coding));
  return usable.toSorted((a, b) => weights[b] - weights[a])[0];
}

/** Updates the fields of a 304 to those of the response that it confirms (RFC 9110, section 15.4.5). */
function revalidate(settings: Settings, { accepted, url, request, fields }: Exchange): void {
  addToVary(fields, "Accept-Encoding");
  if (settings.dictionaries?.mayUseFor(url)) addToVary(fields, "Available-Dictionary");
  if (preferred(settings, accepted) === undefined) return;
  fields.delete("content-length"); // it is not the length of the encoded bytes (8.6)
  const tag = fields.get("etag");
  if (tag === undefined) return;
  // A strong tag that the client has belongs to a body sent unencoded, such as a file that was compressed already.
  if (!ifMatchHolds(request("if-none-match") ?? "", tag)) weakenTag(fields);
}

/** Weakens a strong tag: it identifies the bytes of the unencoded body only (RFC 9110, section 8.8.3). */
function weakenTag(fields: ResponseFields): void {
  const tag = fields.get("etag");
  if (tag?.startsWith('"')) fields.set("etag", `W/${tag}`);
}

export function addToVary(fields: ResponseFields, name: string): void {
  const before = fields.get("vary") ?? "";
  const joined = joinedNames(`${before}, ${name}`);
  if (joined !== joinedNames(before)) fields.set("vary", joined);
}
