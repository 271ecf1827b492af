import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { atOnce } from "../calls.ts";
import { HttpError } from "../http_error.ts";

/**
 * The purpose of an address: the request that needs the connection.
 * @example One host of the private network, and no redirect to it
 * ```ts
 * import { HttpClient, HttpError, type HttpAddressUse } from "@millrace/streams/http";
 *
 * const allowAddress = (address: string, { host, redirect }: HttpAddressUse) =>
 *   !redirect && host === "intern.example" && address.startsWith("10.");
 * const client = new HttpClient({ allowAddress });
 * const error = await client.fetch("http://127.0.0.1:8080/").catch((error: HttpError) => error);
 * console.log(error instanceof HttpError && error.code); // ADDRESS_REFUSED
 * await client.close();
 * ```
 */
export interface HttpAddressUse {
  /** The name or address in the URL, normalized as by URL: 127.1 is 127.0.0.1; IPv6 addresses without brackets. */
  readonly host: string;
  /** The port. */
  readonly port: number;
  /** Whether a redirect leads to the host; false if the caller named it. */
  readonly redirect: boolean;
}

/** The ranges of IPv6 that can be public: global unicast, and IPv4 behind NAT64 (RFC 6052). */
const GLOBAL = "2000::/3 64:ff9b::/96";
/** The ranges that are not public: IANA's special-purpose addresses (RFC 6890), multicast, and Azure's host (168.63.129.16). */
const SPECIAL = "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 " +
  "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 " +
  "2001::/23 2001:db8::/32 2002::/16 3fff::/20";

let global: BlockList | undefined;
let special: BlockList | undefined;

/** Whether an address is public, including all addresses that it embeds. */
export function isPublicAddress(address: string): boolean {
  special ??= rangesOf(SPECIAL);
  if (isIP(address) === 4) return !special.check(address, "ipv4");
  global ??= rangesOf(GLOBAL);
  // An address with a zone (RFC 4007 section 11) is link-local.
  if (isIP(address) === 0 || address.includes("%") || !global.check(address, "ipv6")) return false;
  const bytes = ipv6Bytes(address);
  return bytes[0] === 0 ? isPublicAddress(bytes.slice(12).join(".")) : !special.check(address, "ipv6");
}

/** Returns the 16 bytes of an address, of any form, by way of the hexadecimal groups that the URL parser makes. */
export function ipv6Bytes(address: string): number[] {
  const groups = (part: string): number[] =>
    part === "" ? [] : part.split(":").flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]);
  const [head, tail = ""] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const start = groups(head);
  const end = groups(tail);
  return [...start, ...new Array<number>(16 - start.length - end.length).fill(0), ...end];
}

function rangesOf(list: string): BlockList {
  const ranges = new BlockList();
  for (const range of list.split(" ")) {
    const [address, prefix] = range.split("/");
    ranges.addSubnet(address, Number(prefix), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return ranges;
}

/** The check of a host's addresses against the option `allowAddress`: only allowed ones are connected to. */
export class AllowedAddresses {
  readonly #allow: (address: string, use: HttpAddressUse) => boolean;
  readonly #origin: string;
  readonly #use: HttpAddressUse;

  constructor(
    allow: (address: string, use: HttpAddressUse) => boolean,
    { origin, host, port, redirect }: HttpAddressUse & { readonly origin: string },
  ) {
    this.#allow = allow;
    this.#origin = origin;
    this.#use = { host, port, redirect };
  }

  /** Checks a host that needs no look-up here. @throws {HttpError} ADDRESS_REFUSED if its address is not allowed, or a proxy looks it up. */
  checkHost(looksUp: boolean): void {
    const { host } = this.#use;
    const family = isIP(host);
    if (family !== 0) this.#of([{ address: host, family }]);
    else if (!looksUp) {
      throw this.#refusal(`only the proxy looks ${host} up: use one of socks5:, or leave the check to it`);
    }
  }

  /** Restricts a look-up's results to allowed addresses. */
  lookup(lookup: LookupFunction = systemLookup as LookupFunction): LookupFunction {
    return (host, options, callback) =>
      lookup(host, { ...options, all: true }, (error, found, family) => {
        if (error) return callback(error, found, family);
        let allowed: LookupAddress[];
        try {
          allowed = this.#of(typeof found === "string" ? [{ address: found, family: isIP(found) }] : found);
        } catch (refusal) {
          return callback(refusal as HttpError, "", 0);
        }
        if (options.all) callback(null, allowed);
        else callback(null, allowed[0].address, allowed[0].family);
      });
  }

  #of(found: LookupAddress[]): LookupAddress[] {
    let cause: unknown = undefined;
    const allowed = found.filter(({ address }) => {
      try {
        return isIP(address) !== 0 && atOnce("allowAddress", this.#allow(address, this.#use)) === true;
      } catch (error) {
        cause = error;
        return false;
      }
    });
    if (allowed.length > 0) return allowed;
    throw this.#refusal(`it does not allow ${found.map(({ address }) => address).join(", ")}`, cause);
  }

  #refusal(why: string, cause?: unknown): HttpError {
    const message = `Cannot connect to ${this.#origin} because of allowAddress: ${why}`;
    return new HttpError("ADDRESS_REFUSED", message, { origin: this.#origin, cause });
  }
}
