import type { HeaderList, RequestHead } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { HttpRequestInit } from "../http_request.ts";
import { checkNumber, checkStatuses, type ResolvedOptions } from "../resolved_options.ts";
import { extractBody } from "./request_body.ts";
import { keptContent, RequestContent } from "./request_content.ts";
import { HeaderReader } from "./request_headers.ts";
import { checkedMethod, isIdempotent, type RequestTarget, targetOf } from "./request_target.ts";
import { type BodySource, StreamBody } from "./stream_body.ts";

/** Options of the client that a request may have its own value of. */
type NumberLimit =
  | "timeout"
  | "queueTimeout"
  | "headersTimeout"
  | "bodyTimeout"
  | "retries"
  | "maxRetryAfter"
  | "maxResponseSize";

/** The options of the client, as they are for one request. */
export type RequestLimits = Readonly<Pick<ResolvedOptions, NumberLimit | "retryStatuses" | "onInformational">>;

/**
 * Reads the limits of a request.
 *
 * @returns The client's own object where the request has no value of its own, as most have not: it costs them nothing.
 * @throws {HttpError} INVALID_OPTION if a value has the wrong type, or is out of range.
 */
export function limitsOf(init: HttpRequestInit, defaults: RequestLimits): RequestLimits {
  if (!hasLimits(init)) return defaults;
  const numberOf = (name: NumberLimit): number => checkedNumber(name, init[name]) ?? defaults[name];
  return {
    timeout: numberOf("timeout"),
    queueTimeout: numberOf("queueTimeout"),
    headersTimeout: numberOf("headersTimeout"),
    bodyTimeout: numberOf("bodyTimeout"),
    retries: numberOf("retries"),
    maxRetryAfter: numberOf("maxRetryAfter"),
    maxResponseSize: numberOf("maxResponseSize"),
    retryStatuses: checkedStatuses(init.retryStatuses) ?? defaults.retryStatuses,
    onInformational: checkedFunction("onInformational", init.onInformational) ?? defaults.onInformational,
  };
}

/** Whether a request has a value of its own, be it one that is refused. */
function hasLimits(init: HttpRequestInit): boolean {
  return init.timeout !== undefined || init.queueTimeout !== undefined || init.headersTimeout !== undefined ||
    init.bodyTimeout !== undefined || init.retries !== undefined || init.maxRetryAfter !== undefined ||
    init.maxResponseSize !== undefined || init.retryStatuses !== undefined || init.onInformational !== undefined;
}

/**
 * Checks a number that a request may have.
 *
 * @throws {HttpError} INVALID_OPTION if it is out of range.
 */
export function checkedNumber(name: NumberLimit, value: number | undefined): number | undefined {
  if (value !== undefined) checkedOption(() => checkNumber(name, value));
  return value;
}

function checkedStatuses(statuses: readonly number[] | undefined): readonly number[] | undefined {
  return statuses === undefined ? undefined : checkedOption(() => checkStatuses(statuses));
}

/**
 * Gives what the check of a client's option gives, for a request.
 *
 * @throws {HttpError} INVALID_OPTION if the check throws.
 */
export function checkedOption<T>(check: () => T): T {
  try {
    return check();
  } catch (cause) {
    throw new HttpError("INVALID_OPTION", (cause as Error).message, { cause });
  }
}

function checkedFunction<T>(name: "onInformational", value: T): T {
  if (value === undefined || typeof value === "function") return value;
  throw new HttpError("INVALID_OPTION", `${name} must be a function, not ${String(value)}`);
}

/** A request, validated, and ready to be sent as it is. Nobody changes its lists: requests share them. */
export interface FetchRequest extends RequestHead {
  /** With the fragment. */
  readonly url: URL;
  readonly origin: string;
  readonly method: string;
  readonly headers: HeaderList;
  readonly body: BodySource | undefined;
  readonly redirect: "follow" | "manual" | "error";
  readonly signal: AbortSignal | undefined;
  readonly idempotent: boolean;
  /** Empty: none. */
  readonly integrity: string;
  /** Whether the body waits for the server's 100 (Continue). */
  readonly expectsContinue: boolean;
  /** The client's options, but for those that the request has its own value of. */
  readonly limits: RequestLimits;
}

/** The settings of a client that apply to its requests: decompress, whether encoded responses are asked for; proxyOf, if requests may go by a proxy. */
export type RequestDefaults = RequestLimits & Pick<ResolvedOptions, "decompress" | "proxyOf">;

/**
 * Reads what fetch was called with. Never touches the network.
 *
 * @param input A URL, or a Request whose body is taken.
 * @param init Options, which override the members of a Request.
 * @param defaults The client's settings for its requests.
 * @param target The destination of the request.
 * @throws {HttpError} INVALID_URL, INVALID_METHOD, INVALID_HEADER, INVALID_BODY or INVALID_OPTION.
 */
