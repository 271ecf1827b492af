/**
 * The script of a page where web-streams-polyfill has replaced the browser's streams.
 *
 * @module
 */
import { outcomeFromOutside } from "./cells.ts";
import {
  fromNative,
  pipeThrough,
  ReadableStream,
  toNative,
  TransformStream,
  WritableStream,
} from "../../../lib/streams/mod.ts";

const abc = new TextEncoder().encode("abc");
const one = (): ReadableStream =>
  new ReadableStream({ start: (controller) => (controller.enqueue(abc), controller.close()) });
const body = (): globalThis.ReadableStream => new Response("abc").body!;

/** Ways to have a text of three letters, by streams of the browser's and of this package. */
const ways: Readonly<Record<string, () => Promise<string>>> = {
  "a Response of ours": () => new Response(one()).text(),
  "toNative()": () => new Response(toNative(one())).text(),
  "fromNative()": () => new Response(fromNative(body())).text(),
  "a body's pipeThrough()": () => new Response(body().pipeThrough(new TransformStream())).text(),
  "pipeThrough() of ours": () => new Response(pipeThrough(body(), new TransformStream())).text(),
  "native transforms": () =>
    new Response(one().pipeThrough(new TextDecoderStream()).pipeThrough(new TextEncoderStream())).text(),
  async "a body's pipeTo()"() {
    let text = "";
    const write = (chunk: Uint8Array): void => void (text += new TextDecoder().decode(chunk));
    await body().pipeTo(new WritableStream({ write }));
    return text;
  },
};

const texts: Record<string, string> = {};
for (const [way, run] of Object.entries(ways)) texts[way] = await outcomeFromOutside(run) as string;
(globalThis as { seen?: unknown }).seen = { texts, polyfilled: !/native code/.test(String(globalThis.ReadableStream)) };
