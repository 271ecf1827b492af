import type { NodeHandler, Program, WebHandler } from "./program.ts";

const TOKENS = 200;
const FIELDS = { "content-type": "text/event-stream" };

/** Yields the model's answer: tokens of 6 bytes, each by a promise of its own. */
async function* model(): AsyncGenerator<string> {
  for (let index = 0; index < TOKENS; index++) yield await Promise.resolve(`t${index}`.padEnd(6, "."));
}

function eventOf(token: string): string {
  return `data: ${JSON.stringify({ type: "text-delta", delta: token })}\n\n`;
}

/** Streams as AI SDKs do: an iterator becomes a stream, its parts events, and these bytes. */
function web(): Promise<WebHandler> {
  return Promise.resolve(() => {
    const tokens = model();
    const parts = new ReadableStream<string>({
      async pull(controller) {
        const { done, value } = await tokens.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    const events = new TransformStream<string, string>({
      transform: (token, controller) => controller.enqueue(eventOf(token)),
      flush: (controller) => controller.enqueue("data: [DONE]\n\n"),
    });
    return new Response(parts.pipeThrough(events).pipeThrough(new TextEncoderStream()), { headers: FIELDS });
  });
}

async function node(): Promise<NodeHandler> {
  const { Readable, Transform } = await import("node:stream");
  return (_request, response) => {
    const events = new Transform({
      objectMode: true,
      transform: (token, _, done) => done(null, eventOf(token)),
      flush: (done) => done(null, "data: [DONE]\n\n"),
    });
    Readable.from(model()).pipe(events).pipe(response.writeHead(200, FIELDS));
  };
}

/** Tokens of a language model as server-sent events. */
export const tokenStream: Program = {
  title: "token stream",
  ask: { method: "GET", body: 0 },
  isRight: ({ body }) =>
    body.split("\n\n").length === TOKENS + 2 && body.includes('"t199.."') && body.endsWith("[DONE]\n\n"),
  web,
  node,
};
