import { asserted, undecided, unhandled } from "./known.ts";
import { isPlain } from "../../../lib/streams/language/host.ts";
import { native as nativeClasses, ours as ourClasses } from "../drop_in_implementations.ts";
import { TextDecoderStream } from "../../../lib/streams/encoding/text_decoder_stream.ts";
import { TextEncoderStream } from "../../../lib/streams/encoding/text_encoder_stream.ts";

/** The classes that a cell is run with. */
export interface Classes {
  readonly ReadableStream: typeof globalThis.ReadableStream;
  readonly WritableStream: typeof globalThis.WritableStream;
  readonly TransformStream: typeof globalThis.TransformStream;
  readonly TextDecoderStream: typeof globalThis.TextDecoderStream;
  readonly TextEncoderStream: typeof globalThis.TextEncoderStream;
}

/** The runtime's own. */
export const native: Classes = {
  ...nativeClasses,
  TextDecoderStream: globalThis.TextDecoderStream,
  TextEncoderStream: globalThis.TextEncoderStream,
};

/** Ours. */
export const ours: Classes = {
  ...ourClasses,
  TextDecoderStream: TextDecoderStream as unknown as typeof globalThis.TextDecoderStream,
  TextEncoderStream: TextEncoderStream as unknown as typeof globalThis.TextEncoderStream,
};

/** Ways to make a stream, by name. */
export type Kinds<Stream> = Readonly<Record<string, (classes: Classes) => Stream | Promise<Stream>>>;

/** Steps that bring a stream into a state, by the state's name. */
export type States<Stream> = Readonly<Record<string, (stream: Stream, classes: Classes) => unknown>>;

/** Observes a stream in a place; called after the stream was passed there. */
export type Use = () => Seen | Promise<Seen>;
/** Plain data. */
export type Seen = unknown;

/**
 * The places of the runtime that take a stream, by name. A place hands the stream over and returns what is done with it
 * there, so that a state comes about before the one or between both.
 */
export type Places<Stream> = Readonly<Record<string, (stream: Stream, classes: Classes) => Use | Promise<Use>>>;

/** The number of turns after which a promise that needs no I/O has settled, or never will. */
const TURNS = 60;
/**
 * The number of messages to this module itself that a turn of {@linkcode turns} lasts, beside a timer: longer than a pause
 * of the package's tasks.
 */
const MESSAGES = 12;
/** The milliseconds after which a result from outside counts as missing; correct cells need none of it. */
const DEADLINE = 60_000;

/** The waits for turns, by the turn that they end with; all share one timer a turn. */
const waits = new Map<number, () => void>();
const waited = new Map<number, Promise<void>>();
let turn = 0;

/** Turns of the event loop. */
export function turns(count: number): Promise<void> {
  const last = turn + count;
  let wait = waited.get(last);
  if (wait !== undefined) return wait;
  if (waits.size === 0) setTimeout(receive, 0, MESSAGES);
  wait = new Promise((resolve) => waits.set(last, resolve));
  waited.set(last, wait);
  return wait;
}

/** Passes one turn after a number of messages, which take as long as this package's tasks pause on a busy machine. */
function receive(left: number): void {
  if (left > 0) return send(() => receive(left - 1));
  turn++;
  waits.get(turn)?.();
  waits.delete(turn);
  waited.delete(turn);
  if (waits.size > 0) setTimeout(receive, 0, MESSAGES);
}

function send(steps: () => void): void {
  if (typeof setImmediate === "function") return void setImmediate(steps);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = steps;
  port2.postMessage(undefined);
}

/** Returns the outcome of a promise that needs no I/O: its value, its error's name, or "waits". */
export function outcome(steps: () => unknown, wait: Promise<void> = turns(TURNS)): Promise<Seen> {
  return Promise.race([
    new Promise((resolve) => resolve(steps())).then((value) => value, (error) => `fails: ${nameOf(error)}`),
    wait.then(() => "waits"),
  ]);
}

/** Returns the outcome of steps that are answered by a socket, a file or another thread. */
export function outcomeFromOutside(steps: () => unknown): Promise<Seen> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((passed) => timer = setTimeout(passed, DEADLINE));
  return outcome(steps, late).finally(() => clearTimeout(timer));
}

function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : String(error);
}

const { Bun, Deno, process } = globalThis as { Bun?: object; Deno?: object; process?: object };

/** The cells that are left out on this host. */
const omitted: readonly RegExp[] = [
  unhandled,
  ...Deno ? [undecided] : [],
  ...process && !Deno && !Bun ? [asserted] : [],
];

/** The cells of a place: each kind of stream in each state, come about before and after it was handed over. */
export interface Cell {
  readonly name: string;
  readonly run: (classes: Classes) => Promise<Seen>;
}

export function cellsOf<Stream>(kinds: Kinds<Stream>, states: States<Stream>, places: Places<Stream>): Cell[] {
  const cells = Object.entries(places).flatMap(([place, take]) =>
    Object.entries(kinds).flatMap(([kind, make]) =>
      Object.entries(states).flatMap(([state, enter]) => {
        const names = state === FRESH ? [""] : ["before", "after"];
        return names.map((order): Cell => ({
          name: [place, kind, state, order].filter(Boolean).join(" | "),
          async run(classes) {
            const stream = await make(classes);
            const handOver = (): Promise<Use> => Promise.resolve(take(stream, classes));
            if (order !== "after") await outcome(() => enter(stream, classes));
            let use: Use;
            try {
              use = await handOver();
            } catch (error) {
              return `refused: ${nameOf(error)}`;
            }
            if (order === "after") await outcome(() => enter(stream, classes));
            return await use();
          },
        }));
      })
    )
  );
  return cells.filter(({ name }) => !omitted.some((cells) => cells.test(name)));
}

/** The state of a stream to which nothing has happened. */
export const FRESH = "fresh";

/** The host whose native streams are compared. */
export type Host = "node" | "deno" | "bun" | "browser";

/** Cells with a known difference of this package's streams. */
export interface Difference {
  readonly cells: RegExp;
  readonly on: readonly Host[];
  readonly reason: string;
  /** Whether only streams in their plain form differ. */
  readonly plain?: true;
  /** Whether the reason explains the difference of two results. Default: any difference. */
  readonly excuses?: (native: string, ours: string) => boolean;
}

/** Returns the cells where this package differs from native streams for no known reason, and the known reasons. */
export async function differences(cells: readonly Cell[], known: readonly Difference[], host: Host): Promise<{
  readonly unknown: Record<string, { readonly native: Seen; readonly ours: Seen }>;
  readonly reasons: string[];
}> {
  const unknown: Record<string, { native: Seen; ours: Seen }> = {};
  const here = known.filter(({ on, plain }) => on.includes(host) && (isPlain || !plain));
  const used = new Set<Difference>();
  await Promise.all(cells.map(async ({ name, run }) => {
    const [ofNative, ofOurs] = await Promise.all([seenBy(run, native), seenBy(run, ours)]);
    const [told, toldOfOurs] = [JSON.stringify(ofNative), JSON.stringify(ofOurs)];
    if (told === toldOfOurs) return;
    const difference = here.find(({ cells, excuses }) => cells.test(name) && (excuses?.(told, toldOfOurs) ?? true));
    if (difference === undefined) unknown[name] = { native: ofNative, ours: ofOurs };
    else used.add(difference);
  }));
  return { unknown, reasons: [...used].map(({ reason }) => reason) };
}

async function seenBy(run: Cell["run"], classes: Classes): Promise<Seen> {
  try {
    return await run(classes);
  } catch (error) {
    return `the cell fails: ${nameOf(error)}`;
  }
}
