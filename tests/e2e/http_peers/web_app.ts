import { createHash } from "node:crypto";
import { type ApplicationPath, encodedText, HELLO_TAG } from "./application.ts";
import { codings } from "./codings.ts";
import { pattern } from "./pattern.ts";

type Handler = (request: Request, query: URLSearchParams) => Response | Promise<Response>;
/** The paths that a fetch handler can't implement. */
type Impossible = "/trailers" | "/hints";

let dripping = 0;

function drip(): Response {
  let left = false;
  dripping++;
  const body = new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (!left) controller.enqueue(pattern(10_000));
    },
    cancel() {
      left = true;
      dripping--;
    },
  });
  return new Response(body);
}

function half(): Response {
  let pulled = 0;
  const body = new ReadableStream({
    async pull(controller) {
      if (pulled++ === 0) return controller.enqueue(pattern(500));
      await new Promise((resolve) => setTimeout(resolve, 5));
      controller.error(new Error("half of it is all"));
    },
  });
  return new Response(body, { headers: { "content-length": "1000" } });
}

async function digest(request: Request): Promise<Response> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return Response.json({ method: request.method, bytes, sha256: hash.digest("hex") });
}

const handlers: Readonly<Record<Exclude<ApplicationPath, Impossible>, Handler>> = {
  "/hello": ({ headers }) => {
    if (headers.get("if-none-match") === HELLO_TAG) {
      return new Response(null, { status: 304, headers: { etag: HELLO_TAG } });
    }
    return new Response("hello", { headers: { etag: HELLO_TAG, "content-type": "text/plain" } });
  },
  "/echo": ({ method, headers, body }) => {
    const type = headers.get("content-type");
    return new Response(body, {
      headers: {
        "x-method": method,
        "x-length": headers.get("content-length") ?? "none",
        ...(type ? { "content-type": type } : {}),
      },
    });
  },
  "/mirror": async (request) => {
    const length = request.headers.get("content-length") ?? "none";
    return new Response(await request.arrayBuffer(), { headers: { "x-length": length } });
  },
  "/digest": digest,
  "/bytes": ({ method }, query) => {
    // Deno sends what it is given over h2, to HEAD as well.
    const body = method === "HEAD" ? null : pattern(Number(query.get("n")));
    return new Response(body, { headers: { "content-length": query.get("n") ?? "0" } });
  },
  "/stream": (_, query) => {
    const bytes = pattern(Number(query.get("n")));
    const middle = bytes.length >> 1;
    const parts = [bytes.subarray(0, middle), bytes.subarray(middle)];
    const body = new ReadableStream({
      pull(controller) {
        const part = parts.shift();
        if (part) controller.enqueue(part);
        else controller.close();
      },
    });
    return new Response(body);
  },
  "/drip": drip,
  "/dripping": () => new Response(String(dripping)),
  "/half": half,
  "/wait": async (_, query) => {
    await new Promise((resolve) => setTimeout(resolve, Number(query.get("ms"))));
    return new Response("waited");
  },
  "/status": (_, query) => new Response(null, { status: Number(query.get("code")) }),
  "/redirect": (_, query) =>
    new Response(null, { status: Number(query.get("code")), headers: { location: query.get("to") ?? "/hello" } }),
  "/encoded": (_, query) => {
    const coding = query.get("as") ?? "gzip";
    return new Response(codings[coding](encodedText), {
      headers: { "content-encoding": coding, "content-type": "text/plain" },
    });
  },
  "/refuse": () => new Response("too much", { status: 413 }),
  "/fields": ({ headers }, query) => {
    const fields: [string, string][] = [];
    for (let i = 0; i < Number(query.get("n")); i++) fields.push([`x-field-${i}`, String(i).padStart(100, "-")]);
    return Response.json(Object.fromEntries(headers), { headers: fields });
  },
};

/** Answers a request as a fetch handler does. */
export function answerFetch(request: Request): Response | Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const handler = handlers[pathname as keyof typeof handlers];
  return handler ? handler(request, searchParams) : new Response(null, { status: 404 });
}