export function readRequest(
  input: string | URL | Request,
  init: HttpRequestInit | undefined,
  defaults: RequestDefaults,
  target: RequestTarget = targetOf(isRequest(input) ? input.url : String(input)),
): FetchRequest {
  if (init !== undefined && init !== null) checkInit(init);
  const request = isRequest(input) ? input : undefined;
  try {
    return readFor(target, request, init, defaults);
  } catch (error) {
    if (!(error instanceof HttpError) || error.origin !== undefined) throw error;
    throw new HttpError(error.code, error.message, { origin: target.origin, cause: error.cause });
  }
}

function readFor(
  target: RequestTarget,
  request: Request | undefined,
  init: HttpRequestInit | undefined,
  defaults: RequestDefaults,
): FetchRequest {
  const method = checkedMethod(init?.method ?? request?.method ?? "GET");
  const headers = new HeaderReader();
  const given = init?.headers ?? request?.headers;
  if (given !== undefined) headers.readAll(given);
  if (defaults.proxyOf !== undefined) checkProxyFields(headers.list);
  const redirect = checkedRedirect(init?.redirect ?? request?.redirect ?? "follow");
  const signal = checkedSignal((init?.signal === undefined ? request?.signal : init.signal) ?? undefined);
  const limits = init === undefined || init === null ? defaults : limitsOf(init, defaults);
  let body: BodySource | undefined;
  let type: string | undefined;
  const content = init?.body ?? unreadBody(request);
  if (content !== undefined && content !== null) {
    if (method === "GET" || method === "HEAD") {
      throw new HttpError("INVALID_BODY", `A ${method} request cannot have a body: use another method`, target);
    }
    // After all else, because it locks a stream.
    const isOwn = request !== undefined && content === request.body && headers.contentLength === undefined;
    const kept = keptContent(content);
    if (kept !== undefined && headers.contentLength === undefined) body = kept;
    else if (isOwn) body = new RequestContent(new StreamBody(content as ReadableStream<Uint8Array>, undefined));
    else ({ source: body, type } = extractBody(content, headers.contentLength));
  }
  checkLength(body, headers.contentLength, target);
  // Who sends nothing must not ask whether to.
  if (body === undefined || body.length === 0) headers.expectsContinue = false;
  headers.addDefaults(type, defaults.decompress);
  return {
    url: target.url,
    origin: target.origin,
    scheme: target.scheme,
    authority: headers.host ?? target.authority,
    path: target.path,
    method,
    headers: headers.list,
    closes: headers.closes,
    expectsContinue: headers.expectsContinue,
    body,
    redirect,
    signal,
    idempotent: init?.idempotent ?? isIdempotent(method),
    integrity: init?.integrity ?? request?.integrity ?? "",
    limits,
  };
}

/**
 * The stream that a Request's body shows.
 *
 * @throws {HttpError} INVALID_BODY if somebody has read of it.
 */
export function unreadBody(request: Request | undefined): ReadableStream<Uint8Array> | undefined {
  if (request === undefined) return undefined;
  if (request.bodyUsed) throw new HttpError("INVALID_BODY", "The body of the Request has been read already");
  return request.body ?? undefined;
}

function checkLength(body: BodySource | undefined, length: number | undefined, { origin }: RequestTarget): void {
  const known = body === undefined ? 0 : body.length;
  if (length === undefined || length === known) return;
  const message = `The header content-length says ${length}, and the body has ${known} bytes`;
  throw new HttpError("INVALID_HEADER", message, { origin });
}

/** In a tunnel it would be shown to the origin. */
function checkProxyFields(headers: HeaderList): void {
  if (!headers.some((text, at) => at % 2 === 0 && text === "proxy-authorization")) return;
  const advice = "put user name and password into the proxy's URL";
  throw new HttpError("INVALID_HEADER", `The header proxy-authorization is the proxy's alone: ${advice}`);
}

/** Whether a value is a Request, also of another realm or a library's. */
export function isRequest(input: unknown): input is Request {
  return typeof input === "object" && input !== null && "headers" in input && "url" in input;
}

function checkInit(init: HttpRequestInit): void {
  if (typeof init !== "object" && typeof init !== "function") {
    throw new HttpError("INVALID_OPTION", `init must be an object, not ${String(init)}`);
  }
  const { duplex } = init;
  if (duplex === undefined || duplex === "half" || duplex === "full") return;
  throw new HttpError("INVALID_OPTION", `duplex ${JSON.stringify(duplex)} is unknown: use half or full`);
}

function checkedRedirect(redirect: FetchRequest["redirect"]): FetchRequest["redirect"] {
  if (redirect === "follow" || redirect === "manual" || redirect === "error") return redirect;
  const advice = "use follow, manual or error";
  throw new HttpError("INVALID_OPTION", `redirect ${JSON.stringify(redirect)} is unknown: ${advice}`);
}

export function checkedSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const { aborted, addEventListener } = signal as Partial<AbortSignal>;
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return signal;
  throw new HttpError("INVALID_OPTION", "signal must be an AbortSignal, or null for none");
}
