import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { isEncoderLoaded } from "../../codecs/internal.ts";
import { EncodedBroadcast } from "./encoded_feed.ts";
import {
  type ChannelCoding,
  type ChannelEvent,
  type ChannelSettings,
  channelSettings,
  type EventChannelOptions,
  eventText,
  formatOfChannel,
  loadChannelCodecs,
} from "./options.ts";
import { type Feed, History, type Opening, PlainBroadcast, type Subscriber } from "./feed.ts";
import { Timer } from "../../timers/mod.ts";
import { NodeSubscriber, type Reports, StreamSubscriber } from "./subscribers.ts";
import { NodeFields } from "../node_arguments.ts";
import { addToVary, likedBest } from "../policy.ts";
import { atEndOfTurn } from "../../streams/internal.ts";

/**
 * Counters of a channel.
 *
 * @example Watch the subscribers that don't keep up
 * ```ts
 * import { type ChannelStats, createEventChannel } from "@millrace/streams/compression";
 *
 * const channel = createEventChannel();
 * const { subscribers, dropped }: ChannelStats = channel.stats();
 * console.log(subscribers, dropped); // 0 0
 * channel.close();
 * ```
 */
export interface ChannelStats {
  /** The current number of subscribers. */
  readonly subscribers: number;
  /** The number of events sent so far. */
  readonly events: number;
  /** The number of subscribers disconnected so far because they read too slowly. */
  readonly dropped: number;
  /** The number of times that a subscriber missed events because it read too slowly. */
  readonly skipped: number;
}

/**
 * A channel of server-sent events, compressed once for all its subscribers. All functions are bound.
 *
 * @example Send the time to all subscribers
 * ```ts
 * import { createEventChannel, type EventChannel } from "@millrace/streams/compression";
 *
 * const channel: EventChannel = createEventChannel();
 * const response = channel.subscribe(new Request("http://localhost/events"));
 * channel.send({ event: "time", data: new Date().toISOString() });
 * channel.close();
 * console.log((await response.text()).includes("event: time")); // true
 * ```
 */
export interface EventChannel {
  /**
   * Sends an event to all subscribers, at the end of this turn of the event loop.
   *
   * @throws {TypeError} if a field is unknown, of the wrong type or would end its line, or the channel is closed.
   * @throws {RangeError} if `retry` is no number of milliseconds.
   */
  readonly send: (event: ChannelEvent) => void;
  /** Returns a response whose body is all events from now on, after those missed since `Last-Event-ID`. */
  readonly subscribe: (request: Request) => Response;
  /** Streams the events as a response of `node:http` or `node:http2`, as {@linkcode EventChannel.subscribe} does. */
  readonly node: (
    req: IncomingMessage | Http2ServerRequest,
    res: ServerResponse | Http2ServerResponse,
  ) => void;
  /** Ends all responses. Later subscribers get a 204, after which their clients do not reconnect. */
  readonly close: () => void;
  /** Returns the channel's counters. */
  readonly stats: () => ChannelStats;
  /** Resolves when the codecs are loaded: earlier subscribers get events uncompressed. */
  readonly ready: () => Promise<void>;
}

/**
 * Creates a channel of server-sent events, which are compressed once for all subscribers.
 *
 * Each subscriber costs about as much as one without compression: each coding has one encoder, and a second one while
 * there are new subscribers. A client that reconnects with `Last-Event-ID` first gets the events that it missed, as far
 * as the history goes. Subscribers that read slowly have a limit of buffered bytes.
 *
 * @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range.
 * @see {@link https://html.spec.whatwg.org/multipage/server-sent-events.html}
 * @example Send prices to all who listen
 * ```ts
 * import { createServer } from "node:http";
 * import { createEventChannel } from "@millrace/streams/compression";
 *
 * const prices = createEventChannel({ retry: 2000 });
 * setInterval(() => prices.send({ id: String(Date.now()), data: JSON.stringify({ corn: Math.random() }) }), 1000);
 * createServer(prices.node).listen(8080);
 * ```
 */
