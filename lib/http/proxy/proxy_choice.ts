import { HttpError } from "../http_error.ts";
import { EnvironmentProxies } from "./environment_proxies.ts";
import { ProxyServer } from "./proxy_server.ts";

/** The option `proxy`. */
export type ProxyOption = string | URL | ((origin: URL) => string | URL | null | undefined);

/** An origin whose requests may go by a proxy. */
export interface ProxiedOrigin {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly secure: boolean;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

/**
 * The proxy of an origin; undefined: none.
 *
 * @throws {HttpError} INVALID_OPTION if a function of the user's throws, or names no proxy.
 */
export type ProxyChoice = (origin: ProxiedOrigin) => ProxyServer | undefined;

/** How many proxies that a function has named are kept, each with what was parsed of it. */
const MOST_KEPT = 256;

/**
 * Reads the option `proxy`.
 *
 * @throws {TypeError} if it names no proxy.
 */
export function readProxyOption(option: ProxyOption): ProxyChoice {
  if (option === "env") {
    const proxies = new EnvironmentProxies();
    return (origin) => proxies.proxyOf(origin);
  }
  if (typeof option === "function") return choiceOf(option);
  if (typeof option !== "string" && !(option instanceof URL)) {
    const kinds = 'a URL, a function that returns one, or "env"';
    throw new TypeError(`proxy must be ${kinds}, not ${Object.prototype.toString.call(option)}`);
  }
  const proxy = new ProxyServer(option, "proxy");
  return () => proxy;
}

function choiceOf(choose: Extract<ProxyOption, (origin: URL) => unknown>): ProxyChoice {
  const kept = new Map<string, ProxyServer>();
  return ({ origin }) => {
    try {
      const chosen = choose(new URL(origin));
      if (chosen === undefined || chosen === null) return undefined;
      if (typeof chosen !== "string" && !(chosen instanceof URL)) {
        throw new TypeError("The proxy that the function gave is no URL");
      }
      const key = String(chosen);
      const known = kept.get(key);
      if (known !== undefined) return known;
      if (kept.size >= MOST_KEPT) kept.clear();
      const proxy = new ProxyServer(chosen, "The proxy that the function gave");
      kept.set(key, proxy);
      return proxy;
    } catch (cause) {
      const message = `Cannot choose a proxy for ${origin}: ${cause instanceof Error ? cause.message : String(cause)}`;
      throw new HttpError("INVALID_OPTION", message, { origin, cause });
    }
  };
}
