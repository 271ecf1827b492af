import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Timer } from "../../timers/mod.ts";
import type { Origin } from "./origin.ts";
import type { PooledConnection } from "./connection_pool.ts";

/** An open session of another origin, whose certificate covers the host in question. */
export interface AliasCandidate {
  readonly origin: Origin;
  readonly pooled: PooledConnection;
}

/** The terms of a search. */
interface AliasTerms {
  readonly lookup: LookupFunction | undefined;
  /** In ms. A look-up that takes longer counts as one that failed. */
  readonly timeout: number;
}

/**
 * Open sessions that may carry the requests of an origin as far as certificates go: of https origins with the same port, with a
 * certificate that was verified and covers the host. Sessions whose address was found to be another are left out; so are those by a
 * proxy, of which the address is not known.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-9.1.1}
 */
export function aliasCandidates(origin: Origin, others: Iterable<Origin>): AliasCandidate[] {
  const { secure, host, port, proxy } = origin.target;
  const candidates: AliasCandidate[] = [];
  if (!secure || proxy !== undefined) return candidates;
  for (const other of others) {
    if (other === origin || other.target.proxy !== undefined) continue;
    if (!other.target.secure || other.target.port !== port) continue;
    for (const pooled of other.sessionsCovering(host)) candidates.push({ origin: other, pooled });
  }
  return candidates;
}

/**
 * A look-up of a host's addresses, to find out which of several sessions lead to it. The verdict on each session is remembered for
 * the life of its connection, also if the look-up fails or takes too long: none is asked about twice.
 */
export class AliasSearch {
  readonly #host: string;
  readonly #candidates: readonly AliasCandidate[];
  readonly #done: (alias: Origin | undefined) => void;
  readonly #timer: Timer = new Timer(() => this.#end([]));
  #over = false;

  /** @param done Called once, never within the constructor, unless the search is cancelled. */
  constructor(
    host: string,
    candidates: readonly AliasCandidate[],
    { lookup, timeout }: AliasTerms,
    done: (alias: Origin | undefined) => void,
  ) {
    this.#host = host;
    this.#candidates = candidates;
    this.#done = done;
    this.#timer.start(timeout);
    addressesOf(host, lookup ?? systemLookup).then((addresses) => this.#end(addresses), () => this.#end([]));
  }

  /** Nobody waits for the result any more. */
  cancel(): void {
    this.#over = true;
    this.#timer.stop();
  }

  #end(addresses: readonly string[]): void {
    if (this.#over) return;
    this.cancel();
    let alias: Origin | undefined;
    for (const { origin, pooled } of this.#candidates) {
      const leadsThere = addresses.includes(pooled.transport.remoteAddress ?? "");
      pooled.judge(this.#host, leadsThere);
      if (leadsThere && !pooled.connection.closing) alias ??= origin;
    }
    this.#done(alias);
  }
}

/** Resolves a host's addresses. Rejects if the look-up throws. */
function addressesOf(host: string, lookup: LookupFunction): Promise<string[]> {
  return new Promise((resolve) => {
    lookup(host, { all: true }, (error, found) => {
      if (error) resolve([]);
      else resolve(typeof found === "string" ? [found] : found.map(({ address }) => address));
    });
  });
}
