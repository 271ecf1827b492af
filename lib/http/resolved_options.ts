import { described, requireKnown } from "../streams/internal.ts";
import { MAX_TIMER_DELAY } from "../timers/mod.ts";
import type { HttpClientOptions } from "./http_client_options.ts";
import type { HttpInterceptor } from "./http_request.ts";
import { type ProxyChoice, readProxyOption } from "./proxy/proxy_option.ts";
import { checkTlsOptions } from "./tls_options.ts";

/** The range of each numeric option, from and to. */
export const ranges: Readonly<Record<NumberOption, readonly [number, number]>> = {
  connections: [1, Infinity],
  maxConcurrentStreams: [1, Infinity],
  pipelining: [1, 1024],
  connectTimeout: [0, MAX_TIMER_DELAY],
  timeout: [0, MAX_TIMER_DELAY],
  queueTimeout: [0, MAX_TIMER_DELAY],
  headersTimeout: [0, MAX_TIMER_DELAY],
  bodyTimeout: [0, MAX_TIMER_DELAY],
  idleTimeout: [0, MAX_TIMER_DELAY],
  pingInterval: [0, MAX_TIMER_DELAY],
  pingTimeout: [1, MAX_TIMER_DELAY],
  retries: [0, 1000],
  maxRetryAfter: [0, MAX_TIMER_DELAY],
  maxHeaderSize: [256, 2 ** 24],
  maxResponseSize: [0, Infinity],
  streamWindow: [1024, 2 ** 30],
  maxRedirects: [0, 1000],
};

/** The options that are numbers. */
export type NumberOption =
  | "connections"
  | "maxConcurrentStreams"
  | "pipelining"
  | "connectTimeout"
  | "timeout"
  | "queueTimeout"
  | "headersTimeout"
  | "bodyTimeout"
  | "idleTimeout"
  | "pingInterval"
  | "pingTimeout"
  | "retries"
  | "maxRetryAfter"
  | "maxHeaderSize"
  | "maxResponseSize"
  | "streamWindow"
  | "maxRedirects";

/**
 * Checks a timeout or another number by the range of its name.
 *
 * @throws {TypeError | RangeError} if it is none, or out of range.
 */
export function checkNumber(name: NumberOption, value: unknown): void {
  if (value === undefined) return;
  const [least, most] = ranges[name];
  if (typeof value !== "number") throw new TypeError(`${name} must be a number, not ${described(value)}`);
  const whole = Number.isInteger(value) || value === Infinity;
  if (whole && value >= least && value <= most) return;
  throw new RangeError(`${name} ${value} is out of range: use a whole number from ${least} to ${most}`);
}

/**
 * Checks the statuses that are retried.
 *
 * @returns a copy.
 * @throws {TypeError | RangeError} if they are no list of such statuses.
 */
export function checkStatuses(statuses: readonly number[] | undefined): readonly number[] | undefined {
  if (statuses === undefined) return undefined;
  if (!Array.isArray(statuses)) throw new TypeError(`retryStatuses must be an array, not ${String(statuses)}`);
  const wrong = statuses.find((status) => !Number.isInteger(status) || status < 400 || status > 999);
  if (wrong === undefined) return [...statuses];
  throw new RangeError(`retryStatuses cannot have ${String(wrong)}: use whole numbers from 400 to 999`);
}

/**
 * Checks interceptors.
 *
 * @returns a copy; empty if there are none.
 * @throws {TypeError} if they are no list of functions.
 */
export function checkInterceptors(interceptors: readonly HttpInterceptor[] | undefined): readonly HttpInterceptor[] {
  if (interceptors === undefined) return [];
  if (Array.isArray(interceptors) && interceptors.every((each) => typeof each === "function")) return [...interceptors];
  throw new TypeError("intercept must be an array of functions");
}

/**
 * Checks the type of an option.
 *
 * @throws {TypeError} if it is another one.
 */
export function checkType(name: string, value: unknown, type: "boolean" | "function" | "object"): void {
  if (value === undefined || (typeof value === type && value !== null)) return;
  throw new TypeError(`${name} must be ${type === "object" ? "an object" : `a ${type}`}, not ${described(value)}`);
}

