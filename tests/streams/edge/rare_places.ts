import { native, outcome, outcomeFromOutside, type Places } from "./cells.ts";
import { ofBody, plain, textOf } from "./readable_places.ts";

type Stream = ReadableStream<Uint8Array<ArrayBuffer>>;

const natives = native.ReadableStream.prototype;
const NativeReader = globalThis.ReadableStreamDefaultReader;

/** Places that few programs use, of which the short form of the tests takes a part of the cells. */
export const rarePlaces: Places<Stream> = {
  "new ReadableStreamDefaultReader()": (stream) => () =>
    outcome(async () => {
      const reader = new NativeReader(stream);
      const { value } = await reader.read();
      return [await plain(value), stream.locked];
    }),
  ..."ReadableStreamBYOBReader" in globalThis && {
    "getReader() for BYOB": (stream: Stream) => () =>
      outcome(async () => {
        const reader = natives.getReader.call(stream, { mode: "byob" }) as ReadableStreamBYOBReader;
        const texts: unknown[] = [];
        for (let end = false; !end;) {
          const { done, value } = await reader.read(new Uint8Array(5));
          texts.push(await plain(value));
          end = done;
        }
        return [texts, stream.locked];
      }),
  },
  ..."values" in natives && {
    "values()": (stream: Stream) => () =>
      outcome(async () => {
        const texts: unknown[] = [];
        for await (const chunk of natives.values.call(stream)) texts.push(await plain(chunk));
        return [texts, stream.locked];
      }),
    "values(), left": (stream: Stream) => () =>
      outcome(async () => {
        for await (const chunk of natives.values.call(stream)) return [await plain(chunk), stream.locked];
        return "empty";
      }),
  },
  ..."from" in native.ReadableStream && {
    "ReadableStream.from()": (stream: Stream) => () =>
      outcome(() => textOf((native.ReadableStream as unknown as { from(stream: Stream): Stream }).from(stream))),
  },
  "postMessage()": (stream) => () =>
    outcomeFromOutside(async () => {
      const { port1, port2 } = new MessageChannel();
      try {
        const received = new Promise<Stream>((resolve) => port2.onmessage = ({ data }) => resolve(data));
        port1.postMessage(stream, [stream as unknown as Transferable]);
        return [stream.locked, await textOf(await received)];
      } finally {
        port1.close();
        port2.close();
      }
    }),
  "WebAssembly.compileStreaming()": (stream) => {
    const response = new Response(stream, { headers: { "content-type": "application/wasm" } });
    return () => outcomeFromOutside(async () => typeof await WebAssembly.compileStreaming(response));
  },
  "Response.formData()": (stream) => {
    const response = new Response(stream, { headers: { "content-type": "application/x-www-form-urlencoded" } });
    return async () => [await outcome(async () => [...await response.formData()]), ofBody(response)];
  },
};
