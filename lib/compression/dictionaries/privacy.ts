import type { Exchange } from "../policy.ts";

/** Fields of a request by which a response may be for one user alone. */
const OF_A_USER = ["authorization", "cookie"];

/** Whether nothing tells that a response is for one user: only then may any of it become part of a dictionary. */
export function isForNobodyAlone({ method, status, request, fields }: Exchange): boolean {
  if (method !== "GET" || status !== 200) return false;
  if (OF_A_USER.some((name) => request(name))) return false;
  if (fields.get("set-cookie") !== undefined) return false;
  if (/(?:^|[,\s])(?:private|no-store)(?:$|[,;=\s])/i.test(fields.get("cache-control") ?? "")) return false;
  return !/(?:^|[,\s])(?:\*|cookie|authorization)(?:$|[,\s])/i.test(fields.get("vary") ?? "");
}

/** Whether a response says that it is the same for everybody, and may be used again for a while, as a dictionary must. */
export function isPublic(exchange: Exchange): boolean {
  const control = exchange.fields.get("cache-control") ?? "";
  return isForNobodyAlone(exchange) && /(?:^|[,\s])public(?:$|[,\s])/i.test(control) &&
    /\b(?:max-age|stale-while-revalidate)=0*[1-9]/i.test(control) && !/\bno-cache\b/i.test(control);
}
