import { toNative } from "../../../lib/streams/mod.ts";
import { type Kinds, native, outcome, type Places, type States, turns } from "./cells.ts";
import { seen, type Watched, watched, writables, writableStates } from "./writables.ts";

const ignore = (): void => {};

/** The destinations of native pipes: those of other places, and streams that stay in a state for longer. */
export const destinations: Kinds<Watched> = {
  ...writables,
  "one that takes turns": ({ WritableStream }) => {
    const destination = watched(WritableStream, {
      write: async (chunk) => void (await turns(2), destination.log.push(chunk)),
      close: async () => void (await turns(2), destination.log.push("close")),
    });
    return destination;
  },
  "one that never finishes": ({ WritableStream }) => {
    const wait = (): Promise<void> => new Promise<void>(ignore);
    return watched(WritableStream, { write: wait, close: wait });
  },
};

/** The states of destinations. */
export const destinationStates: States<Watched> = {
  ...writableStates,
  "aborted behind a write": behindAWrite((writer) => writer.abort("enough")),
  "closing behind a write": behindAWrite((writer) => writer.close()),
};

function behindAWrite(end: (writer: WritableStreamDefaultWriter<string>) => Promise<void>): States<Watched>[string] {
  return ({ stream }) => {
    const writer = stream.getWriter();
    for (const promise of [writer.closed, writer.write("before"), end(writer)]) promise.catch(ignore);
    writer.releaseLock();
  };
}

/** A native source of a pipe, and the reasons with which it was cancelled. */
interface Source {
  readonly stream: ReadableStream;
  readonly cancelled: readonly string[];
}

function sourceOf(source: UnderlyingDefaultSource<string>): Source {
  const cancelled: string[] = [];
  const cancel = (reason: unknown): void => void cancelled.push(reason instanceof Error ? reason.name : String(reason));
  return { stream: new native.ReadableStream<string>({ ...source, cancel }), cancelled };
}

/** Sources of native pipes, which see the chunks and the end at other times. */
const sources: Readonly<Record<string, () => Source>> = {
  "chunks on demand": () =>
    sourceOf({ start: (controller) => controller.enqueue("x"), pull: (controller) => controller.close() }),
  "queued chunks": () => sourceOf({ start: (controller) => (controller.enqueue("x"), controller.close()) }),
  nothing: () => sourceOf({ start: (controller) => controller.close() }),
  "a failed source": () => sourceOf({ start: (controller) => controller.error("failed") }),
  "a Blob": () => ({ stream: new Blob(["x"]).stream(), cancelled: [] }),
  "a body": () => ({ stream: new Response("x").body!, cancelled: [] }),
};

const allOptions: readonly StreamPipeOptions[] = [
  {},
  { preventClose: true },
  { preventAbort: true },
  { preventCancel: true },
];

/** Native pipes into the destinations, of each source with each option, and into what `toNative()` makes of them. */
export const nativePipes: Places<Watched> = Object.fromEntries(
  Object.entries(sources).flatMap(([name, make]) =>
    allOptions.map((options) => [
      ["a native pipeTo() of", name, ...Object.keys(options)].join(" "),
      (it: Watched) => () => {
        const { stream, cancelled } = make();
        const pipe = () => outcome(() => native.ReadableStream.prototype.pipeTo.call(stream, it.stream, options));
        return seen(async () => [await pipe(), cancelled], it);
      },
    ]).concat([[
      `a native pipeTo() of ${name} into toNative()`,
      (it: Watched) => async () => {
        const { stream, cancelled } = make();
        const pipe = () => native.ReadableStream.prototype.pipeTo.call(stream, toNative(it.stream), allOptions[1]);
        const result = await outcome(pipe);
        await turns(5); // the sink is behind one stream more
        return [result, [...cancelled], [...it.log]];
      },
    ]])
  ),
);
