import { crc32 } from "node:zlib";
import { type Encoder, openEncoder } from "../../codecs/internal.ts";
import { joinBytes } from "../../streams/internal.ts";
import type { Feed, Opening, Subscriber } from "./feed.ts";
import { type ChannelCoding, formatOfChannel } from "./options.ts";

/** The polynomial of gzip's CRC-32, with its lowest power in the highest bit (RFC 1952, section 8). */
const POLYNOMIAL = 0xedb88320;
/** The polynomial 1 in the same order of bits. */
const ONE = 0x80000000;

/** x to the powers 1, 2, 4, 8, …; these repeat after 32 entries. */
let powers: Uint32Array | undefined;

function powersOfX(): Uint32Array {
  const made = new Uint32Array(32);
  made[0] = timesX(ONE);
  for (let i = 1; i < made.length; i++) made[i] = product(made[i - 1], made[i - 1]);
  return made;
}

/** Shifts a checksum by `length` bytes: that of two parts is `shifted(crc(first), second.length) ^ crc(second)`. */
export function shifted(crc: number, length: number): number {
  powers ??= powersOfX();
  let result = crc;
  let rest = length;
  for (let power = 3; rest > 0; power++) { // 8 bits a byte
    if (rest % 2 === 1) result = product(result, powers[power % 32]);
    rest = Math.floor(rest / 2);
  }
  return result >>> 0;
}

/** Multiplies two polynomials, modulo that of the checksum. */
function product(a: number, b: number): number {
  let sum = 0;
  let term = b;
  for (let bits = a; bits !== 0; bits <<= 1) {
    if (bits & ONE) sum ^= term;
    term = timesX(term);
  }
  return sum;
}

function timesX(polynomial: number): number {
  return polynomial & 1 ? (polynomial >>> 1) ^ POLYNOMIAL : polynomial >>> 1;
}

/** Subscribers that read the same bytes. */
class EncodingGroup {
  readonly members = new Set<Subscriber>();
  #encoder: Encoder | undefined;
  readonly #open: () => Encoder;

  constructor(open: () => Encoder) {
    this.#open = open;
  }

  /** Whether the next text is encoded without references to earlier text. */
  get isClosed(): boolean {
    return this.#encoder === undefined;
  }

  /** Encodes text and flushes, so that clients can decode it at once. */
  encode(text: Uint8Array): Uint8Array {
    this.#encoder ??= this.#open();
    return joined([...this.#encoder.write(text), ...this.#encoder.flush()]);
  }

  /** Frees the encoder: the next text begins a new stream. */
  close(): void {
    this.#encoder?.close();
    this.#encoder = undefined;
  }
}

/** The properties of a coding. An encoder is never completed: each reader gets separate bytes that end its stream. */
interface Traits {
  readonly level: number;
  readonly windowLog?: number;
  readonly header: Uint8Array;
  /** The bytes between an encoder's flushed output and that of the next encoder; empty if outputs can be joined. */
  readonly partEnd: Uint8Array;
}

const traitsOf: Readonly<Record<ChannelCoding, Traits>> = {
  // An encoder's output is a frame, ended by an empty raw block that is marked as the last one (RFC 8878, section 3.1.1.2).
  zstd: { level: 3, windowLog: 17, header: new Uint8Array(0), partEnd: Uint8Array.of(1, 0, 0) },
  // Outputs are blocks of one deflate stream, since each begins and ends at a byte boundary (RFC 1951).
  gzip: { level: 6, header: Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 255), partEnd: new Uint8Array(0) },
};

/** An empty block of deflate that is marked as the last one. */
const LAST_BLOCK = Uint8Array.of(3, 0);

/**
 * A broadcast in a coding that readers can join only where an encoder restarts. A restart costs all readers the
 * references to earlier events. So new subscribers share a second encoder, until its restarts have cost as much as one
 * of the main encoder.
 */
export class EncodedBroadcast implements Feed {
  readonly #coding: ChannelCoding;
  readonly #traits: Traits;
  readonly #settled: EncodingGroup;
  readonly #newcomers: EncodingGroup;
  readonly #joining = new Set<Subscriber>();
  /** The number of texts sent to new subscribers without references to earlier ones. */
  #missed = 0;
  /** The checksum of all text so far; `#length` is its length. */
  #crc = 0;
  #length = 0;
  readonly #warn: (reason: string) => void;

