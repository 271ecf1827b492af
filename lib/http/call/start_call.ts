import { ANSWERED, type Caller, type CallOwner, type LiveCall, type OwnedCall } from "../calls.ts";
import type { ClientCore } from "../client_core.ts";
import { cookiesOf } from "../../runtime/mod.ts";
import { Deadline, Hold } from "../../timers/mod.ts";
import { HttpError } from "../http_error.ts";
import type { HttpInterceptor, HttpRequest, HttpRequestInit } from "../http_request.ts";
import { loaded } from "../origin/open_connection.ts";
import { checkedOption, checkedSignal, type FetchRequest, isRequest, readRequest } from "../request/fetch_request.ts";
import { endUntaken, RequestContent } from "../request/request_body.ts";
import { checkedName, checkedValue, eachField } from "../request/request_headers.ts";
import { localTargetOf, shownUrl, targetOf } from "../request/request_target.ts";
import type { HttpResponse } from "../response/http_response.ts";
import { ResponseBody } from "../response/response_body.ts";
import { joinedField, responseHeaders } from "../response/response_headers.ts";
import { Call } from "./call.ts";

/** Converts fetch()'s arguments to one object. @throws {HttpError} INVALID_BODY, INVALID_HEADER or INVALID_OPTION. */
function requestObject(
  input: string | URL | Request,
  members: HttpRequestInit,
  own: ReadableStream<Uint8Array> | undefined,
): HttpRequest {
  checkedOption("timeout", members.timeout);
  checkedSignal(members.signal ?? undefined);
  if (!isRequest(input)) {
    return { ...members, url: String(input), method: members.method ?? "GET", headers: headersOf(members.headers) };
  }
  const { url, method, redirect, signal, integrity } = input;
  const headers = headersOf(members.headers === undefined ? input.headers : members.headers);
  // The host is dropped as when it is sent: a request that a server received has that server's host.
  if (members.headers === undefined) headers.delete("host");
  return {
    ...members,
    redirect: members.redirect === undefined ? redirect : members.redirect,
    signal: members.signal === undefined ? signal : members.signal,
    integrity: members.integrity ?? integrity,
    body: members.body ?? own,
    url,
    method: members.method ?? method,
    headers,
  };
}

function headersOf(given: HttpRequestInit["headers"] = {}): Headers {
  const headers = new Headers();
  eachField(given, (name, value) => headers.append(checkedName(name), checkedValue(name, value)));
  const cookies = cookiesOf(given) ?? cookiesOf(headers);
  if (cookies) headers.set("cookie", cookies);
  return headers;
}

/** Sends a request, or creates the response from its URL. @throws {HttpError} if it cannot be sent, or the client is closed. */
export function send(
  core: ClientCore,
  input: string | URL | Request,
  init: HttpRequestInit | undefined,
  caller: Caller,
  owner: CallOwner,
): void {
  const url = isRequest(input) ? input.url : String(input);
  const isLocal = !url.startsWith("http") && /^[\0-\x20]*(?:data|blob):/i.test(url);
  let request: FetchRequest | undefined;
  try {
    request = readRequest(input, init, core.options, isLocal ? localTargetOf(url) : targetOf(url));
    if (core.closed && owner === core) throw core.closedError(request.origin);
    if (isLocal) return void fetchLocally(core, request).then(caller.resolve, caller.reject);
    core.requests++;
    new Call(core, request, caller, owner).start();
  } catch (error) {
    // This call owns the body and must end it; the body of a Request only if the call has taken it.
    if (request === undefined) endUntaken(init?.body, error);
    else if (request.body?.replayable === false) request.body.open().cancel(error);
    throw error;
  }
}

/** The runtime's fetch, captured when this module loads: later, the global one may be a client's. */
const runtimeFetch = globalThis.fetch;

