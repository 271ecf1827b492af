/** How long clients keep a response. */
export interface Lifetime {
  readonly isStored: boolean;
  /** In seconds, without asking again; 0 if they ask each time. */
  readonly fresh: number;
  /** Whether it has what they can ask by. */
  readonly hasValidator: boolean;
}

/** Reads the fields of a response that say how long it is kept (RFC 9111, section 4.2.1). */
export function lifetimeOf(headers: Headers): Lifetime {
  const directives = directivesOf(headers.get("cache-control") ?? "");
  const hasValidator = headers.has("etag") || headers.has("last-modified");
  return { isStored: !directives.has("no-store"), fresh: freshness(directives, headers), hasValidator };
}

function freshness(directives: ReadonlyMap<string, string>, headers: Headers): number {
  if (directives.has("no-cache") || directives.has("no-store")) return 0;
  const maxAge = directives.get("max-age");
  if (maxAge !== undefined) return /^\d+$/.test(maxAge) ? Number(maxAge) : 0;
  const expires = Date.parse(headers.get("expires") ?? "");
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  return Number.isNaN(expires) ? 0 : Math.max(0, (expires - now) / 1000);
}

function directivesOf(field: string): Map<string, string> {
  return new Map(
    field.toLowerCase().split(",").map((part) => {
      const [name = "", value = ""] = part.split("=", 2);
      return [name.trim(), value.trim().replace(/^"(.*)"$/, "$1")];
    }),
  );
}
