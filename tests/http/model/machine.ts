import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Http1Peer } from "../faults/http1_peer.ts";
import { ErrorCode } from "../faults/http2_frames.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import type { Http2PeerStream } from "../faults/http2_peer_stream.ts";
import { Listener } from "../faults/listener.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import type { Deed, Entry } from "./entry.ts";

/** The address, certificate and protocols of a machine. */
export interface MachineOptions {
  readonly address: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly alpn?: readonly string[];
  /** Whether its certificate is for a host. */
  covers(host: string): boolean;
}

/** A world as its machines see it. */
export interface MachineOwner {
  entryOf(id: number): Entry | undefined;
  /** Whether a lookup of a host ever returned an address. */
  hasLed(host: string, address: string): boolean;
  /** Returns the proxy of a connection, if any. */
  wayOf(ends: string, acceptedAt: number): string | undefined;
  /** Whether the client may not connect to an address. */
  refuses(address: string, isRedirected: boolean): boolean;
  /** Returns the proxy that the client must use for a host, if any. */
  dueWayOf(host: string): string | undefined;
  /** Returns the URL of a path at a host, to which a redirect leads. */
  urlOf(host: string, path: string): string;
  /** Records a fault that belongs to no request. */
  note(wrong: string): void;
}

const SLOW = 5;

/** A server of the world: does with each request what its entry says, and checks that it may have come here. */
export class Machine {
  readonly options: MachineOptions;
  readonly listener: Listener;
  readonly peers: Set<Http2Peer> = new Set();
  /** Whether requests on a clear-text connection are HTTP/2. */
  speaksH2c = false;
  readonly #owner: MachineOwner;
  /** The addresses of each connection, and the time when it was accepted. */
  readonly #accepted = new WeakMap<Socket, [ends: string, at: number]>();
  /** The highest stream of each session that was acted on: GOAWAY must not deny it. */
  readonly #acted = new WeakMap<Http2Peer, number>();

  constructor(options: MachineOptions, owner: MachineOwner) {
    this.options = options;
    this.#owner = owner;
    this.listener = new Listener(options, (socket) => this.#welcome(socket));
  }

  /** Ends what it has open, with GOAWAY where that can be said. */
  goAway(): void {
    for (const peer of this.peers) peer.goaway(Math.max(this.#acted.get(peer) ?? 0, 0));
  }

  #welcome(socket: Socket): void {
    const ends = `${socket.remotePort} ${this.options.address} ${this.listener.port}`;
    this.#accepted.set(socket, [ends, performance.now()]);
    const isHttp2 = this.options.certificate ? (socket as TLSSocket).alpnProtocol === "h2" : this.speaksH2c;
    const onRequest = (request: ServerRequest): void => this.#take(request);
    const owner = { settings: {}, violations: [], onRequest };
    owner.violations.push = (...words: string[]) => {
      for (const violation of words) this.#owner.note(violation);
      return 0;
    };
    if (!isHttp2) return void new Http1Peer(socket, owner);
    const peer = new Http2Peer(socket, owner);
    this.peers.add(peer);
    socket.on("close", () => this.peers.delete(peer));
  }

  #take(request: ServerRequest): void {
    // By a proxy without a tunnel the whole URL comes.
    const [id, hop] = request.path.replace(/^http:\/\/[^/]+/, "").slice(1).split("/").map(Number);
    const entry = this.#owner.entryOf(id);
    if (entry === undefined) return this.#owner.note(`${request.path} was asked for by nobody`);
    const authority = request.fields.get(":authority") ?? request.fields.get("host") ?? "";
    const host = authority.split(":")[0];
    const { address } = this.options;
    if (host !== entry.hosts[hop]) entry.wrong.push(`hop ${hop} went to ${host}`);
    if (!this.options.covers(host)) entry.wrong.push(`${host} was sent to ${address}, whose certificate is for others`);
    if (!this.#owner.hasLed(host, address)) entry.wrong.push(`${host} was sent to ${address}, where it never was`);
    const way = this.#owner.wayOf(...this.#accepted.get(request.socket)!);
    const due = this.#owner.dueWayOf(host);
    if (way !== due) entry.wrong.push(`${host} was reached by ${way ?? "no proxy"} instead of ${due ?? "none"}`);
    if (this.#owner.refuses(address, hop > 0)) {
      entry.wrong.push(`hop ${hop} was sent to ${address} against allowAddress`);
    }
    this.#do(entry.deeds[Math.min(entry.seen++, entry.deeds.length - 1)]!, request, entry, hop);
  }

  #act(request: ServerRequest, entry: Entry, hop: number): void {
    entry.act(hop, request.method);
    if (!isStream(request)) return;
    this.#acted.set(request.peer, Math.max(this.#acted.get(request.peer) ?? 0, request.id));
  }

  #do(deed: Deed, request: ServerRequest, entry: Entry, hop: number): void {
    const body = Buffer.from(`${entry.id}/${hop};`.repeat(20));
    const act = (): void => this.#act(request, entry, hop);
    if (deed === "refuse" && isStream(request)) return request.reset(ErrorCode.refusedStream);
    if (deed === "go away" && isStream(request)) {
      return request.peer.goaway(Math.max(this.#acted.get(request.peer) ?? 0, request.id - 2));
    }
    if (deed === "cut before acting") return void request.socket.destroy();
    if (deed === "redirect" && hop + 1 < entry.hosts.length) {
      return whenWhole(request, () => this.#redirect(request, entry, hop));
    }
    if (deed === "reset" || deed === "cut") {
      act();
      return deed === "cut" ? void request.socket.destroy() : request.reset(ErrorCode.internal);
    }
    if (deed === "never answer") return act();
    if (deed === "never end" || deed === "answer in pieces") {
      act();
      request.head(200, { "x-id": String(entry.id) });
      request.data(body.subarray(0, 10));
      if (deed === "never end") return;
      setTimeout(() => {
        request.data(body.subarray(10));
        request.end();
      }, SLOW);
      return;
    }
    const answer = (): void => {
      act();
      respond(request, 200, body, { "x-id": String(entry.id) });
    };
    if (deed === "answer before the body") return answer();
    whenWhole(
      request,
      deed === "answer slowly" ? () => void setTimeout(() => request.isGone || answer(), SLOW) : answer,
    );
  }

  #redirect(request: ServerRequest, entry: Entry, hop: number): void {
    this.#act(request, entry, hop);
    entry.redirects++;
    const next = hop + 1;
    const status = entry.id % 2 === 0 ? 307 : 303;
    const location = this.#owner.urlOf(entry.hosts[next]!, `/${entry.id}/${next}`);
    respond(request, status, Buffer.from("elsewhere"), { location });
  }
}

function isStream(request: ServerRequest): request is Http2PeerStream {
  return "peer" in request;
}