  constructor(coding: ChannelCoding, warn: (reason: string) => void) {
    this.#coding = coding;
    this.#traits = traitsOf[coding];
    this.#warn = warn;
    this.#settled = new EncodingGroup(() => this.#openEncoder());
    this.#newcomers = new EncodingGroup(() => this.#openEncoder());
  }

  #openEncoder(): Encoder {
    const { level, windowLog } = this.#traits;
    return openEncoder(formatOfChannel[this.#coding], { level, windowLog });
  }

  open(text: Uint8Array): Opening {
    const { header, partEnd } = this.#traits;
    const encoder = this.#openEncoder();
    try {
      const bytes = joined([header, ...encoder.write(text), ...encoder.flush(), partEnd]);
      return { bytes, crc: crc32(text), length: text.length };
    } finally {
      encoder.close();
    }
  }

  join(subscriber: Subscriber, opening?: Opening): void {
    const { place } = subscriber;
    if (opening) Object.assign(place, { crc: opening.crc, length: opening.length });
    place.crc ^= this.#crc;
    place.joinedAt = this.#length;
    this.#joining.add(subscriber);
  }

  leave(subscriber: Subscriber): void {
    const sets = [this.#settled.members, this.#newcomers.members, this.#joining];
    if (!sets.map((set) => set.delete(subscriber)).includes(true)) return;
    const { place } = subscriber;
    const length = this.#length - place.joinedAt;
    // Since the subscriber joined, the channel and the subscriber have sent the same text.
    place.crc = (shifted(place.crc, length) ^ this.#crc) >>> 0;
    place.length += length;
  }

  send(text: Uint8Array): Subscriber[] {
    const slow: Subscriber[] = [];
    this.#seat();
    if (this.#coding === "gzip") this.#crc = crc32(text, this.#crc);
    this.#length += text.length;
    for (const lane of [this.#settled, this.#newcomers]) {
      try {
        this.#sendTo(lane, text, slow);
      } catch (error) {
        const reason = (error as Error).message;
        this.#warn(`subscribers of a channel are cut off: ${reason}`);
        lane.close();
        for (const member of [...lane.members]) member.drop(reason);
      }
    }
    return slow;
  }

  #seat(): void {
    if (this.#joining.size === 0) return;
    this.#missed += this.#newcomers.members.size + this.#joining.size;
    if (this.#missed < this.#settled.members.size) {
      moveTo(this.#newcomers, this.#joining);
      return this.#newcomers.close();
    }
    this.#missed = 0;
    moveTo(this.#settled, this.#newcomers.members);
    moveTo(this.#settled, this.#joining);
    this.#settled.close();
  }

  /** @throws {RangeError} if memory runs out. */
  #sendTo(lane: EncodingGroup, text: Uint8Array, slow: Subscriber[]): void {
    const { members } = lane;
    if (members.size === 0) return lane.close();
    const { partEnd } = this.#traits;
    const isPartEnded = lane.isClosed;
    const bytes = lane.encode(text);
    const afterEnd = isPartEnded && partEnd.length > 0 ? joined([partEnd, bytes]) : bytes;
    for (const member of members) {
      const isWithin = member.place.isWithin;
      member.place.isWithin = true;
      if (!member.write(isWithin ? afterEnd : bytes)) slow.push(member);
    }
  }

  ending(subscriber: Subscriber): Uint8Array {
    this.leave(subscriber);
    const { isWithin, crc, length } = subscriber.place;
    if (this.#coding === "zstd") return isWithin ? this.#traits.partEnd : new Uint8Array(0);
    const trailer = new DataView(new ArrayBuffer(8));
    trailer.setUint32(0, crc, true);
    trailer.setUint32(4, length % 2 ** 32, true);
    return joined([LAST_BLOCK, new Uint8Array(trailer.buffer)]);
  }

  close(): void {
    this.#settled.close();
    this.#newcomers.close();
  }
}

function moveTo(lane: EncodingGroup, subscribers: Set<Subscriber>): void {
  for (const subscriber of subscribers) lane.members.add(subscriber);
  subscribers.clear();
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return joinBytes(pieces, pieces.reduce((length, piece) => length + piece.length, 0));
}
