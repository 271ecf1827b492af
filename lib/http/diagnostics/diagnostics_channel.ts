import { Buffer } from "node:buffer";
import { type Channel, channel } from "node:diagnostics_channel";
import { isIP } from "node:net";
import { collectsChannels } from "../../runtime/mod.ts";
import type { CallContext } from "../calls.ts";
import type { ConnectTarget, HeaderList, ResponseHead, Transport } from "../connection.ts";
import { fieldLines } from "../h1/request_writer.ts";
import type { FetchRequest } from "../request/fetch_request.ts";
import { HeaderReader } from "../request/request_headers.ts";
import { joinedField } from "../response/response_headers.ts";

const OF_REQUESTS = ["create", "bodySent", "headers", "trailers", "error"] as const;
const OF_CLIENTS = ["sendHeaders", "beforeConnect", "connected", "connectError"] as const;
type Step = (typeof OF_REQUESTS)[number] | (typeof OF_CLIENTS)[number];

let known: Readonly<Record<Step, Channel>> | undefined;

/** Returns the channels of undici, which tools know. */
function channels(): Readonly<Record<Step, Channel>> {
  return known ??= Object.fromEntries([
    ...OF_REQUESTS.map((step) => [step, channel(`undici:request:${step}`)]),
    ...OF_CLIENTS.map((step) => [step, channel(`undici:client:${step}`)]),
  ]);
}

// Unreferenced channels are collected together with their subscribers, before the first request.
if (collectsChannels) channels();

function isRequestWatched(): boolean {
  const { create, sendHeaders, bodySent, headers, trailers, error } = channels();
  return create.hasSubscribers || sendHeaders.hasSubscribers || bodySent.hasSubscribers || headers.hasSubscribers ||
    trailers.hasSubscribers || error.hasSubscribers;
}

function isConnectionWatched(): boolean {
  const { beforeConnect, connected, connectError } = channels();
  return beforeConnect.hasSubscribers || connected.hasSubscribers || connectError.hasSubscribers;
}

function viewOf({ remoteAddress, remotePort, alpnProtocol }: Transport): object {
  return { remoteAddress, remotePort, alpnProtocol };
}

export function isWatched(): boolean {
  return isRequestWatched() || isConnectionWatched();
}

/** Opens a trace that reports an attempt to subscribers of `node:diagnostics_channel`, like undici, if there are any: {@link request} has the fields they add. */
export function openTrace(request: FetchRequest, context: CallContext): RequestTrace | undefined {
  return isRequestWatched() ? new RequestTrace(request, context) : undefined;
}

export class RequestTrace {
  /** The request with the fields that subscribers have added. */
  readonly request: FetchRequest;
  readonly #view: ReturnType<typeof viewOfRequest>;
  readonly #context: CallContext;

  constructor(request: FetchRequest, context: CallContext) {
    const view = this.#view = viewOfRequest(request);
    this.#context = context;
    this.#publish("create", {});
    this.request = view.headers.length === request.headers.length
      ? request
      : { ...request, headers: [...request.headers, ...added(view.headers, request.headers.length)] };
  }

  onSend(transport: Transport): void {
    if (!channels().sendHeaders.hasSubscribers) return;
    const { method, path, authority, headers: fields } = this.request;
    const headers = `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\n${fieldLines(fields)}`;
    this.#publish("sendHeaders", { headers, socket: viewOf(transport) });
  }

  onBodySent(): void {
    if (this.#view.aborted) return;
    this.#publish("bodySent", {});
  }

  onHeaders({ status, statusText, headers }: ResponseHead): void {
    if (!channels().headers.hasSubscribers) return;
    const response = { statusCode: status, statusText, headers: buffersOf(headers) };
    this.#publish("headers", { response });
  }

  /** The response has ended normally, or its rest is unwanted. Only the first end counts. */
  onEnd(trailers: HeaderList = []): void {
    if (this.#view.completed) return;
    this.#view.completed = true;
    this.#publish("trailers", { trailers: buffersOf(trailers) });
  }

  onError(reason: unknown): void {
    if (this.#view.completed) return;
    this.#view.completed = true;
    this.#view.aborted = true;
    // Subscribers read an error's name, and the reason of an abort may be any value.
    const error = Object(reason) === reason ? reason : new DOMException(`Aborted: ${String(reason)}`, "AbortError");
    this.#publish("error", { error });
  }

  #publish(step: Step, message: object): void {
    this.#context.run(() => channels()[step].publish({ request: this.#view, ...message }));
  }
}

function viewOfRequest({ origin, method, path, headers: given, idempotent, body }: FetchRequest) {
  const headers = given.slice();
  const contentType = joinedField(headers, "content-type") || null;
  const head = { origin, method, path, headers, idempotent, contentLength: body?.length ?? null, contentType };
  const addHeader = (name: string, value: string): unknown => {
    headers.push(name, value);
    return view;
  };
  const view = { ...head, completed: false, aborted: false, addHeader };
  return view;
}

/** Returns the fields that subscribers have added, without invalid ones. */
function added(headers: readonly string[], from: number): HeaderList {
  const list: HeaderList = [];
  for (let at = from; at + 1 < headers.length; at += 2) {
    const reader = new HeaderReader(undefined);
    try {
      reader.readAll([[headers[at], headers[at + 1]]]);
    } catch {
      continue; // a tool's mistake must not fail a request
    }
    list.push(...reader.list);
  }
  return list;
}

function buffersOf(headers: HeaderList): Buffer[] {
  return headers.map((text) => Buffer.from(text, "latin1"));
}

/** Notifies subscribers of a new connection attempt; undefined without subscribers. The returned functions report its outcome. */
export function openConnectionTrace(
  { origin, secure, host, port }: ConnectTarget & { readonly origin: string },
  servername: string | undefined,
): { onConnected(transport: Transport): void; onError(error: unknown): void } | undefined {
  if (!isConnectionWatched()) return undefined;
  const connectParams = {
    host: new URL(origin).host,
    hostname: host,
    protocol: secure ? "https:" : "http:",
    port: String(port),
    servername: secure ? servername ?? (isIP(host) === 0 ? host : null) : null,
  };
  const { beforeConnect, connected, connectError } = channels();
  beforeConnect.publish({ connectParams });
  return {
    onConnected: (transport) => connected.publish({ connectParams, socket: viewOf(transport) }),
    onError: (error) => connectError.publish({ connectParams, error }),
  };
}