/** Lets the runtime load a URL of data: or blob: from memory. @throws {HttpError} INVALID_URL if the runtime's fetch fails. */
async function fetchLocally(core: ClientCore, request: FetchRequest): Promise<HttpResponse> {
  const { url: { href }, method, headers, body: sent, signal } = request;
  if (sent?.replayable === false) sent.open().cancel(undefined);
  signal?.throwIfAborted();
  const range = joinedField(headers, "range");
  let response: Response;
  let fields: string[];
  let bytes: ArrayBuffer;
  try {
    response = await runtimeFetch(href.replace(/#.*$/s, ""), { method, headers: range === "" ? {} : { range } });
    fields = [...response.headers].flat(); // on Bun, the Blob's type is unknown until it is read
    bytes = await response.arrayBuffer();
  } catch (error) {
    // The runtime's message is left out, since it may show the URL.
    const code = (error as Error)?.name ?? typeof error;
    throw new HttpError("INVALID_URL", `Cannot fetch ${shownUrl(href)}: the runtime's own fetch fails (${code})`);
  }
  const body = new ResponseBody({ consumed: () => {}, cancel: () => {}, revoked: () => core.revocationOf(request) });
  body.push(new Uint8Array(bytes), true);
  body.end();
  const head = { status: response.status, statusText: response.statusText, headers: fields };
  const { buildResponse } = await loaded(import("../response/decoded_body.ts"));
  return buildResponse(request, head, method === "HEAD" ? undefined : body, { decompress: false, redirected: false });
}

/** A call of fetch with interceptors: owns the calls that they make by `next`, settles once, and ends its calls if it fails. */
class InterceptedCall implements CallOwner, LiveCall {
  previousCall: LiveCall | undefined = undefined;
  nextCall: LiveCall | undefined = undefined;
  readonly #core: ClientCore;
  #request: HttpRequest;
  /** The input, kept alive for its signal: see {@link FetchRequest.signalOwner}. */
  input: unknown;
  #content: RequestContent | undefined;
  /** The caller's body, as long as it was neither sent nor ended. */
  #body: HttpRequestInit["body"];
  readonly #interceptors: readonly HttpInterceptor[];
  #caller: Caller;
  readonly #calls = new Set<OwnedCall>();
  #total: Deadline | undefined = undefined;
  /** Keeps the process alive, even if the event that an interceptor waits for does not. */
  readonly #hold: Hold = new Hold();
  #isAnswered = false;
  #isLive = false;
  #failure: { readonly reason: unknown } | undefined = undefined;

  /** @param init The options, which are read more than once. @param interceptors The interceptors, outermost first; at least one. */
  constructor(
    core: ClientCore,
    input: string | URL | Request,
    init: HttpRequestInit,
    interceptors: readonly HttpInterceptor[],
    caller: Caller,
  ) {
    this.#core = core;
    this.input = input;
    this.#content = isRequest(input) && (init.body ?? null) === null ? RequestContent.of(input) : undefined;
    this.#request = requestObject(input, init, this.#content?.stream);
    this.#body = this.#request.body;
    this.#interceptors = interceptors;
    this.#caller = caller;
  }

  /** @throws {HttpError} CLIENT_CLOSED if the client is closed. */
  start(): void {
    if (this.#core.closed) throw this.#core.closedError(URL.parse(this.#request.url)?.origin);
    const { signal, timeout = this.#core.options.timeout } = this.#request;
    this.#live();
    if (signal?.aborted) return this.#fail(signal.reason);
    signal?.addEventListener("abort", this);
    if (timeout > 0) this.#total = new Deadline(this.#core.deadlinesOf(timeout), () => this.#onTimeout(timeout));
    this.#hold.set(timeout > 0);
    this.#run().then((response) => this.#answer(response), (reason) => this.#fail(reason));
  }

  get timeLeft(): number {
    return this.#total?.left ?? Infinity;
  }

  handleEvent(): void {
    this.#fail(this.#request.signal!.reason);
  }

  onDestroyed(): void {
    this.#fail(this.#core.closedError(URL.parse(this.#request.url)?.origin));
  }

  giveUpUnread(): void {
    for (const call of [...this.#calls]) call.giveUpUnread();
  }

  onBegin(call: OwnedCall): void {
    this.#calls.add(call);
    this.#live();
  }

  onEnd(call: OwnedCall): void {
    this.#calls.delete(call);
    this.#endIfOver();
  }

  /** Passes the request to the interceptors. The content of a Request is passed as what it was made of, so that it can be sent again. */
  async #run(): Promise<HttpResponse> {
    const body = await this.#content?.take();
    return await this.#pass(body === undefined ? this.#request : { ...this.#request, body }, 0);
  }

  /** Passes a request to an interceptor, or after the last one to the server. */
  async #pass(request: HttpRequest, at: number): Promise<HttpResponse> {
    if (this.#failure !== undefined) throw this.#failure.reason;
    const interceptor = this.#interceptors[at];
    if (interceptor === undefined) return await this.#send(request);
    const response = await interceptor(request, (next) => this.#pass(next, at + 1));
    if (typeof response?.status !== "number" || !("headers" in response)) {
      throw new TypeError(`An interceptor must return a Response, not ${String(response)}`);
    }
    if (!("trailers" in response)) { // no client has built it; a frozen one stays without
      const value = Promise.resolve(responseHeaders([]));
      Reflect.defineProperty(response, "trailers", { value, configurable: true });
    }
    return response as HttpResponse;
  }

  #send(request: HttpRequest): Promise<HttpResponse> {
    if (typeof request !== "object" || request === null) {
      throw new TypeError("next() must be given the request to send");
    }
    // An interceptor's call after this one has settled counts as a new call.
    if (this.#core.closed && !this.#isLive) throw this.#core.closedError(URL.parse(request.url)?.origin);
    if (request.body === this.#body) this.#body = undefined;
    return new Promise((resolve, reject) => send(this.#core, request.url, request, { resolve, reject }, this));
  }

  #answer(response: HttpResponse): void {
    if (this.#isAnswered) {
      // An interceptor may return an object that only resembles a Response.
      return void (response.body?.locked === false && response.body.cancel().catch(() => {}));
    }
    this.#isAnswered = true;
    this.#hold.set(false);
    if (this.#body !== undefined && response.body === this.#body) this.#body = undefined; // the interceptor has returned the request's own body
    const { resolve } = this.#caller;
    // The connection must have no reference to the response, as in a call.
    this.#caller = ANSWERED;
    resolve(response);
    this.#endIfOver();
  }

  #onTimeout(ms: number): void {
    const { url } = this.#request;
    const message = `${shownUrl(url)} took more than ${ms} ms (timeout)`;
    this.#fail(new HttpError("TIMEOUT", message, { origin: URL.parse(url)?.origin }));
  }

  /** Fails the call, also by erroring a response that the client still has to read. */
  #fail(reason: unknown): void {
    if (this.#failure !== undefined || (this.#isAnswered && !this.#isLive)) return;
    this.#failure = { reason };
    for (const call of [...this.#calls]) call.fail(reason);
    if (!this.#isAnswered) this.#caller.reject(reason);
    this.#isAnswered = true;
    this.#hold.set(false);
    this.#endIfOver();
  }

  #live(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    this.#core.onBegin(this);
  }

  #endIfOver(): void {
    if (!this.#isLive || !this.#isAnswered || this.#calls.size > 0) return;
    this.#isLive = false;
    this.#total?.stop();
    this.#total = undefined;
    this.#request.signal?.removeEventListener("abort", this);
    endUntaken(this.#body, this.#failure?.reason);
    this.#request = { ...this.#request, body: undefined };
    this.#body = this.#content = this.input = undefined;
    this.#core.onEnd(this);
  }
}

/** Starts a call of fetch. @throws {HttpError} if the request cannot be sent, or the client is closed. */
export function startCall(
  core: ClientCore,
  input: string | URL | Request,
  init: HttpRequestInit | undefined,
  caller: Caller,
): void {
  const { intercept } = core.options;
  const isPlain = init === undefined || !("intercept" in Object(init ?? 0));
  if (intercept.length === 0 && isPlain) return send(core, input, init, caller, core);
  const { intercept: own, ...members } = init ?? {};
  try {
    const interceptors = [...intercept, ...checkedOption("intercept", own) ?? []];
    if (interceptors.length > 0) return new InterceptedCall(core, input, members, interceptors, caller).start();
  } catch (error) {
    endUntaken(members.body, error);
    throw error;
  }
  send(core, input, members, caller, core);
}
