import { Buffer } from "node:buffer";
import type { Classes } from "./implementation.ts";
import { throughIdentities, times } from "./piping.ts";
import { chunk, pulled, queued, type Scenario } from "./scenario.ts";

const token = chunk.slice(0, 40);
const large = new Uint8Array(64 * 1024).fill(0x61);

/** Reads a response to its end and resolves to the number of bytes. */
type Read = (response: Response) => Promise<number>;

const text: Read = async (response) => (await response.text()).length;
const bytes: Read = async (response) => (await response.bytes()).length;
const arrayBuffer: Read = async (response) => (await response.arrayBuffer()).byteLength;
const json: Read = async (response) => (await response.json() as number[]).length;

/** Streams that the runtime reads, as bodies of responses. */
export const bodies: readonly Scenario[] = [
  body("Response.text(), 1 x 1 KiB", 1, chunk, text),
  body("Response.text(), 64 x 1 KiB", 64, chunk, text),
  body("Response.text(), 16 x 64 KiB", 16, large, text),
  body("Response.text(), 20 x 40 bytes", 20, token, text),
  body("Response.text(), 64 x 1 KiB, queued", 64, chunk, text, ({ ReadableStream }) => new ReadableStream(queued(64))),
  body("Response.bytes(), 64 x 1 KiB", 64, chunk, bytes),
  body("Response.arrayBuffer(), 64 x 1 KiB", 64, chunk, arrayBuffer),
  {
    title: "Response.json(), 20 x 40 bytes",
    unit: 20,
    run: (classes, amount) => times(amount, () => json(new Response(list(classes)))),
  },
  body(
    "Response.text(), 64 x 1 KiB through 3",
    64,
    chunk,
    text,
    (classes) => throughIdentities(classes as never, new classes.ReadableStream(pulled(64)), 3),
  ),
];

function body(
  title: string,
  count: number,
  piece: Uint8Array<ArrayBuffer>,
  read: Read,
  make = ({ ReadableStream }: Classes): ReadableStream => new ReadableStream(pulled(count, piece)),
): Scenario {
  return {
    title,
    unit: count,
    async run(classes, amount) {
      await requireAccepted(classes);
      return await times(amount, async () => await read(new Response(make(classes))) / piece.length);
    },
  };
}

/** Returns an array of 20 numbers in JSON, each in a chunk of 40 bytes. */
function list({ ReadableStream }: Classes): ReadableStream {
  let left = 20;
  return new ReadableStream({
    pull(controller) {
      left--;
      controller.enqueue(left === 19 ? opening : left === 0 ? closing : item);
      if (left === 0) controller.close();
    },
  });
}
const opening = Buffer.from("[1".padEnd(40));
const item = Buffer.from(",1".padEnd(40));
const closing = Buffer.from(",1]".padEnd(40));

/** A foreign stream is either refused with an error or made a string of. */
async function requireAccepted({ ReadableStream }: Classes): Promise<void> {
  const text = await new Response(new ReadableStream(pulled(2, token))).text();
  if (text !== "a".repeat(2 * token.length)) throw new TypeError(`new Response(stream).text() gives "${text}"`);
}
