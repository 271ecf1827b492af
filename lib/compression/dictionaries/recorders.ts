import { Buffer } from "node:buffer";
import { atEndOfTurn, joinBytes } from "../../streams/internal.ts";

const MAX_BODY = 512 * 1024;
/** The maximum bytes of all bodies that are being recorded. */
const MAX_TOTAL = 4 * 1024 * 1024;
/** The time in ms after which an unfinished recording is dropped for another body of the same name. */
const RECORDING_TIMEOUT = 10_000;

export interface BodyRecorder {
  write(chunk: Uint8Array): void;
  end(): void;
  /** Drops the recording. Does nothing after {@linkcode BodyRecorder.end}. */
  close(): void;
}

/** Records bodies: one at a time for each name, and all of them within {@linkcode MAX_TOTAL}. */
export class Recorders {
  /** Unfinished recordings by name, the oldest first. */
  readonly #open = new Map<string, Recorder>();
  readonly #now: () => number;
  held = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Returns a recorder of a body, from its first chunk on, unless another body of that name is being recorded. `onEnd`
   * is called a turn after the end of the body, since session middleware may add a cookie when the head is sent.
   */
  recorder(name: string, onEnd: (body: Uint8Array) => void): BodyRecorder {
    let recorder: Recorder | undefined;
    return {
      write: (chunk) => {
        recorder ??= this.#begin(name);
        this.#take(recorder, chunk);
      },
      end: () => {
        if (recorder === undefined || !this.#isOpen(recorder)) return;
        const { chunks, length } = recorder;
        this.#drop(recorder);
        if (length > 0) atEndOfTurn(() => onEnd(joinBytes(chunks, length)));
      },
      close: () => recorder && this.#drop(recorder),
    };
  }

  #begin(name: string): Recorder {
    const other = this.#open.get(name);
    const recorder: Recorder = { name, began: this.#now(), chunks: [], length: 0 };
    // The other recording is not in the map.
    if (other !== undefined && recorder.began - other.began < RECORDING_TIMEOUT) return recorder;
    if (other !== undefined) this.#drop(other);
    this.#open.set(name, recorder);
    return recorder;
  }

  #isOpen(recorder: Recorder): boolean {
    return this.#open.get(recorder.name) === recorder;
  }

  #take(recorder: Recorder, chunk: Uint8Array): void {
    if (!this.#isOpen(recorder)) return;
    if (recorder.length + chunk.length > MAX_BODY) return this.#drop(recorder);
    recorder.chunks.push(new Uint8Array(chunk)); // slice() of a Buffer copies nothing
    recorder.length += chunk.length;
    this.held += chunk.length;
    for (const oldest of this.#open.values()) {
      if (this.held <= MAX_TOTAL) break;
      this.#drop(oldest);
    }
  }

  #drop(recorder: Recorder): void {
    if (!this.#isOpen(recorder)) return;
    this.#open.delete(recorder.name);
    this.held -= recorder.length;
  }
}

interface Recorder {
  readonly name: string;
  readonly began: number;
  readonly chunks: Uint8Array[];
  length: number;
}

/** The number of different responses that a template is made from. */
const SAMPLES = 6;
/** The number of attempts to make a template, if the samples have little in common. */
const TRIES = 3;
/** The maximum template in bytes: every client loads it once. */
const MAX_TEMPLATE_SIZE = 64 * 1024;
/** The minimum template in bytes that is worth a request. */
const MIN_TEMPLATE_SIZE = 256;
/** The pieces of a text: split before tags and object members, and after lines. */
const PIECES = /[^<\n,{]*\n|[<,{]?[^<\n,{]*/g;

/** Makes a template from the first responses of a route: the pieces that more than half of them contain. */
export class TemplateMaker {
  /** The samples as strings with one character for each byte. */
  readonly #samples = new Set<string>();
  #tries = 0;
  isDone = false;

  /** Adds a response's body, and returns the template once there are enough samples. */
  add(body: Uint8Array): Uint8Array | undefined {
    if (this.isDone) return undefined;
    this.#samples.add(Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"));
    if (this.#samples.size < SAMPLES) return undefined;
    const template = templateOf([...this.#samples]);
    this.#samples.clear();
    const isWorthIt = template.length >= MIN_TEMPLATE_SIZE;
    this.isDone = isWorthIt || ++this.#tries === TRIES;
    return isWorthIt ? new Uint8Array(Buffer.from(template, "latin1")) : undefined;
  }
}

/** Returns the pieces that more than half of all samples contain, in the order of the sample that contains most of them. */
function templateOf(samples: readonly string[]): string {
  const pieces = samples.map((sample) => sample.match(PIECES)!);
  const counts = new Map<string, number>();
  for (const list of pieces) {
    for (const piece of new Set(list)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  let best = "";
  for (const list of pieces) {
    const seen = new Set<string>();
    const common = list.filter((piece) => {
      const isNew = counts.get(piece)! > samples.length / 2 && !seen.has(piece);
      return isNew && seen.add(piece);
    }).join("");
    if (common.length > best.length) best = common;
  }
  return best.slice(0, MAX_TEMPLATE_SIZE);
}
