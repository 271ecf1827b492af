import process from "node:process";
import { NoProxy } from "./no_proxy.ts";
import { ProxyServer } from "./proxy_server.ts";

/** The environment's variables. */
type Variables = Readonly<Record<string, string | undefined>>;

/** The proxies that the environment names, read once, by the rules of curl. */
export class EnvironmentProxies {
  readonly #http: ProxyServer | undefined;
  readonly #https: ProxyServer | undefined;
  readonly #noProxy: NoProxy;

  /**
   * Reads the environment: lower-case names before upper-case ones; a variable that is empty counts as one that is not set.
   *
   * @throws {TypeError} if a variable names no proxy.
   * @throws Deno's error if it may not read a variable: a request must not go directly for want of a permission.
   */
  constructor(environment: Variables = process.env) {
    const all = read(environment, ["all_proxy", "ALL_PROXY"]);
    this.#http = read(environment, namesForHttp(environment)) ?? all;
    this.#https = read(environment, ["https_proxy", "HTTPS_PROXY"]) ?? all;
    this.#noProxy = new NoProxy(environment.no_proxy || environment.NO_PROXY || "");
  }

  /** The proxy of an origin; undefined if there is none. */
  proxyOf(
    { secure, host, port }: { readonly secure: boolean; readonly host: string; readonly port: number },
  ): ProxyServer | undefined {
    const proxy = secure ? this.#https : this.#http;
    return proxy === undefined || this.#noProxy.exempts(host, port) ? undefined : proxy;
  }
}

/**
 * The names of the variable for http origins. In a CGI program, which REQUEST_METHOD tells, HTTP_PROXY is what a client sent as its
 * header field Proxy; Windows does not tell the cases of names apart.
 */
function namesForHttp(environment: Variables): readonly string[] {
  if (!environment.REQUEST_METHOD) return ["http_proxy", "HTTP_PROXY"];
  return process.platform === "win32" ? [] : ["http_proxy"];
}

function read(environment: Variables, names: readonly string[]): ProxyServer | undefined {
  const name = names.find((name) => environment[name]);
  if (name === undefined) return undefined;
  const text = environment[name]!.trim();
  // `proxy.example:3128` is a usual way to write it.
  return new ProxyServer(text.includes("://") ? text : `http://${text}`, `The environment's ${name}`);
}