export function createEventChannel(options: EventChannelOptions = {}): EventChannel {
  const settings = channelSettings(options);
  const channel = new Channel(settings);
  const loading = loadChannelCodecs(settings);
  return {
    send: (event) => channel.send(event),
    subscribe: (request) => channel.subscribe(request),
    node: (req, res) => channel.node(req as IncomingMessage, res as ServerResponse),
    close: () => channel.close(),
    stats: () => channel.stats(),
    ready: () => loading,
  };
}

/** The maximum number of cached openings, which serve subscribers that missed the same events. */
const MAX_OPENINGS = 8;

class Channel implements Reports {
  readonly #settings: ChannelSettings;
  readonly #history: History;
  /** Set while there are subscribers; restarted by each event. */
  readonly #heartbeat: Timer;
  readonly #subscribers = new Map<Subscriber, Feed>();
  readonly #plain = new PlainBroadcast();
  readonly #encoded = new Map<ChannelCoding, EncodedBroadcast>();
  /** Subscribers that get no events until they have read everything sent before. */
  readonly #skipping = new Set<Subscriber>();
  /** Encoded openings, by coding and start in the history; valid until the next event. */
  readonly #openings = new Map<string, Opening>();
  /** The texts of this turn, which its end sends. */
  #pending = "";
  #isClosed = false;
  #events = 0;
  #dropped = 0;
  #skipped = 0;