/** Options that are undefined if they are not given. */
type NoDefault = "lookup" | "onInformational" | "onEvent" | "socketPath" | "connect";

/** Options with their defaults. */
export interface ResolvedOptions
  extends Required<Omit<HttpClientOptions, NoDefault | "proxy" | "idleTimeout">>, Pick<HttpClientOptions, NoDefault> {
  /** Undefined: no request goes by a proxy. */
  readonly proxyOf: ProxyChoice | undefined;
  readonly http1IdleTimeout: number;
  readonly http2IdleTimeout: number;
}

const flags = ["http2", "h2c", "coalesce", "decompress"] as const;
const callbacks = ["lookup", "onInformational", "onEvent", "connect"] as const;
const others = ["tls", "retryStatuses", "intercept", "proxy", "proxyTls", "socketPath"] as const;

const known = Object.fromEntries(
  [...others, ...Object.keys(ranges), ...flags, ...callbacks].map((name) => [name, true]),
);

/**
 * Reads options.
 *
 * @throws {TypeError} if one has the wrong type.
 * @throws {RangeError} if a number is out of range.
 */
export function resolveOptions(options: HttpClientOptions): ResolvedOptions {
  requireKnown(options, known, "HttpClient");
  for (const name of Object.keys(ranges) as NumberOption[]) checkNumber(name, options[name]);
  for (const name of flags) checkType(name, options[name], "boolean");
  for (const name of callbacks) checkType(name, options[name], "function");
  for (const name of ["tls", "proxyTls"] as const) checkType(name, options[name], "object");
  checkSocketPath(options);
  const { idleTimeout, proxy } = options;
  return {
    tls: checkTlsOptions(options.tls ?? {}),
    proxyTls: checkTlsOptions(options.proxyTls ?? {}, "proxyTls"),
    proxyOf: proxy === undefined ? undefined : readProxyOption(proxy),
    socketPath: options.socketPath,
    connect: options.connect,
    connections: options.connections ?? 256,
    maxConcurrentStreams: options.maxConcurrentStreams ?? Infinity,
    pipelining: options.pipelining ?? 1,
    http2: options.http2 ?? true,
    h2c: options.h2c ?? false,
    coalesce: options.coalesce ?? false,
    connectTimeout: options.connectTimeout ?? 10_000,
    timeout: options.timeout ?? 0,
    queueTimeout: options.queueTimeout ?? 300_000,
    headersTimeout: options.headersTimeout ?? 300_000,
    bodyTimeout: options.bodyTimeout ?? 300_000,
    http1IdleTimeout: idleTimeout ?? 4_000,
    http2IdleTimeout: idleTimeout ?? 60_000,
    pingInterval: options.pingInterval ?? 30_000,
    pingTimeout: options.pingTimeout ?? 10_000,
    retries: options.retries ?? 2,
    retryStatuses: checkStatuses(options.retryStatuses) ?? [],
    maxRetryAfter: options.maxRetryAfter ?? 30_000,
    maxHeaderSize: options.maxHeaderSize ?? 65_536,
    maxResponseSize: options.maxResponseSize ?? Infinity,
    streamWindow: options.streamWindow ?? 2 ** 20,
    decompress: options.decompress ?? true,
    maxRedirects: options.maxRedirects ?? 20,
    intercept: checkInterceptors(options.intercept),
    lookup: options.lookup,
    onInformational: options.onInformational,
    onEvent: options.onEvent,
  };
}

function checkSocketPath({ socketPath, proxy, connect }: HttpClientOptions): void {
  if (socketPath === undefined) return;
  if (typeof socketPath !== "string" || socketPath === "") {
    throw new TypeError(`socketPath must be the path of a Unix socket, not ${JSON.stringify(socketPath)}`);
  }
  if (proxy === undefined && connect === undefined) return;
  throw new TypeError(`socketPath and ${proxy ? "proxy" : "connect"} both say where connections go: give one of them`);
}
