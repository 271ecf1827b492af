import { ConnectionFault, FLOW_CONTROL_ERROR } from "./error_codes.ts";
import type { FrameOutput } from "./frame_output.ts";
import { DEFAULT_WINDOW } from "./frame_types.ts";
import type { Http2Stream } from "./http2_stream.ts";

/**
 * The connection's window, in bytes. It is given back as bytes come, so that a stream that nobody reads does not hold up the others:
 * what memory a response may take is said by its stream's window. So large, its updates are few.
 */
const CONNECTION_WINDOW = 16 * 1024 * 1024;

/**
 * The windows for bytes that the server may send.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-5.2}
 */
export class ReceiveWindows {
  /** A new stream's window. While the server may not know our SETTINGS, it may use the default one. */
  initial: number;
  readonly #streamWindow: number;
  readonly #output: FrameOutput;
  #connection = CONNECTION_WINDOW;

  /**
   * Makes the windows, and says how large the connection's is.
   *
   * @param streamWindow As our SETTINGS have it.
   */
  constructor(output: FrameOutput, streamWindow: number) {
    this.#output = output;
    this.#streamWindow = streamWindow;
    this.initial = Math.max(streamWindow, DEFAULT_WINDOW);
    output.addWindow(0, CONNECTION_WINDOW - DEFAULT_WINDOW);
  }

  /** The server knows our SETTINGS: what it may send on these streams becomes what they say. */
  onSettingsKnown(streams: Iterable<Http2Stream>): void {
    const less = this.initial - this.#streamWindow;
    if (less === 0) return;
    this.initial = this.#streamWindow;
    for (const stream of streams) stream.receiveWindow -= less;
  }

  /**
   * Takes bytes from the connection's window.
   *
   * @throws {ConnectionFault} if there is not so much left.
   */
  onConnectionData(size: number): void {
    this.#connection -= size;
    if (this.#connection >= CONNECTION_WINDOW / 2) return;
    if (this.#connection < 0) {
      throw new ConnectionFault(FLOW_CONTROL_ERROR, "the server sent more than the connection's window allows");
    }
    this.#output.addWindow(0, CONNECTION_WINDOW - this.#connection);
    this.#connection = CONNECTION_WINDOW;
  }

  /** Takes bytes from a stream's window. @returns Whether there were so many. */
  onStreamData(stream: Http2Stream, size: number): boolean {
    stream.receiveWindow -= size;
    return stream.receiveWindow >= 0;
  }

  /** Gives bytes back to a stream. @returns Whether the server is told: by half windows, not bit by bit. */
  onConsumed(stream: Http2Stream, bytes: number): boolean {
    stream.credit += bytes;
    if (stream.credit * 2 < this.#streamWindow) return false;
    // What is still to come has room anyway.
    if (stream.expected >= 0 && stream.expected <= stream.receiveWindow) return false;
    this.#output.addWindow(stream.id, stream.credit);
    stream.receiveWindow += stream.credit;
    stream.credit = 0;
    return true;
  }
}
