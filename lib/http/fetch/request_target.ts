import { HttpError } from "../http_error.ts";

/** Where a request goes. */
export interface RequestTarget {
  /** Nobody changes it: requests share it. */
  readonly url: URL;
  readonly origin: string;
  readonly scheme: "http" | "https";
  /** Host and port. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
}

/** The targets of late, by the text that they were parsed from: parsing takes most of the time of reading a request. */
const known = new Map<string, RequestTarget>();
/** How many are kept. */
const MOST_KNOWN = 256;
/** Longer URLs are not kept. */
const LONGEST_KEPT = 512;

/**
 * Reads a URL.
 *
 * @throws {HttpError} INVALID_URL if it is none that can be fetched.
 */
export function targetOf(text: string): RequestTarget {
  const found = known.get(text);
  if (found !== undefined) return found;
  const target = targetOfUrl(parse(text));
  if (text.length > LONGEST_KEPT) return target;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, target);
  return target;
}

/**
 * The same of a URL that is parsed, and that nobody changes.
 *
 * @throws {HttpError} INVALID_URL if it is none that can be fetched.
 */
export function targetOfUrl(url: URL): RequestTarget {
  const { protocol, host } = url;
  if (protocol !== "https:" && protocol !== "http:") {
    throw new HttpError("INVALID_URL", `Cannot fetch ${shown(url.href)}: use a URL of http: or https:`);
  }
  if (url.username !== "" || url.password !== "") {
    const bare = new URL(url);
    bare.username = bare.password = "";
    const advice = "send what it says in an authorization header";
    throw new HttpError(
      "INVALID_URL",
      `Cannot fetch ${shown(bare.href)} with a user name or password in the URL: ${advice}`,
    );
  }
  if (url.port === "0") throw new HttpError("INVALID_URL", `Cannot fetch ${shown(url.href)}: port 0 is no port`);
  const scheme = protocol === "https:" ? "https" : "http";
  return { url, origin: `${scheme}://${host}`, scheme, authority: host, path: url.pathname + url.search };
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw new HttpError("INVALID_URL", `Cannot fetch ${shown(text)}: it is no absolute URL`, { cause });
  }
}

function shown(url: string): string {
  return JSON.stringify(url.length > 200 ? `${url.slice(0, 200)}…` : url);
}