  constructor(settings: ChannelSettings) {
    this.#settings = settings;
    this.#history = new History(settings.history, settings.historyLength);
    this.#heartbeat = new Timer(() => {
      this.#startHeartbeat();
      this.#post(":\n\n");
    }, { keepsAlive: false });
  }

  send(event: ChannelEvent): void {
    if (this.#isClosed) throw new TypeError("cannot send an event: the channel is closed");
    const text = eventText(event);
    this.#history.add(event.id, text);
    this.#events++;
    this.#post(text);
  }

  #post(text: string): void {
    if (this.#pending === "") atEndOfTurn(() => this.#flush());
    this.#pending += text;
  }

  #flush(): void {
    if (this.#pending === "") return;
    const text = new TextEncoder().encode(this.#pending);
    this.#pending = "";
    this.#openings.clear();
    if (this.#heartbeat.isSet) this.#startHeartbeat();
    for (const feed of [this.#plain, ...this.#encoded.values()]) {
      for (const subscriber of feed.send(text)) this.#outrun(subscriber, feed);
    }
  }

  #startHeartbeat(): void {
    this.#heartbeat.start(this.#settings.heartbeat || Infinity);
  }

  #outrun(subscriber: Subscriber, feed: Feed): void {
    if (this.#settings.slow === "drop") {
      this.#dropped++;
      return subscriber.drop("it reads too slowly");
    }
    this.#skipped++;
    feed.leave(subscriber);
    this.#skipping.add(subscriber);
  }

  drained(subscriber: Subscriber): void {
    if (!this.#skipping.delete(subscriber)) return;
    this.#flush(); // sends pending texts, which the subscriber skips
    this.#subscribers.get(subscriber)?.join(subscriber);
  }

  left(subscriber: Subscriber): void {
    this.#subscribers.get(subscriber)?.leave(subscriber);
    this.#subscribers.delete(subscriber);
    this.#skipping.delete(subscriber);
    if (this.#subscribers.size > 0) return;
    this.#heartbeat.stop();
    for (const feed of this.#encoded.values()) feed.close();
  }

  subscribe(request: Request): Response {
    if (this.#isClosed) return new Response(null, { status: 204 });
    const { headers: sent } = request;
    const { coding, opening } = this.#admit(sent.get("accept-encoding"), sent.get("last-event-id"));
    const headers = new Headers(fieldsFor(coding));
    if (request.method === "HEAD") return new Response(null, { headers });
    const subscriber = new StreamSubscriber(this, this.#settings.maxBuffered);
    const response = new Response(subscriber.body(), { headers });
    this.#add(subscriber, coding, opening);
    return response;
  }

  node(req: IncomingMessage, res: ServerResponse): void {
    if (res.destroyed || (res as unknown as Partial<Http2ServerResponse>).stream?.destroyed) return;
    if (this.#isClosed) return void res.writeHead(204).end();
    const { "accept-encoding": accepted, "last-event-id": id } = req.headers;
    const { coding, opening } = this.#admit(accepted as string | undefined, id as string | undefined);
    const fields = fieldsFor(coding);
    if (res.hasHeader("vary")) {
      addToVary(new NodeFields(res), fields.vary);
      delete fields.vary;
    }
    res.writeHead(200, fields); // with setHeader(), each response would keep the fields
    if (req.method === "HEAD") return void res.end();
    this.#add(new NodeSubscriber(this, res, this.#settings.maxBuffered), coding, opening);
  }

  /** Chooses a subscriber's coding, and encodes its opening: uncompressed if the codec fails. */
  #admit(accepted: string | null | undefined, lastEventId: string | null | undefined) {
    this.#flush(); // pending events reach it through the history, or not at all
    const id = lastEventId ? fromHeader(lastEventId) : undefined;
    const coding = likedBest(this.#settings.codings, accepted, (each) => isEncoderLoaded(formatOfChannel[each]));
    try {
      return { coding, opening: this.#openingOf(coding, id) };
    } catch (error) {
      this.#settings.warn(`events are not compressed with ${coding}: ${(error as Error).message}`);
      return { coding: undefined, opening: this.#openingOf(undefined, id) };
    }
  }

  #openingOf(coding: ChannelCoding | undefined, id: string | undefined): Opening {
    const start = id === undefined ? undefined : this.#history.startAfter(id);
    const key = `${coding} ${start}`;
    let opening = this.#openings.get(key);
    if (opening === undefined) {
      const missed = start === undefined ? "" : this.#history.textFrom(start);
      opening = this.#feedOf(coding).open(new TextEncoder().encode(this.#settings.greeting + missed));
      if (this.#openings.size < MAX_OPENINGS) this.#openings.set(key, opening);
    }
    return opening;
  }

  #feedOf(coding: ChannelCoding | undefined): Feed {
    if (coding === undefined) return this.#plain;
    let feed = this.#encoded.get(coding);
    if (feed === undefined) this.#encoded.set(coding, feed = new EncodedBroadcast(coding, this.#settings.warn));
    return feed;
  }

  #add(subscriber: Subscriber, coding: ChannelCoding | undefined, opening: Opening): void {
    const feed = this.#feedOf(coding);
    this.#subscribers.set(subscriber, feed);
    feed.join(subscriber, opening);
    if (!this.#heartbeat.isSet) this.#startHeartbeat();
    subscriber.write(opening.bytes);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    for (const [subscriber, feed] of [...this.#subscribers]) {
      const last = feed.ending(subscriber);
      this.left(subscriber);
      subscriber.end(last);
    }
  }

  stats(): ChannelStats {
    return {
      subscribers: this.#subscribers.size,
      events: this.#events,
      dropped: this.#dropped,
      skipped: this.#skipped,
    };
  }
}

function fieldsFor(coding: ChannelCoding | undefined): Record<string, string> {
  return {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "vary": "Accept-Encoding",
    "x-accel-buffering": "no", // nginx would buffer events
    ...(coding === undefined ? {} : { "content-encoding": coding }),
  };
}

/** Returns the id in a field: most servers decode its UTF-8 bytes as Latin-1. */
function fromHeader(value: string): string {
  if (/[^\0-\xff]/.test(value)) return value; // the value is decoded already
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(value, (each) => each.charCodeAt(0)));
  } catch {
    return value;
  }
}
