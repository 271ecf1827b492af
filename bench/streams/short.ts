import type { Implementation } from "./implementation.ts";
import { throughIdentities, times } from "./piping.ts";
import { chunk, CountingSink, pulled, readAll, type Scenario } from "./scenario.ts";

/** A stream of tokens or events: 20 chunks of 40 bytes, made as servers make them, with the default marks. */
const TOKENS = 20;
const token = chunk.slice(0, 40);

/** Streams that end soon, so that making and closing them counts. */
export const short: readonly Scenario[] = [
  {
    title: "tokens, 20 x 40 bytes, read",
    unit: TOKENS,
    run: ({ ReadableStream }, amount) =>
      times(amount, () => readAll(new ReadableStream(pulled(TOKENS, token)), token.length)),
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
  creation("new ReadableStream", ({ ReadableStream }) => new ReadableStream({ pull() {} })),
  creation("new WritableStream", ({ WritableStream }) => new WritableStream({ write() {} })),
  creation("new TransformStream", ({ TransformStream }) => new TransformStream({ transform() {} })),
  response("Response.text(), 64 x 1 KiB", 64, chunk),
  response("Response.text(), 20 x 40 bytes", TOKENS, token),
  response("Response.text(), 64 x 1 KiB through 3", 64, chunk, 3),
];

/** Constructions, with a turn of the microtask queue after each 100 for what `start()` leaves behind. */
function creation(title: string, construct: (classes: Implementation) => object): Scenario {
  return {
    title,
    counted: "streams",
    unit: 100,
    run: (classes, amount) =>
      times(amount, () => {
        let made = 0;
        for (let i = 0; i < 100; i++) if (construct(classes)) made++;
        return Promise.resolve(made);
      }),
  };
}

/** A response's body, read as text by the runtime. */
function response(title: string, count: number, bytes: Uint8Array<ArrayBuffer>, hops = 0): Scenario {
  return {
    title,
    unit: count,
    async run(classes, amount) {
      await requireAccepted(classes);
      return await times(amount, async () => {
        const source = new classes.ReadableStream(pulled(count, bytes));
        const text = await new Response(hops ? throughIdentities(classes, source, hops) : source).text();
        return text.length / bytes.length;
      });
    },
  };
}

/** A foreign stream is either refused with an error or made a string of. */
async function requireAccepted({ ReadableStream }: Implementation): Promise<void> {
  const text = await new Response(new ReadableStream(pulled(2, token))).text();
  if (text !== "a".repeat(2 * token.length)) throw new TypeError(`new Response(stream).text() gives "${text}"`);
}
