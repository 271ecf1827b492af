import { throughIdentities, times } from "./piping.ts";
import { chunk, CountingSink, iterate, pulled, readAll, type Scenario } from "./scenario.ts";

/** A stream of tokens or events: 20 chunks of 40 bytes, made as servers make them, with the default marks. */
const TOKENS = 20;
const token = chunk.slice(0, 40);

/** A page that a server renders: few chunks, larger ones. */
const PAGE = 4;

/** Streams that end soon, so that making and closing them counts. */
export const short: readonly Scenario[] = [
  {
    title: "tokens, 20 x 40 bytes, read",
    unit: TOKENS,
    run: ({ ReadableStream }, amount) =>
      times(amount, () => readAll(new ReadableStream(pulled(TOKENS, token)), token.length)),
  },
  {
    title: "tokens, 20 x 40 bytes, for await",
    unit: TOKENS,
    run: ({ ReadableStream }, amount) =>
      times(amount, () => iterate(new ReadableStream(pulled(TOKENS, token)), token.length)),
  },
  {
    title: "SSE, 20 x 40 bytes, pipeThrough x1, pipeTo",
    unit: TOKENS,
    run: (classes, amount) =>
      times(amount, async () => {
        const sink = new CountingSink();
        const source = throughIdentities(classes, new classes.ReadableStream(pulled(TOKENS, token)), 1);
        await classes.pipeTo(source, new classes.WritableStream<Uint8Array>(sink));
        return sink.count(token.length);
      }),
  },
  {
    title: "page, 4 x 1 KiB, read",
    unit: PAGE,
    run: ({ ReadableStream }, amount) => times(amount, () => readAll(new ReadableStream(pulled(PAGE)))),
  },
  {
    title: "page, 4 x 1 KiB, pipeTo",
    unit: PAGE,
    run: (classes, amount) =>
      times(amount, async () => {
        const sink = new CountingSink();
        await classes.pipeTo(new classes.ReadableStream(pulled(PAGE)), new classes.WritableStream<Uint8Array>(sink));
        return sink.count();
      }),
  },
  {
    title: "an error at once",
    counted: "streams",
    unit: 1,
    run: ({ ReadableStream }, amount) => times(amount, () => readError(new ReadableStream({ pull: fails }))),
  },
  {
    title: "a cancel after one chunk",
    counted: "streams",
    unit: 1,
    run: ({ ReadableStream }, amount) =>
      times(amount, async () => {
        for await (const { byteLength } of new ReadableStream(pulled(TOKENS, token))) return byteLength / token.length;
        return 0;
      }),
  },
];

const failure = new TypeError("the source fails");

function fails(controller: ReadableStreamDefaultController): void {
  controller.error(failure);
}

/** Resolves to 1 if the stream fails as its source does. */
async function readError(stream: ReadableStream): Promise<number> {
  try {
    await stream.getReader().read();
    return 0;
  } catch (error) {
    return error === failure ? 1 : 0;
  }
}
