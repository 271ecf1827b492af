import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { certificates } from "../certificates.ts";
import { Http1Peer } from "./http1_peer.ts";
import { Http2Peer, type Settings } from "./http2_peer.ts";
import { Listener } from "./listener.ts";
import type { ServerRequest } from "./server_request.ts";

/** The protocol of a server. */
export type Protocol = "h2" | "h2c" | "http/1.1" | "http/1.1 over TLS";

export interface OriginOptions {
  /** The settings of new h2 sessions. */
  settings?: Settings;
  /** Default: nothing, so that requests stay unanswered. */
  onRequest?: (request: ServerRequest) => void;
  onPeer?: (peer: Http2Peer) => void;
  onIgnored?: (fields: ReadonlyMap<string, string>, why: string) => void;
  /** May keep a new socket for itself, by returning true. */
  onSocket?: (socket: Socket) => boolean;
}

/** A server under a test's control that records the clients' violations. */
export class Origin {
  readonly protocol: Protocol;
  readonly violations: string[] = [];
  /** All h2 sessions there have been. */
  readonly peers: Http2Peer[] = [];
  /** All requests there have been. */
  readonly requests: ServerRequest[] = [];
  readonly listener: Listener;
  settings: Settings;
  onRequest: (request: ServerRequest) => void;
  onSocket: (socket: Socket) => boolean;
  readonly onPeer: (peer: Http2Peer) => void;
  readonly onIgnored: (fields: ReadonlyMap<string, string>, why: string) => void;
  /** Whether `requests` is kept: not for a million. */
  keepsRequests = true;

  constructor(protocol: Protocol, options: OriginOptions = {}) {
    this.protocol = protocol;
    this.settings = options.settings ?? {};
    this.onPeer = (peer) => {
      this.peers.push(peer);
      options.onPeer?.(peer);
    };
    this.onIgnored = options.onIgnored ?? (() => {});
    const onRequest = options.onRequest ?? (() => {});
    this.onRequest = (request) => {
      if (this.keepsRequests) this.requests.push(request);
      onRequest(request);
    };
    this.onSocket = options.onSocket ?? (() => false);
    const isSecure = protocol === "h2" || protocol === "http/1.1 over TLS";
    const alpn = protocol === "h2" ? ["h2", "http/1.1"] : ["http/1.1"];
    const { cert, key } = certificates;
    this.listener = new Listener(
      isSecure ? { certificate: { cert, key }, alpn } : {},
      (socket) => this.#welcome(socket),
    );
  }

  get url(): string {
    return this.listener.origin;
  }

  /** The h2 session that is open; the only one, or the last. */
  get peer(): Http2Peer {
    const peer = this.peers.findLast((each) => !each.socket.destroyed);
    if (!peer) throw new Error("no session is open");
    return peer;
  }

  /** Requests whose response is not there yet, on all h2 sessions. */
  get streams(): number {
    return this.peers.reduce((sum, peer) => sum + peer.streams.size, 0);
  }

  /** The most streams that one h2 session had at a time. */
  get peak(): number {
    return Math.max(0, ...this.peers.map((peer) => peer.peak));
  }

  async start(): Promise<this> {
    await this.listener.start();
    return this;
  }

  /** Ends everything at once. */
  stop(): Promise<void> {
    return this.listener.stop();
  }

  #welcome(socket: Socket): void {
    if (this.onSocket(socket)) return;
    const isHttp2 = this.protocol === "h2c" || (this.protocol === "h2" && (socket as TLSSocket).alpnProtocol === "h2");
    if (isHttp2) new Http2Peer(socket, this);
    else new Http1Peer(socket, this);
  }
}
