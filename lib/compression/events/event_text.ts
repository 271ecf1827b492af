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
   * The id that a client names, in `Last-Event-ID`, when it connects again; no line breaks and no NUL.
   *
   * @default none: the client's last id stays
   */
  readonly id?: string;
  /** The time in ms that the client waits before it connects again, from now on. */
  readonly retry?: number;
}

/** A line break in any of the three forms of the standard. */
const LINE_BREAK = /\r\n|\r|\n/;
const NOT_IN_FIELD = /[\r\n\0]/;

/**
 * Returns an event as it is sent.
 *
 * @throws {TypeError} if a field is of the wrong type, or would end its line.
 * @throws {RangeError} if `retry` is no number of milliseconds.
 */
export function eventText({ data, event, id, retry }: ChannelEvent): string {
  if (typeof data !== "string") throw new TypeError(`data must be a string, not ${typeof data}: use JSON.stringify()`);
  let text = "";
  if (id !== undefined) text += `id: ${checkedField("id", id)}\n`;
  if (event !== undefined) text += `event: ${checkedField("event", event)}\n`;
  if (retry !== undefined) text += retryText(retry);
  for (const line of data.split(LINE_BREAK)) text += `data: ${line}\n`;
  return `${text}\n`;
}

/**
 * Returns the field that sets how long clients wait before they connect again.
 *
 * @throws {RangeError} if `retry` is no number of milliseconds.
 */
export function retryText(retry: number): string {
  if (Number.isSafeInteger(retry) && retry >= 0) return `retry: ${retry}\n`;
  throw new RangeError(`retry ${String(retry)} is not a number of milliseconds: use a whole number from 0`);
}

function checkedField(name: string, value: string): string {
  if (typeof value !== "string") throw new TypeError(`${name} must be a string, not ${typeof value}`);
  if (!NOT_IN_FIELD.test(value)) return value;
  throw new TypeError(`${name} ${JSON.stringify(value)} may not contain line breaks or NUL: it is one line`);
}
