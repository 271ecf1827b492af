import { Buffer } from "node:buffer";
import { isIP } from "node:net";

const defaultPorts: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "socks5:": 1080,
  "socks5h:": 1080,
};

/** The maximum of lengths that RFC 1929 stores in a byte. */
const MAX_SOCKS_FIELD = 255;

/** A proxy: its address, its protocol and its credentials, in private fields so that they are not printed. */
export class ProxyServer {
  readonly protocol: "http" | "socks5";
  readonly secure: boolean;
  /** Whether the proxy resolves names itself, as all but those of `socks5:` do. */
  readonly resolves: boolean;
  readonly host: string;
  readonly port: number;
  /** The scheme, host and port: the parts that may be shown. */
  readonly url: string;
  readonly #user: Buffer | undefined;
  readonly #password: Buffer;

  /** @throws {TypeError} if it is not a proxy's URL. The message contains neither user nor password. */
  constructor(given: string | URL, what: string) {
    if (!URL.canParse(given)) throw noUrl(what); // without the text, which may contain a password
    const url = new URL(given);
    const { protocol, hostname } = url;
    const ports = defaultPorts[protocol];
    // Without a scheme, the user name is before the first colon.
    if (ports === undefined && url.pathname.includes("@")) throw noUrl(what);
    if (ports === undefined) {
      throw new TypeError(`${what} has the scheme ${protocol} use a URL of http:, https:, socks5: or socks5h:`);
    }
    if (hostname === "") throw new TypeError(`${what} names no host: use a URL such as http://proxy.example:3128`);
    this.protocol = protocol.startsWith("socks5") ? "socks5" : "http";
    this.secure = protocol === "https:";
    this.resolves = protocol !== "socks5:";
    this.host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
    this.port = url.port === "" ? ports : Number(url.port);
    this.url = `${protocol}//${isIP(this.host) === 6 ? `[${this.host}]` : this.host}:${this.port}`;
    const user = decoded(url.username, what);
    this.#password = decoded(url.password, what);
    this.#user = user.length > 0 || this.#password.length > 0 ? user : undefined;
    this.#checkCredentials(what);
  }

  get authorization(): string | undefined {
    if (this.#user === undefined) return undefined;
    return `Basic ${Buffer.concat([this.#user, Buffer.from(":"), this.#password]).toString("base64")}`;
  }

  get key(): string {
    if (this.#user === undefined) return this.url;
    // The value of Basic would be ambiguous: a user name for SOCKS5 may contain a colon.
    return `${this.url} ${this.#user.toString("base64")}:${this.#password.toString("base64")}`;
  }

  /** User and password, which may be empty, as SOCKS5 sends them. */
  get credentials(): { readonly user: Uint8Array; readonly password: Uint8Array } | undefined {
    return this.#user && { user: this.#user, password: this.#password };
  }

  #checkCredentials(what: string): void {
    if (this.#user === undefined) return;
    // https://www.rfc-editor.org/rfc/rfc7617#section-2
    if (this.protocol === "http" && this.#user.includes(":")) {
      throw new TypeError(`${what} has a user name with a colon, which Basic authentication cannot send`);
    }
    const longest = Math.max(this.#user.length, this.#password.length);
    if (this.protocol === "socks5" && longest > MAX_SOCKS_FIELD) {
      throw new TypeError(`${what} has a user name or password of more than 255 bytes, which SOCKS5 cannot send`);
    }
  }
}

function noUrl(what: string): TypeError {
  return new TypeError(`${what} is no absolute URL: use one such as http://proxy.example:3128`);
}

function decoded(part: string, what: string): Buffer {
  try {
    return Buffer.from(decodeURIComponent(part));
  } catch {
    throw new TypeError(`${what} has a user name or password that is not percent-encoded UTF-8: write % as %25`);
  }
}
