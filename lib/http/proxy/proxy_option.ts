import { BlockList, isIP } from "node:net";
import process from "node:process";
import { atOnce } from "../calls.ts";
import type { ConnectTarget } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import { ProxyServer } from "./proxy_server.ts";

/**
 * The hosts that need no proxy, by NO_PROXY: separated by commas or white space, `*` for all. `example.com`, `.example.com` and `*.example.com` include hosts below.
 * Addresses and ranges such as `10.0.0.0/8` match without a look-up. All but ranges may have a port.
 */
export class NoProxy {
  readonly #exemptsAll: boolean;
  /** The hosts that are connected to directly, with those below them. */
  readonly #exemptions: { readonly host: string; readonly port: number | undefined }[] = [];
  readonly #ranges = new BlockList();

  constructor(list: string) {
    const entries = list.toLowerCase().split(/[\s,]+/).filter((entry) => entry !== "");
    this.#exemptsAll = entries.includes("*");
    for (const entry of entries) this.#read(entry);
  }

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
    // A URL cannot contain an address with a zone (RFC 4007 section 11).
    if (entry.includes("%")) return;
    const range = /^\[?([^[\]/]+)\]?\/(\d{1,3})$/.exec(entry);
    if (range !== null) {
      const [address, prefix] = [range[1], Number(range[2])];
      const family = isIP(address);
      if (family === 0 || prefix > (family === 6 ? 128 : 32)) return;
      return this.#ranges.addSubnet(address, prefix, family === 6 ? "ipv6" : "ipv4");
    }
    if (isIP(entry) === 6) return this.#add(entry, undefined);
    const parts = /^(?:\[([^\]]+)\]|\*?\.?([^:*[\]]+))(?::(\d{1,5}))?$/.exec(entry);
    if (parts === null) return;
    const port = parts[3] === undefined ? undefined : Number(parts[3]);
    this.#add(parts[1] ?? parts[2].replace(/\.$/, ""), port);
  }

  /** Adds a host. Addresses are compared in the form that URLs have. */
  #add(host: string, port: number | undefined): void {
    const family = isIP(host);
    const text = family === 6 ? new URL(`http://[${host}]/`).hostname.slice(1, -1) : host;
    if (text !== "") this.#exemptions.push({ host: text, port });
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

export class EnvironmentProxies {
  readonly #http: ProxyServer | undefined;
  readonly #https: ProxyServer | undefined;
  readonly #noProxy: NoProxy;

  /**
   * Reads the environment: lower-case names before upper-case ones; an empty variable counts as unset.
   * @throws {TypeError} if a variable is not a proxy's URL.
   * @throws Deno's error if it may not read a variable: without the permission, a request must not bypass the proxy.
   */
  constructor(environment: Variables = process.env) {
    const all = read(environment, ["all_proxy", "ALL_PROXY"]);
    this.#http = read(environment, namesForHttp(environment)) ?? all;
    this.#https = read(environment, ["https_proxy", "HTTPS_PROXY"]) ?? all;
    this.#noProxy = new NoProxy(environment.no_proxy || environment.NO_PROXY || "");
  }

  proxyOf({ secure, host, port }: ConnectTarget): ProxyServer | undefined {
    const proxy = secure ? this.#https : this.#http;
    return proxy === undefined || this.#noProxy.exempts(host, port) ? undefined : proxy;
  }
}

/** Returns the variable's names for http origins. In CGI (REQUEST_METHOD), HTTP_PROXY is a client's field Proxy; on Windows names have no case. */
function namesForHttp(environment: Variables): readonly string[] {
  if (!environment.REQUEST_METHOD) return ["http_proxy", "HTTP_PROXY"];
  return process.platform === "win32" ? [] : ["http_proxy"];
}

function read(environment: Variables, names: readonly string[]): ProxyServer | undefined {
  const name = names.find((name) => environment[name]);
  if (name === undefined) return undefined;
  const text = environment[name]!.trim();
  // `proxy.example:3128` is a usual form.
  return new ProxyServer(text.includes("://") ? text : `http://${text}`, `The environment's ${name}`);
}

type ProxyOption = string | URL | ((origin: URL) => string | URL | null | undefined);

/** Returns the proxy of an origin; undefined: none. @throws {HttpError} INVALID_OPTION if a user function throws, or returns no proxy. */
export type ProxyChoice = (origin: ConnectTarget & { readonly origin: string }) => ProxyServer | undefined;

/** @throws {TypeError} if the option is not a proxy's URL. */
export function readProxyOption(option: ProxyOption): ProxyChoice {
  if (option === "env") {
    const proxies = new EnvironmentProxies();
    return (origin) => proxies.proxyOf(origin);
  }
  if (typeof option === "function") return choiceOf(option);
  const proxy = new ProxyServer(option, "proxy");
  return () => proxy;
}

function choiceOf(choose: Extract<ProxyOption, (origin: URL) => unknown>): ProxyChoice {
  return ({ origin }) => {
    try {
      const chosen = atOnce("proxy", choose(new URL(origin)));
      if (chosen === undefined || chosen === null) return undefined;
      if (typeof chosen !== "string" && !(chosen instanceof URL)) {
        throw new TypeError("The proxy that the function gave is no URL");
      }
      return new ProxyServer(chosen, "The proxy that the function gave");
    } catch (cause) {
      const message = `Cannot choose a proxy for ${origin}: ${cause instanceof Error ? cause.message : String(cause)}`;
      throw new HttpError("INVALID_OPTION", message, { origin, cause });
    }
  };
}
