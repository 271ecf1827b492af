import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ApplicationPath, encodedText, HELLO_TAG } from "./application.ts";
import { codings } from "./codings.ts";
import { pattern } from "./pattern.ts";

type Handler = (asked: IncomingMessage, answer: ServerResponse, query: URLSearchParams) => void;

let dripping = 0;

const handlers: Readonly<Record<ApplicationPath, Handler>> = {
  "/hello": (asked, answer) => {
    const known = asked.headers["if-none-match"] === HELLO_TAG;
    answer.writeHead(known ? 304 : 200, {
      etag: HELLO_TAG,
      ...(known ? {} : { "content-length": "5", "content-type": "text/plain" }),
    });
    answer.end(known ? undefined : "hello");
  },
  "/echo": (asked, answer) => {
    const type = asked.headers["content-type"];
    answer.writeHead(200, {
      "x-method": asked.method ?? "",
      "x-length": asked.headers["content-length"] ?? "none",
      ...(type ? { "content-type": type } : {}),
    });
    asked.pipe(answer);
  },
  "/mirror": (asked, answer) => {
    const chunks: Uint8Array[] = [];
    asked.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    asked.on("end", () => {
      answer.writeHead(200, { "x-length": asked.headers["content-length"] ?? "none" });
      for (const chunk of chunks) answer.write(chunk);
      answer.end();
    });
  },
  "/digest": (asked, answer) => {
    const hash = createHash("sha256");
    let bytes = 0;
    asked.on("data", (chunk: Uint8Array) => {
      hash.update(chunk);
      bytes += chunk.length;
    });
    asked.on("end", () => answer.end(JSON.stringify({ method: asked.method, bytes, sha256: hash.digest("hex") })));
  },
  "/bytes": (_, answer, query) => {
    const bytes = pattern(Number(query.get("n")));
    answer.writeHead(200, { "content-length": String(bytes.length) });
    answer.end(bytes);
  },
  "/stream": (_, answer, query) => {
    const bytes = pattern(Number(query.get("n")));
    const middle = bytes.length >> 1;
    answer.write(bytes.subarray(0, middle), () => answer.end(bytes.subarray(middle)));
  },
  "/drip": (_, answer) => {
    dripping++;
    const timer = setInterval(() => {
      if (!answer.writableNeedDrain) answer.write(pattern(10_000));
    }, 2);
    answer.write(pattern(10_000));
    answer.on("close", () => {
      dripping--;
      clearInterval(timer);
    });
  },
  "/dripping": (_, answer) => void answer.end(String(dripping)),
  "/half": (_, answer) => {
    answer.writeHead(200, { "content-length": "1000" });
    answer.write(pattern(500), () => setTimeout(() => answer.destroy(), 5));
  },
  "/wait": (_, answer, query) => void setTimeout(() => answer.end("waited"), Number(query.get("ms"))),
  "/status": (_, answer, query) => {
    answer.writeHead(Number(query.get("code")));
    answer.end();
  },
  "/redirect": (_, answer, query) => {
    answer.writeHead(Number(query.get("code")), { location: query.get("to") ?? "/hello" });
    answer.end();
  },
  "/encoded": (_, answer, query) => {
    const coding = query.get("as") ?? "gzip";
    answer.writeHead(200, { "content-encoding": coding, "content-type": "text/plain" });
    answer.end(codings[coding](encodedText));
  },
  "/trailers": (_, answer) => {
    answer.writeHead(200, { trailer: "x-trailer" });
    answer.write("a body with trailers");
    answer.addTrailers({ "x-trailer": "last" });
    answer.end();
  },
  "/hints": (_, answer) => {
    answer.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
    answer.writeEarlyHints({ link: "</script.js>; rel=preload; as=script" });
    answer.end("hinted");
  },
  "/refuse": (_, answer) => {
    answer.writeHead(413, { "content-type": "text/plain" });
    answer.end("too much");
  },
  "/fields": (asked, answer, query) => {
    for (let i = 0; i < Number(query.get("n")); i++) answer.setHeader(`x-field-${i}`, String(i).padStart(100, "-"));
    answer.end(JSON.stringify(asked.headers));
  },
};

/** Answers a request of node:http. */
export function answerHttp(asked: IncomingMessage, answer: ServerResponse): void {
  const { pathname, searchParams } = new URL(asked.url ?? "/", "http://localhost");
  asked.on("error", () => {});
  answer.on("error", () => {});
  const handler = handlers[pathname as ApplicationPath];
  if (handler) return handler(asked, answer, searchParams);
  answer.statusCode = 404;
  answer.end();
}

/** Answers one of node:http2, by its layer of compatibility. */
export function answerHttp2(asked: unknown, answer: unknown): void {
  answerHttp(asked as IncomingMessage, answer as ServerResponse);
}
