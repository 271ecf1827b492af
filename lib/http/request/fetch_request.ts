import { bool, func, type Member, nearest, oneOf, schema, type SchemaOf, signal } from "../../streams/internal.ts";
import type { HeaderList, RequestHead } from "../connection.ts";
import { httpClientOptions, type ResolvedOptions } from "../http_client_options.ts";
import { HttpError } from "../http_error.ts";
import type { HttpRequestInit } from "../http_request.ts";
import { extractBody, RequestContent } from "./request_body.ts";
import { HeaderReader } from "./request_headers.ts";
import { checkedMethod, isIdempotent, type RequestTarget, targetOf } from "./request_target.ts";
import { RequestTrailers, trailersOption } from "./request_trailers.ts";
import type { BodySource } from "./stream_body.ts";

/** The client options that a request may override. */
const LIMITS = [
  "timeout",
  "queueTimeout",
  "headersTimeout",
  "bodyTimeout",
  "retries",
  "maxRetryAfter",
  "maxResponseSize",
  "retryStatuses",
  "decompress",
  "onInformational",
] as const;
type Limit = (typeof LIMITS)[number];

type OwnMember = Limit | "intercept" | "trailers" | "onUploadProgress" | "idempotent" | "redirect" | "duplex";

/** The members of fetch()'s `init` that are checked; the standard's dictionary may have others. */
export const requestOptions: SchemaOf<Pick<HttpRequestInit, OwnMember>> = /* @__PURE__ */ schema("fetch()", () => {
  const { members } = httpClientOptions;
  const limits = Object.fromEntries(LIMITS.map((name) => [name, members[name]])) as Pick<typeof members, Limit>;
  return {
    ...limits,
    intercept: members.intercept,
    trailers: trailersOption,
    onUploadProgress: func<NonNullable<HttpRequestInit["onUploadProgress"]>>(),
    idempotent: bool(),
    redirect: oneOf(["follow", "manual", "error"]),
    duplex: oneOf(["half", "full"]),
  };
});

/** A separate schema: null means no signal here, as in the standard. */
const abortSignal = /* @__PURE__ */ signal();

type RequestLimits = Readonly<Pick<ResolvedOptions, Limit>>;

/** Returns the limits of a request: the client's own object if it overrides none, as in most cases. */
function limitsOf(init: HttpRequestInit, defaults: RequestLimits): RequestLimits {
  let limits: Record<Limit, unknown> | undefined = undefined;
  for (const name of LIMITS) {
    const value = checkedOption(name, init[name]);
    if (value === undefined) continue;
    limits ??= Object.fromEntries(LIMITS.map((each) => [each, defaults[each]])) as Record<Limit, unknown>;
    limits[name] = value;
  }
  return limits as RequestLimits | undefined ?? defaults;
}

/** Returns the value of a member of `init`. @throws {HttpError} INVALID_OPTION if it has the wrong type, or is out of range. */
export function checkedOption<K extends OwnMember>(name: K, value: HttpRequestInit[K]): HttpRequestInit[K] {
  return value === undefined
    ? undefined
    : checkedBy<unknown>(requestOptions.members[name], name, value) as typeof value;
}

function checkedBy<T>(member: Member<T>, name: string, value: T): T {
  try {
    return member.check(value, name);
  } catch (error) {
    throw new HttpError("INVALID_OPTION", (error as Error).message);
  }
}

/** A validated request, ready to be sent. Its lists are immutable, since requests share them. */
export interface FetchRequest extends RequestHead {
  readonly url: URL;
  readonly origin: string;
  body: BodySource | undefined;
  alone: boolean;
  trailers: RequestTrailers | undefined;
  onUploadProgress: HttpRequestInit["onUploadProgress"] | undefined;
  readonly redirect: "follow" | "manual" | "error";
  readonly signal: AbortSignal | undefined;
  /** The Request that owns `signal`: on Node the signal follows others only until its Request is collected. */
  signalOwner: Request | undefined;
  readonly idempotent: boolean;
  /** The option `idempotent`, which applies after redirects, too. */
  readonly saidIdempotent: boolean | undefined;
  readonly integrity: string;
  readonly expectsContinue: boolean;
  /** The client's options, with the request's own values. */
  readonly limits: RequestLimits;
}

type RequestDefaults = RequestLimits & Pick<ResolvedOptions, "proxyOf" | "reuse">;

