import { bytes, func, integer, listOf, oneOf, schema, type SchemaOf } from "../../streams/internal.ts";
import { loadEncoders, warningTo, warnOnConsole } from "../options.ts";

/**
 * A server-sent event.
 *
 * @see {@link https://html.spec.whatwg.org/multipage/server-sent-events.html}
 * @example Send a price with a name and an id
 * ```ts
 * import { type ChannelEvent, createEventChannel } from "@millrace/streams/compression";
 *
 * const channel = createEventChannel();
 * const price: ChannelEvent = { event: "price", id: "17", data: JSON.stringify({ corn: 4.31 }) };
 * channel.send(price);
 * channel.close();
 * ```
 */
export interface ChannelEvent {
  /** The data, of any number of lines; `\r\n` and `\r` arrive as `\n`. */
  readonly data: string;
  /**
   * The name that listeners are added for; no line breaks.
   *
   * @default "message"
   */
  readonly event?: string;
  /**
   * The id that a client sends as `Last-Event-ID` when it reconnects; no line breaks and no NUL.
   *
   * @default none: the client keeps its last id
   */
  readonly id?: string;
  /** The time in ms that the client waits before it reconnects, from now on. */
  readonly retry?: number;
}

/** A line break in any of the three forms of the standard. */
const LINE_BREAK = /\r\n|\r|\n/;
const NOT_IN_FIELD = /[\r\n\0]/;

export function eventText({ data, event, id, retry, ...others }: ChannelEvent): string {
  for (const name in others) throw new TypeError(`unknown field "${name}" of an event: use data, event, id, retry`);
  if (typeof data !== "string") throw new TypeError(`data must be a string, not ${typeof data}: use JSON.stringify()`);
  let text = "";
  if (id !== undefined) text += `id: ${checkedField("id", id)}\n`;
  if (event !== undefined) text += `event: ${checkedField("event", event)}\n`;
  if (retry !== undefined) text += retryText(retry);
  for (const line of data.split(LINE_BREAK)) text += `data: ${line}\n`;
  return `${text}\n`;
}

/** Returns the field that sets the time before clients reconnect. */
export function retryText(retry: number): string {
  if (Number.isSafeInteger(retry) && retry >= 0) return `retry: ${retry}\n`;
  throw new RangeError(`retry ${String(retry)} is not a number of milliseconds: use a whole number from 0`);
}

function checkedField(name: string, value: string): string {
  if (typeof value !== "string") throw new TypeError(`${name} must be a string, not ${typeof value}`);
  if (!NOT_IN_FIELD.test(value)) return value;
  throw new TypeError(`${name} ${JSON.stringify(value)} may not contain line breaks or NUL: it is one line`);
}

/**
 * Options of {@linkcode createEventChannel}.
 *
 * @example Keep more events for clients that connect again
 * ```ts
 * import { createEventChannel, type EventChannelOptions } from "@millrace/streams/compression";
 *
 * const options: EventChannelOptions = { history: 1000, retry: 2000 };
 * const channel = createEventChannel(options);
 * channel.close();
 * ```
 */
export interface EventChannelOptions {
  /**
   * The content codings to use, in order of preference among those that a client accepts with equal weight; not brotli,
   * which readers cannot join midway.
   *
   * @default ["zstd", "gzip"]
   */
  codings?: readonly ("zstd" | "gzip")[];
  /**
   * The maximum number of events kept for clients that reconnect; 0 keeps none.
   *
   * @default 100
   */
  history?: number;
  /**
   * The maximum total length of the kept events, in UTF-16 code units.
   *
   * @default 1048576
   */
  historyLength?: number;
  /**
   * The time in ms without an event after which a comment is sent, so that proxies keep the connection; 0 sends none.
   *
   * @default 15000
   */
  heartbeat?: number;
  /**
   * The time in ms that clients wait before they reconnect.
   *
   * @default the clients' own, some seconds
   */
  retry?: number;
  /**
   * The treatment of slow subscribers, for which more than `maxBuffered` bytes are pending. `drop` closes their
   * connection; clients reconnect, and get missed events from the history. `skip` leaves out events until they have
   * read everything.
   *
   * @default "drop"
   */
  slow?: "drop" | "skip";
  /**
   * The maximum compressed bytes that are pending for each subscriber, in addition to the system's buffers. Events sent
   * while no bytes are pending do not count, whatever their size.
   *
   * @default 65536
   */
  maxBuffered?: number;
  /**
   * Called with the reason if events are sent uncompressed, or subscribers dropped, because a codec cannot be used.
   *
   * @default console.warn
   */
  onWarning?: (reason: string) => void;
}

export type ChannelCoding = NonNullable<EventChannelOptions["codings"]>[number];

export const eventChannelOptions: SchemaOf<EventChannelOptions, Exclude<keyof EventChannelOptions, "retry">> =
  /* @__PURE__ */ schema("createEventChannel()", () => {
    const codings = ["zstd", "gzip"] as const;
    return {
      codings: listOf(oneOf<ChannelCoding>(codings), "a list of codings", codings),
      history: integer(0, Infinity, 100),
      historyLength: integer(0, Infinity, 1024 * 1024),
      heartbeat: integer(0, Infinity, 15_000),
      retry: integer(0, Number.MAX_SAFE_INTEGER),
      slow: oneOf<"drop" | "skip", "drop" | "skip">(["drop", "skip"], "drop"),
      maxBuffered: bytes(64 * 1024),
      onWarning: func<(reason: string) => void>(warnOnConsole),
    };
  });

export interface ChannelSettings extends Omit<ReturnType<typeof eventChannelOptions>, "retry" | "onWarning"> {
  /** The first text for a subscriber, which shows the client that the connection works. */
  readonly greeting: string;
  readonly warn: (reason: string) => void;
}

/** @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range. */
export function channelSettings(options: EventChannelOptions): ChannelSettings {
  const { codings, retry, onWarning, ...others } = eventChannelOptions(options);
  return {
    ...others,
    codings: [...new Set(codings)],
    greeting: `${retry === undefined ? "" : retryText(retry)}:\n\n`,
    warn: warningTo(onWarning),
  };
}

/** Loads the codecs; warns of those that cannot be used here. */
export async function loadChannelCodecs({ codings, warn }: ChannelSettings): Promise<void> {
  await loadEncoders(
    codings,
    formatOfChannel,
    (coding, why) => warn(`events are not compressed with ${coding}: ${why}`),
  );
}

/** The codec formats of the codings. Gzip's header and trailer are sent separately for each subscriber. */
export const formatOfChannel = { zstd: "zstd", gzip: "deflate-raw" } as const;
