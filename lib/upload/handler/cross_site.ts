import type { IncomingHttpHeaders } from "node:http";
import { fieldOf } from "../body/body_source.ts";
import type { UploadRequest } from "./incoming.ts";
import { Refusal } from "../body/upload_error.ts";

/** The other sites whose pages may upload: all, none, or these origins. */
export type AllowedOrigins = boolean | ReadonlySet<string>;

/** A scheme and a host, with an optional port: `https://app.example:8443`. Applications have their own schemes. */
export const ORIGIN: RegExp = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#\\@]+\/?$/i;

/** Returns the value of the option `allowCrossSite`. @throws {TypeError} if the list of origins is empty. */
export function allowedOrigins(value: boolean | readonly string[]): AllowedOrigins {
  if (typeof value === "boolean") return value;
  if (value.length === 0) {
    throw new TypeError('allowCrossSite is empty: name an origin such as "https://app.example", or use false');
  }
  return new Set(value.map((origin) => {
    const { protocol, host } = new URL(origin); // without the scheme's default port
    return `${protocol}//${host}`.toLowerCase();
  }));
}

/**
 * Refuses requests that a page of another site made a visitor's browser send. Browsers send `Sec-Fetch-Site` to
 * trustworthy origins, and `Origin` to all; other programs send neither.
 *
 * @see {@link https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header}
 */
export function requireOwnSite(allowed: AllowedOrigins, request: UploadRequest): void {
  if (allowed === true) return;
  const origin = fieldOf(request.source, "origin")?.trim().toLowerCase();
  if (!isCrossSite(request, origin)) return;
  if (origin !== undefined && typeof allowed === "object" && allowed.has(origin)) return;
  const page = origin === undefined || origin === "null" ? "a page" : `a page of ${JSON.stringify(origin)}`;
  const hint = "the option allowCrossSite says which may upload";
  throw new Refusal("CROSS_SITE", `The upload comes from ${page}, which is another site: ${hint}`);
}

function isCrossSite(request: UploadRequest, origin: string | undefined): boolean {
  const site = fieldOf(request.source, "sec-fetch-site")?.trim().toLowerCase();
  if (site === "cross-site") return true;
  if (site === "same-origin" || site === "same-site" || site === "none") return false;
  return origin !== undefined && hostNameOf(origin) !== hostNameOf(`http://${authorityOf(request) ?? ""}`);
}

/** Returns the host name of a URL without its port, since another port is the same site; undefined if the text is not a URL. */
function hostNameOf(url: string): string | undefined {
  return ORIGIN.test(url) && URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}

function authorityOf({ source }: UploadRequest): string | undefined {
  if (typeof source.headers.get === "function") {
    const { headers, url } = source as Request;
    return headers.get("host") ?? new URL(url).host; // HTTP/2 has no Host field
  }
  const fields = source.headers as IncomingHttpHeaders;
  return (fields[":authority"] as string | undefined) ?? fields.host;
}