/** Reads the arguments of fetch, and takes the body of a Request. @throws {HttpError} INVALID_URL, INVALID_METHOD, INVALID_HEADER and the like. */
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
  // By the standard, a Request has no field `host`; in a server's request it is the server's name.
  const ownHeaders = init?.headers;
  const headers = new HeaderReader(ownHeaders === undefined ? undefined : target);
  const given = ownHeaders ?? request?.headers;
  if (given !== undefined) headers.readAll(given);
  if (defaults.proxyOf !== undefined) checkProxyFields(headers.list);
  const { redirect: ownRedirect = request?.redirect, signal: ownSignal = request?.signal } = init ?? {};
  const redirect = checkedOption("redirect", ownRedirect) ?? "follow";
  const signal = checkedSignal(ownSignal ?? undefined);
  const limits = init === undefined || init === null ? defaults : limitsOf(init, defaults);
  const givenTrailers = checkedOption("trailers", init?.trailers);
  const trailers = givenTrailers && RequestTrailers.of(givenTrailers);
  const onUploadProgress = checkedOption("onUploadProgress", init?.onUploadProgress);
  const saidIdempotent = checkedOption("idempotent", init?.idempotent);
  let body: BodySource | undefined;
  let type: string | undefined;
  const ownBody = init?.body ?? undefined;
  const own = ownBody === undefined && request ? RequestContent.of(request) : undefined;
  const content = ownBody ?? own?.stream;
  if (content !== undefined) {
    if (method === "GET" || method === "HEAD") {
      throw new HttpError("INVALID_BODY", `A ${method} request cannot have a body: use another method`, target);
    }
    // Last, because it locks a stream.
    if (own !== undefined && headers.contentLength === undefined) body = own;
    else ({ source: body, type } = extractBody(content, headers.contentLength));
  }
  checkLength(body, headers.contentLength, target);
  if (trailers !== undefined && body === undefined) {
    throw new HttpError("INVALID_OPTION", "trailers follow a body, and the request has none", target);
  }
  if (trailers !== undefined) headers.list.push("trailer", trailers.names);
  // A client without a body must not send `Expect` (RFC 9110 section 10.1.1).
  if (body === undefined || body.length === 0) headers.expectsContinue = false;
  const idempotent = saidIdempotent ?? isIdempotent(method);
  return {
    url: target.url,
    origin: target.origin,
    scheme: target.scheme,
    authority: target.authority,
    path: target.path,
    method,
    headers: headers.withDefaults(type, limits.decompress),
    closes: headers.closes || !defaults.reuse,
    alone: !idempotent,
    expectsContinue: headers.expectsContinue,
    body,
    trailers,
    onUploadProgress,
    redirect,
    signal,
    signalOwner: request,
    idempotent,
    saidIdempotent,
    integrity: init?.integrity ?? request?.integrity ?? "",
    limits,
  };
}

function checkLength(body: BodySource | undefined, length: number | undefined, { origin }: RequestTarget): void {
  const known = body === undefined ? 0 : body.length;
  if (length === undefined || length === known) return;
  const message = `The header content-length says ${length}, and the body has ${known} bytes`;
  throw new HttpError("INVALID_HEADER", message, { origin });
}

/** Refuses fields for the proxy, which a tunnel would pass to the origin. */
function checkProxyFields(headers: HeaderList): void {
  if (!headers.some((text, at) => at % 2 === 0 && text === "proxy-authorization")) return;
  const advice = "put user name and password into the proxy's URL";
  throw new HttpError("INVALID_HEADER", `The header proxy-authorization is the proxy's alone: ${advice}`);
}

export function isRequest(input: unknown): input is Request {
  return typeof input === "object" && input !== null && "headers" in input && "url" in input;
}

/** Names in `init` that are ignored or read without a schema: those of the standard, and options of other libraries, such as `compress`. */
const passing = new Set("body cache credentials headers integrity keepalive method mode signal".split(" "));
const MAX_PASSING = 100;

function checkInit(init: HttpRequestInit): void {
  if (typeof init !== "object" && typeof init !== "function") {
    throw new HttpError("INVALID_OPTION", `init must be an object, not ${String(init)}`);
  }
  for (const name in init) {
    if (passing.has(name) || Object.hasOwn(requestOptions.members, name)) continue;
    if ((init as Record<string, unknown>)[name] === undefined) continue;
    if (Object.hasOwn(httpClientOptions.members, name)) {
      const message = `${name} is an option of HttpClient, not of a request: make a client with it`;
      throw new HttpError("INVALID_OPTION", message);
    }
    const near = nearest(name, Object.keys(requestOptions.members));
    const isClose = near !== undefined && Math.abs(near.length - name.length) < 2;
    if (isClose) throw new HttpError("INVALID_OPTION", `unknown option ${name}: did you mean ${near}?`);
    if (passing.size < MAX_PASSING) passing.add(name);
  }
  checkedOption("duplex", init.duplex);
}

/** @throws {HttpError} INVALID_OPTION if the signal of `init` is not an AbortSignal. */
export function checkedSignal(given: AbortSignal | undefined): AbortSignal | undefined {
  return given === undefined ? undefined : checkedBy(abortSignal, "signal", given);
}
