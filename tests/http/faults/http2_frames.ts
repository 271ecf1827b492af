/** Reads and writes HTTP/2 frames without checks, for servers that misbehave. */
import { Buffer } from "node:buffer";

/** @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-6} */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-7} */
export const ErrorCode = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  refusedStream: 7,
  cancel: 8,
  enhanceYourCalm: 11,
} as const;

/** @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-6.5.2} */
export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
} as const;

export const Flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Returns a frame, ready to be sent. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, 9);
  return bytes;
}

/** RST_STREAM, WINDOW_UPDATE: frames that hold one number. */
export function numberFrame(type: number, stream: number, value: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(value);
  return frame(type, 0, stream, payload);
}

export function goawayFrame(lastStream: number, code: number): Buffer {
  const payload = Buffer.allocUnsafe(8);
  payload.writeUInt32BE(lastStream, 0);
  payload.writeUInt32BE(code, 4);
  return frame(FrameType.goaway, 0, 0, payload);
}

/** SETTINGS by the identifiers of {@link Setting}. */
export function settingsFrame(values: Readonly<Record<number, number>>): Buffer {
  const entries = Object.entries(values);
  const payload = Buffer.allocUnsafe(entries.length * 6);
  entries.forEach(([identifier, value], index) => {
    payload.writeUInt16BE(Number(identifier), index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  });
  return frame(FrameType.settings, 0, 0, payload);
}

export function readSettings(payload: Buffer): Map<number, number> {
  const values = new Map<number, number>();
  for (let at = 0; at + 6 <= payload.length; at += 6) {
    values.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  }
  return values;
}

/** Makes a field section without compression: literals without indexing. */
export function headerBlock(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

/** @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-5.2} */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const prefix = [127];
  let rest = bytes.length - 127;
  for (; rest > 127; rest >>>= 7) prefix.push((rest & 127) | 128);
  prefix.push(rest);
  return Buffer.concat([Buffer.from(prefix), bytes]);
}

/** A reader that splits the received bytes into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #hasPreface = false;

  /** Returns the complete frames. @throws if the client's input does not begin with the preface. */
  read(chunk: Uint8Array): Frame[] {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    if (!this.#hasPreface) {
      if (this.#rest.length < PREFACE.length) return [];
      const start = this.#rest.toString("latin1", 0, PREFACE.length);
      if (start !== PREFACE) throw new Error(`the client began with ${JSON.stringify(start)}`);
      this.#rest = this.#rest.subarray(PREFACE.length);
      this.#hasPreface = true;
    }
    const frames: Frame[] = [];
    let at = 0;
    while (this.#rest.length - at >= 9) {
      const end = at + 9 + this.#rest.readUIntBE(at, 3);
      if (end > this.#rest.length) break;
      frames.push({
        type: this.#rest[at + 3],
        flags: this.#rest[at + 4],
        stream: this.#rest.readUInt32BE(at + 5) & 0x7fffffff,
        payload: this.#rest.subarray(at + 9, end),
      });
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
    return frames;
  }
}
