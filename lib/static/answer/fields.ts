import {
  forDocuments,
  formatHTTPDate,
  isInUTF8,
  joinedNames,
  siteDictionaryField,
  typeOfExtension,
  useAsDictionary,
} from "../../semantics/mod.ts";
import type { Fields } from "./answer.ts";
import { requireDirectives } from "./custom_fields.ts";
import type { Resource } from "./resource.ts";
import type { TreeSettings } from "./settings.ts";

const UNKNOWN = "application/octet-stream";
/** Content types by extension in lower case; there are few extensions. */
const known = new Map<string, string>();

/** Returns the `Content-Type` of a file by its extension, with `charset=utf-8` for text. */
export function contentTypeOf(path: string): string {
  const dot = path.lastIndexOf(".");
  if (dot <= path.lastIndexOf("/")) return UNKNOWN;
  const extension = path.slice(dot + 1).toLowerCase();
  let type = known.get(extension);
  if (type === undefined) {
    type = typeOfExtension(extension) ?? UNKNOWN;
    if (isInUTF8(type)) type += "; charset=utf-8";
    known.set(extension, type);
  }
  return type;
}

const IMMUTABLE = "public, max-age=31536000, immutable";
const REVALIDATE = "no-cache";

/** Returns the fields of all answers with a representation of a resource, whichever variant they send. */
export function fieldsOf(resource: Resource, own: Headers): Fields {
  const { file, lastModified, settings } = resource;
  const fields: string[] = [];
  const add = (name: string, value: string): void => {
    if (!own.has(name) && value !== "") fields.push(name, value);
  };
  const cacheControl = own.get("cache-control") ?? cacheControlOf(file.path, settings);
  const vary = varyOf(resource, own.get("vary") ?? "");
  add("Content-Type", contentTypeOf(file.path));
  add("Cache-Control", cacheControl);
  if (lastModified !== undefined) add("Last-Modified", formatHTTPDate(lastModified));
  if (vary !== "") fields.push("Vary", vary);
  add("Use-As-Dictionary", dictionaryFieldOf(resource, cacheControl));
  const link = linkOf(resource, own.get("link"));
  if (link !== "") fields.push("Link", link);
  add("X-Content-Type-Options", "nosniff");
  for (const [name, value] of own) if (name !== "vary" && name !== "link" && value !== "") fields.push(name, value);
  return fields;
}

function cacheControlOf(path: string, settings: TreeSettings): string {
  if (settings.isImmutable(path)) return IMMUTABLE;
  const own = settings.cacheControl(path) ?? REVALIDATE;
  requireDirectives(`cacheControl, for ${path},`, own);
  return own;
}

/** Returns the field that makes browsers keep a file as a dictionary; empty if no later request could use it. */
function dictionaryFieldOf({ file, path, settings }: Resource, cacheControl: string): string {
  if (!settings.dictionaries || !isFresh(cacheControl)) return "";
  if (file.path === settings.siteDictionary?.path) return siteDictionaryField(settings.basePath);
  if (file.variants.length === 0) return "";
  const hash = settings.hashIn(file.path);
  if (!hash || !path.endsWith(file.path.slice(hash.start))) {
    // If two dictionaries match, browsers prefer one for documents to one for all requests.
    const own = useAsDictionary(path);
    return settings.siteDictionary && isDocument(file.path) ? forDocuments(own) : own;
  }
  if (hash.start === 0 || file.path[hash.start - 1] === "/") return "";
  const before = path.length - file.path.length; // the length of the path of the folder
  return useAsDictionary(path, { start: before + hash.start, end: before + hash.end });
}

/** Whether a file is a page that browsers navigate to. */
function isDocument(path: string): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)(?:;|$)/.test(contentTypeOf(path));
}

function isFresh(cacheControl: string): boolean {
  return /\b(?:max-age|stale-while-revalidate)=0*[1-9]/i.test(cacheControl) &&
    !/\bno-(?:cache|store)\b/i.test(cacheControl);
}

/** Returns the link to the site's dictionary, added to the links of `headers()`; empty if that removes the field. */
function linkOf({ file, settings }: Resource, own: string | null): string {
  const link = isDocument(file.path) ? settings.dictionaryLink() : "";
  if (own === null || own === "" || link === "") return own ?? link;
  return `${own}, ${link}`;
}

function varyOf({ variants, deltas }: Resource, own: string): string {
  const names = [own];
  if (variants.length + deltas.length > 1) names.push("Accept-Encoding");
  if (deltas.length > 0) names.push("Available-Dictionary");
  return joinedNames(names.join(","));
}
