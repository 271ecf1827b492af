import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Origin } from "./origin.ts";

/**
 * Finds an origin whose open h2 session may carry the requests of another: the same port, a certificate that was verified and is
 * good for both hosts, and an address that the other host resolves to as well.
 *
 * @returns undefined at once if there is no candidate, so that nothing waits for a name to be resolved twice.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-9.1.1}
 */
export function findAlias(
  origin: Origin,
  others: Iterable<Origin>,
  lookup: LookupFunction | undefined,
): Promise<Origin | undefined> | undefined {
  const { secure, host, port } = origin.target;
  if (!secure) return undefined;
  const candidates: Origin[] = [];
  for (const other of others) {
    if (other !== origin && other.target.secure && other.target.port === port && other.covers(host)) {
      candidates.push(other);
    }
  }
  if (candidates.length === 0) return undefined;
  return addressesOf(host, lookup ?? systemLookup).then((addresses) => {
    return candidates.find((candidate) => candidate.covers(host, addresses));
  });
}

/** A host's addresses; none if it is not resolved: whoever connects there says so. */
function addressesOf(host: string, lookup: LookupFunction): Promise<string[]> {
  return new Promise((resolve) => {
    lookup(host, { all: true }, (error, found) => {
      if (error) resolve([]);
      else resolve(typeof found === "string" ? [found] : found.map(({ address }) => address));
    });
  });
}
