import { atEndOfTurn } from "../streams/internal.ts";
import { type Codec, codecOf, type Codecs, type WasmModule } from "./module.ts";
import {
  type CompressOptions,
  compressOptions,
  compressParameters,
  type DecompressOptions,
  decompressOptions,
  decompressParameters,
  owned,
  requireBytes,
  type SessionParameters,
} from "./options.ts";
import { FINISH, MAX_OUTPUT, type PieceLimits, Session, WholeOutput } from "./session.ts";

/*
 * Runs codecs in steps beside other work: each step takes a piece of input, and its output is passed on. For all codecs
 * of a thread:
 *
 * 1. In a turn of the event loop they compute for MAX_TURN_TIME and at most one step more, however many streams are open.
 * 2. Waiting steps run in the order of their arrival, so that a small stream does not wait for large ones.
 * 3. A step runs once the output of the previous one was taken: output that is not read is not computed.
 * 4. A step reads the current bytes: if they were transferred meanwhile, that is an error, never a shorter stream.
 * 5. A stream that is closed while its step waits runs no further step.
 */

/** The maximum time in ms that codecs compute in one turn of the event loop. */
const MAX_TURN_TIME = 10;

/** The time in ms that codecs have computed since their steps last waited for another turn. */
let computed = 0;
const waiting: (() => void)[] = [];
let isScheduled = false;

/** Whether the next step has to wait for another turn of the event loop. */
export function isTurnOver(): boolean {
  return waiting.length > 0 || computed > MAX_TURN_TIME;
}

/** Runs a step of a codec, in a later turn of the event loop if codecs have used up the current one. */
export function inTurn<T>(step: () => T): T | Promise<T> {
  if (!isTurnOver()) return counted(step);
  return new Promise<T>((resolve) => {
    waiting.push(() => resolve(new Promise((settle) => settle(counted(step))))); // a step may throw
    makeInTime();
  });
}

function makeInTime(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  atEndOfTurn(() => {
    isScheduled = false;
    computed = 0;
    while (waiting.length > 0 && computed <= MAX_TURN_TIME) waiting.shift()!();
    makeInTime();
  });
}

/** Returns bytes for steps to read: a copy, unless one step takes all, as their owner may transfer them later. */
export function readable(bytes: Uint8Array, module: WasmModule | undefined, { input }: PieceLimits): Uint8Array {
  const isTaken = module !== undefined && bytes.length <= input && !isTurnOver();
  return isTaken ? bytes : new Uint8Array(bytes);
}

/** Runs a step now and counts its time. */
export function counted<T>(step: () => T): T {
  const start = performance.now();
  try {
    return step();
  } finally {
    computed += performance.now() - start;
  }
}

type Put<T> = (output: T) => void | Promise<void>;

/** Runs all steps and passes on each step's output; the next step waits until that output is taken. */
export function pump<T extends Uint8Array>(steps: Iterator<T, unknown>, put: Put<T>): void | Promise<void> {
  while (true) {
    const made = inTurn(() => steps.next());
    if (made instanceof Promise) return pumpOn(steps, put, made);
    if (made.done) return;
    const taking = made.value.length > 0 ? put(made.value) : undefined;
    if (taking) return taking.then(() => pumpOn(steps, put, inTurn(() => steps.next())));
  }
}

async function pumpOn<T extends Uint8Array>(
  steps: Iterator<T, unknown>,
  put: Put<T>,
  making: IteratorResult<T, unknown> | Promise<IteratorResult<T, unknown>>,
): Promise<void> {
  for (let made = await making; !made.done; made = await inTurn(() => steps.next())) {
    if (made.value.length > 0) await put(made.value);
  }
}

export async function compressBy(
  codecs: Codecs,
  bytes: ArrayBufferView | ArrayBufferLike,
  options: CompressOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const input = requireBytes(bytes, "bytes");
  const checked = compressOptions.check(options);
  const parameters = compressParameters(checked, input.length, true);
  return await runWhole(input, parameters, codecOf(codecs, parameters), Infinity, checked.signal);
}

export async function decompressBy(
  codecs: Codecs,
  bytes: ArrayBufferView | ArrayBufferLike,
  options: DecompressOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const input = requireBytes(bytes, "bytes");
  const checked = decompressOptions.check(options);
  const parameters = decompressParameters(checked, true);
  return await runWhole(input, parameters, codecOf(codecs, parameters), checked.maxSize ?? Infinity, checked.signal);
}

/**
 * Returns the sizes of steps: for brotli's encoder its largest block, for decoders about 50 ms of output, or 200 ms of
 * input without output, such as empty members. Joining smaller pieces of output would take a tenth of the time. Other
 * encoders pause after each block, brotli's fastest levels after each piece.
 */
function pausesOf({ family, direction, level }: SessionParameters, maxSize: number): PieceLimits {
  if (direction === "decompress") return { input: 2 ** 20, output: Math.min(maxSize + 1, 2 ** 24) };
  return { input: family === "brotli" && level >= 2 ? 2 ** 18 : Infinity, output: MAX_OUTPUT };
}

/** Runs a codec over whole bytes, with turns between steps. Copies `input`, since its owner may transfer it. */
async function runWhole(
  input: Uint8Array,
  parameters: SessionParameters,
  codec: Codec,
  maxSize: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  signal?.throwIfAborted();
  const { module } = codec;
  const limits = pausesOf(parameters, maxSize);
  const bytes = readable(input, module, limits);
  const kept = module ? parameters : owned(parameters);
  const session = new Session(module ?? await codec.load(), kept);
  const whole = new WholeOutput(parameters.format, maxSize);
  try {
    const steps = session.run(bytes, FINISH, limits);
    while (true) {
      const { done, value } = await inTurn(() => {
        signal?.throwIfAborted();
        return steps.next();
      });
      if (done) return whole.join();
      whole.add(value);
    }
  } finally {
    session.close();
  }
}
