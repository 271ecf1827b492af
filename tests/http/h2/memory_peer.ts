import type { Transport, TransportEvents } from "../../../lib/http/connection.ts";
import { FieldDecoder } from "../faults/field_decoder.ts";
import {
  Flag,
  type Frame,
  frame,
  FrameReader,
  FrameType,
  goawayFrame,
  headerBlock,
  numberFrame,
  settingsFrame,
} from "../faults/http2_frames.ts";

/**
 * A server's end of a session without sockets: sends any frames, and keeps those of the client. What is sent arrives at once, and
 * what the client writes as well.
 */
export class MemoryPeer implements Transport {
  readonly alpnProtocol = "h2";
  readonly remoteAddress = undefined;
  full = false;
  /** Whether the write queue is empty: always, since writes are copied at once. */
  readonly empty = true;
  waiting = 0;
  /** The frames the client sent, oldest first; tests remove frames from it. */
  readonly frames: Frame[] = [];
  /** The number of writes that the client made. */
  writes = 0;
  isHeld = true;
  isEnded = false;
  isDestroyed = false;
  /** Whether PING frames remain unanswered. */
  isMute = false;
  #events: TransportEvents | undefined = undefined;
  readonly #reader = new FrameReader();
  readonly #decoder = new FieldDecoder();

  attach(events: TransportEvents): void {
    this.#events = events;
  }

  write(bytes: Uint8Array): void {
    if (this.isEnded || this.isDestroyed) return;
    this.writes++;
    const frames = this.#reader.read(bytes);
    this.frames.push(...frames);
    for (const { type, flags, payload } of frames) {
      if (type !== FrameType.ping || (flags & Flag.ack) !== 0 || this.isMute) continue;
      queueMicrotask(() => this.send(frame(FrameType.ping, Flag.ack, 0, payload)));
    }
  }

  pause(): void {}

  gather(): void {}

  resume(): void {}

  end(): void {
    this.isEnded = true;
  }

  leave(): void {
    this.destroy();
  }

  destroy(): void {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    queueMicrotask(() => this.#events!.onClose(undefined));
  }

  keepProcess(alive: boolean): void {
    this.isHeld = alive;
  }

  /** Sends bytes, one chunk an argument; the client then owns their memory. */
  send(...chunks: Uint8Array[]): void {
    for (const chunk of chunks) if (!this.isDestroyed) this.#events!.onData(Uint8Array.from(chunk), true);
  }

  settings(values: Readonly<Record<number, number>> = {}): void {
    this.send(settingsFrame(values));
  }

  acknowledgeSettings(): void {
    this.send(frame(FrameType.settings, Flag.ack, 0, new Uint8Array(0)));
  }

  goaway(last: number, code: number): void {
    this.send(goawayFrame(last, code));
  }

  reset(stream: number, code: number): void {
    this.send(numberFrame(FrameType.reset, stream, code));
  }

  widen(stream: number, bytes: number): void {
    this.send(numberFrame(FrameType.windowUpdate, stream, bytes));
  }

  /** The transport takes bytes again. */
  drain(): void {
    this.full = false;
    this.waiting = 0;
    this.#events!.onDrain();
  }

  /** The server sends no more. */
  finish(): void {
    this.#events!.onEnd();
  }

  /** The socket breaks. */
  lose(error: Error): void {
    this.isDestroyed = true;
    this.#events!.onClose(error);
  }

  /** Returns the client's frames so far, which are taken away. */
  take(): Frame[] {
    return this.frames.splice(0);
  }

  /** Returns the frames of one type since the last call. */
  takeOf(type: number): Frame[] {
    return this.take().filter((frame) => frame.type === type);
  }

  /** Decodes a field block of the client; to be done with every one, in order. */
  fields(block: Uint8Array): Map<string, string> {
    return this.#decoder.decode(Buffer.from(block));
  }
}

/** HEADERS with a whole field block. */
export function headFrame(
  stream: number,
  fields: readonly (readonly [string, string])[],
  endsStream: boolean = false,
): Buffer {
  return frame(FrameType.headers, Flag.endHeaders | (endsStream ? Flag.endStream : 0), stream, headerBlock(fields));
}

/** DATA. */
export function dataFrame(stream: number, bytes: Uint8Array | string, endsStream: boolean = false): Buffer {
  return frame(FrameType.data, endsStream ? Flag.endStream : 0, stream, Buffer.from(bytes as string));
}

/** Returns a response in two frames. */
export function response(stream: number, body: string, status: string = "200"): Buffer {
  return Buffer.concat([headFrame(stream, [[":status", status]]), dataFrame(stream, body, true)]);
}
