import type { Socket } from "node:net";
import { ErrorCode, Setting } from "./http2_frames.ts";
import type { Http2Peer } from "./http2_peer.ts";
import { Http2PeerStream } from "./http2_peer_stream.ts";
import type { Entry, Ledger } from "./ledger.ts";
import { Origin, type Protocol } from "./origin.ts";
import type { SeededRandom } from "./seeded_random.ts";
import { type ServerRequest, whenWhole } from "./server_request.ts";
import { pattern } from "./trial.ts";

const CODES = [ErrorCode.cancel, ErrorCode.internal, ErrorCode.enhanceYourCalm] as const;

/** An origin that answers most requests, and does something random to the others. It keeps its side of the books. */
export class ChaosOrigin {
  readonly origin: Origin;
  readonly ledger: Ledger;
  /** Whether the origin causes faults. */
  isWild = true;
  readonly #random: SeededRandom;
  /** The highest stream of a session that was acted on: GOAWAY must not deny it. */
  readonly #acted = new WeakMap<Socket, number>();
  readonly #restartEvery: number;
  /** The number of requests that are spared; where each reset costs a socket, more. */
  readonly #calmness: number;
  #hasMuted = false;
  #taken = 0;
  #restart: Promise<void> | undefined;

  /** @param restartEvery After how many requests it is killed and started again. */
  constructor(protocol: Protocol, random: SeededRandom, ledger: Ledger, restartEvery: number) {
    this.#random = random;
    this.ledger = ledger;
    this.#restartEvery = restartEvery;
    this.#calmness = protocol.startsWith("http/1.1") ? 0.93 : 0.9;
    this.origin = new Origin(protocol, {
      settings: { [Setting.maxConcurrentStreams]: 50 },
      onRequest: (request) => this.#take(request),
      onIgnored: (fields, why) => this.ledger.get(fields.get("x-id")).faults.push(why),
    });
    this.origin.keepsRequests = false;
  }

  async stop(): Promise<void> {
    await this.#restart;
    this.ledger.stop();
    await this.origin.stop();
  }

  /** Waits until it is there, if it is being started again. */
  async calm(): Promise<void> {
    this.isWild = false;
    await this.#restart;
  }

  #take(request: ServerRequest): void {
    const entry = this.ledger.get(request.fields.get("x-id"));
    entry.seen++;
    request.onGone = () => {
      const byClient = request instanceof Http2PeerStream && request.resetCode !== undefined;
      if (!byClient) entry.faults.push("connection lost");
    };
    if (++this.#taken % this.#restartEvery === 0 && this.isWild) this.#startAgain();
    if (this.isWild && request instanceof Http2PeerStream && this.#random.chance(0.006)) this.#shake(request.peer);
    if (request.isGone) return;
    const doom = request.fields.get("x-doom");
    if (doom) return this.#doom(request, doom, entry);
    if (!this.isWild || this.#random.chance(this.#calmness)) whenWhole(request, () => this.#answer(request));
    else this.#fail(request, entry);
  }

  #act(request: ServerRequest): Entry {
    const entry = this.ledger.get(request.fields.get("x-id"));
    entry.acted++;
    if (request instanceof Http2PeerStream) {
      this.#acted.set(request.socket, Math.max(request.id, this.#acted.get(request.socket) ?? 0));
    }
    return entry;
  }

  /** Sends the requested answer: `x-size` bytes. The bytes of the request are summed up. */
  #answer(request: ServerRequest): void {
    if (this.#random.chance(0.5)) return this.#send(request, this.#random.chance(0.5));
    setTimeout(() => this.#send(request, true), this.#random.below(6));
  }

  #send(request: ServerRequest, hasLength: boolean): void {
    if (request.isGone) return;
    const entry = this.#act(request);
    const size = Number(request.fields.get("x-size"));
    const fields: Record<string, string> = { "x-id": request.fields.get("x-id")!, "x-sum": String(request.sum) };
    if (hasLength) fields["content-length"] = String(size);
    request.head(200, fields);
    entry.hadHead = true;
    const cut = this.#random.below(size + 1);
    if (cut > 0) request.data(pattern.subarray(0, cut));
    if (cut < size) request.data(pattern.subarray(cut, size));
    request.end();
  }

  /** Sends no response, or an incomplete one, to a request whose client expects that. */
  #doom(request: ServerRequest, doom: string, entry: Entry): void {
    entry.faults.push(`no ${doom}`);
    this.#act(request);
    if (doom === "answer") return;
    request.head(200, { "x-id": request.fields.get("x-id")! });
    request.data(pattern.subarray(0, 100));
  }

  /** Causes a fault of one request, or of all on its connection. */
  #fail(request: ServerRequest, entry: Entry): void {
    const { faults } = entry;
    const isHttp2 = request instanceof Http2PeerStream;
    const fate = this.#random.next();
    if (fate < 0.4 && isHttp2) return this.#reset(request, ErrorCode.refusedStream, faults);
    if (fate < 0.7) {
      this.#act(request);
      return this.#reset(request, this.#random.pick(CODES), faults);
    }
    this.#act(request);
    if (fate < 0.95) return this.#breakOff(request, entry);
    this.ledger.fault();
    if (this.#random.chance(0.5)) request.socket.destroy();
    else request.socket.end();
  }

  #reset(request: ServerRequest, code: number, faults: string[]): void {
    faults.push(`reset ${code}`);
    request.onGone = undefined;
    request.reset(code);
  }

  /** Half an answer, and then RST_STREAM or the end of the socket. */
  #breakOff(request: ServerRequest, entry: Entry): void {
    entry.hadHead = true;
    request.head(200, { "content-length": "10000", "x-id": request.fields.get("x-id")!, "x-sum": String(request.sum) });
    if (this.#random.chance(0.5)) request.data(pattern.subarray(0, 5000));
    setTimeout(() => this.#reset(request, this.#random.pick(CODES), entry.faults), this.#random.below(4));
  }

  /** Causes a fault of a whole session. */
  #shake(peer: Http2Peer): void {
    const fate = this.#random.next();
    if (fate < 0.3) return void peer.settings({ [Setting.maxConcurrentStreams]: this.#random.pick([1, 10, 50, 200]) });
    if (fate < 0.4) {
      void peer.settings({ [Setting.maxConcurrentStreams]: 0 });
      return void setTimeout(() => void peer.settings({ [Setting.maxConcurrentStreams]: 30 }), 10);
    }
    if (fate < 0.5) {
      void peer.settings({ [Setting.initialWindowSize]: 0 });
      return void setTimeout(() => void peer.settings({ [Setting.initialWindowSize]: 100_000 }), 10);
    }
    this.ledger.fault();
    if (fate < 0.7) return void peer.shutDown();
    if (fate < 0.9 || this.#hasMuted) {
      const ids = [...peer.streams.keys()];
      peer.goaway(Math.max(this.#acted.get(peer.socket) ?? 0, ids[ids.length >> 1] ?? 0), ErrorCode.enhanceYourCalm);
      return void setTimeout(() => peer.socket.destroy(), this.#random.below(20));
    }
    // PING will find out. Once is enough, as it takes a while.
    this.#hasMuted = true;
    peer.isMute = true;
    peer.socket.pause();
    setTimeout(this.ledger.lastingFault(), 4000).unref(); // the client's limit is 2.7 s
  }

  #startAgain(): void {
    if (this.#restart) return;
    const end = this.ledger.lastingFault();
    this.#restart = (async () => {
      await this.origin.stop();
      await new Promise((resolve) => setTimeout(resolve, 15));
      await this.origin.start();
      end();
      this.#restart = undefined;
    })();
  }
}
