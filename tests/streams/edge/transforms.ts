import { FRESH, type Kinds, native, outcome, outcomeFromOutside, type Places, type States, turns } from "./cells.ts";

export type Pair = TransformStream<unknown, unknown>;
const ignore = (): void => {};
const mark = {
  transform: (chunk: unknown, controller: TransformStreamDefaultController) => controller.enqueue(`${chunk}!`),
};

/** Transform streams, each of another class. */
export const transforms: Kinds<Pair> = {
  "a TransformStream": ({ TransformStream }) => new TransformStream(mark),
  "one without a transformer": ({ TransformStream }) => new TransformStream(),
  "one of promises": ({ TransformStream }) =>
    new TransformStream({
      async transform(chunk, controller) {
        await null;
        controller.enqueue(`${chunk}!`);
      },
    }),
  "one that flushes": ({ TransformStream }) =>
    new TransformStream({ ...mark, flush: (controller) => controller.enqueue("end") }),
  "one that fails": ({ TransformStream }) =>
    new TransformStream({
      transform() {
        throw new RangeError("broken");
      },
    }),
  "a subclass": ({ TransformStream }) => new class Subclass extends TransformStream {}(mark),
  "a TextEncoderStream": ({ TextEncoderStream }) => new TextEncoderStream() as Pair,
};

/** The states of a transform stream, by the steps that lead to them. */
export const transformStates: States<Pair> = {
  [FRESH]: ignore,
  "its readable end locked": ({ readable }) => void readable.getReader().closed.catch(ignore),
  "its writable end locked": ({ writable }) => void writable.getWriter().closed.catch(ignore),
  "its readable end piped": ({ readable }, { WritableStream }) =>
    void readable.pipeTo(new WritableStream()).catch(ignore),
  "a chunk passed": async ({ readable, writable }) => {
    const writer = writable.getWriter();
    const reader = readable.getReader();
    writer.closed.catch(ignore);
    reader.closed.catch(ignore);
    writer.write("before").catch(ignore);
    await reader.read().catch(ignore);
    await turns(1);
    writer.releaseLock();
    reader.releaseLock();
  },
  "its readable end cancelled": ({ readable }) => readable.cancel("enough").catch(ignore),
  "its writable end aborted": ({ writable }) => writable.abort(new RangeError("broken")).catch(ignore),
};

export const decode = (chunk: unknown): string =>
  typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk as Uint8Array);

/** The places that take a transform stream. */
export const transformPlaces: Places<Pair> = {
  "native pipeThrough()": (it) => () =>
    outcome(async () => {
      const source = new native.ReadableStream({
        start: (controller) => (controller.enqueue("a"), controller.close()),
      });
      let text = "";
      for await (const chunk of native.ReadableStream.prototype.pipeThrough.call(source, it as never)) {
        text += decode(chunk);
      }
      return text;
    }),
  "structuredClone()": (it) => () =>
    outcomeFromOutside(async () => {
      const { readable, writable } = structuredClone(it, { transfer: [it as never] });
      const writer = writable.getWriter();
      writer.closed.catch(ignore);
      writer.write("a").catch(ignore);
      writer.close().catch(ignore);
      const locks = [it.readable.locked, it.writable.locked];
      let text = "";
      for await (const chunk of readable) text += decode(chunk);
      return [locks, text];
    }),
  "structuredClone() without transfer": (it) => () => outcome(() => structuredClone(it)),
  "getters of the runtime's class": (it) => () => [
    Object.getOwnPropertyDescriptor(native.TransformStream.prototype, "readable")!.get!.call(it).locked,
    Object.getOwnPropertyDescriptor(native.TransformStream.prototype, "writable")!.get!.call(it).locked,
  ],
};
