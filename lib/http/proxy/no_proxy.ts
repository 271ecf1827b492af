import { BlockList, isIP } from "node:net";

/** A host that is asked for directly, with those below it. */
interface Exemption {
  readonly host: string;
  /** Undefined: any. */
  readonly port: number | undefined;
}

/**
 * The hosts that need no proxy, as NO_PROXY lists them: separated by commas or white space, `*` for all; `example.com`, with those
 * below it, as are `.example.com` and `*.example.com`; addresses, and ranges such as `10.0.0.0/8`; each but ranges with a port, if
 * it is for that port alone. Names are not looked up.
 */
export class NoProxy {
  readonly #exemptsAll: boolean;
  readonly #exemptions: Exemption[] = [];
  readonly #ranges = new BlockList();

  /** Reads a list. What is neither a name nor an address is for no host. */
  constructor(list: string) {
    const entries = list.toLowerCase().split(/[\s,]+/).filter((entry) => entry !== "");
    this.#exemptsAll = entries.includes("*");
    for (const entry of entries) this.#read(entry);
  }

  /**
   * Whether a host needs no proxy.
   *
   * @param host A name or an address, without brackets.
   */
  exempts(host: string, port: number): boolean {
    if (this.#exemptsAll) return true;
    const name = host.toLowerCase().replace(/\.$/, "");
    const family = isIP(name);
    if (family !== 0 && this.#ranges.check(name, family === 6 ? "ipv6" : "ipv4")) return true;
    return this.#exemptions.some((exemption) => {
      if (exemption.port !== undefined && exemption.port !== port) return false;
      return name === exemption.host || (family === 0 && name.endsWith(`.${exemption.host}`));
    });
  }

  #read(entry: string): void {
    // An address with a zone (RFC 4007 section 11) stands in no URL.
    if (entry.includes("%")) return;
    const range = /^\[?([^[\]/]+)\]?\/(\d{1,3})$/.exec(entry);
    if (range !== null) return this.#readRange(range[1], Number(range[2]));
    if (isIP(entry) === 6) return this.#add(entry, undefined);
    const parts = /^(?:\[([^\]]+)\]|\*?\.?([^:*[\]]+))(?::(\d{1,5}))?$/.exec(entry);
    if (parts === null) return;
    const port = parts[3] === undefined ? undefined : Number(parts[3]);
    this.#add(parts[1] ?? parts[2].replace(/\.$/, ""), port);
  }

  #readRange(address: string, prefix: number): void {
    const family = isIP(address);
    if (family === 0 || prefix > (family === 6 ? 128 : 32)) return;
    this.#ranges.addSubnet(address, prefix, family === 6 ? "ipv6" : "ipv4");
  }

  /** Addresses are compared in the form that URLs have them in. */
  #add(host: string, port: number | undefined): void {
    const family = isIP(host);
    const text = family === 6 ? new URL(`http://[${host}]/`).hostname.slice(1, -1) : host;
    if (text !== "") this.#exemptions.push({ host: text, port });
  }
}
