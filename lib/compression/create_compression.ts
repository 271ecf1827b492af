import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { encodeWhole, unlessItFails } from "./encoding.ts";
import { ignoreCalls } from "./node_arguments.ts";
import { compressNode } from "./node_response.ts";
import { type CompressionOptions, loadCodecs, type Settings, settingsOf } from "./options.ts";
import { preferred } from "./policy.ts";
import { compressReady, compressResponse, type Sender, SWITCHED } from "./respond.ts";

/** Returns the response to a request for a template; undefined for any other request. */
export function templateResponse(settings: Settings, { method, url, headers }: Request): Response | undefined {
  const answer = answerFor(settings, method, url, headers.get("accept-encoding"));
  return answer && new Response(method === "HEAD" ? null : answer.bytes, { headers: answer.fields });
}

/** Answers a request for a template; returns whether the request was for one. */
export function answerWithTemplate(settings: Settings, req: IncomingMessage, res: ServerResponse): boolean {
  if (settings.dictionaries === undefined || res.headersSent) return false;
  const { originalUrl } = req as { originalUrl?: string };
  const accepted = req.headers["accept-encoding"] as string | undefined;
  const answer = answerFor(settings, req.method ?? "GET", originalUrl ?? req.url ?? "", accepted);
  if (answer === undefined) return false;
  res.writeHead(200, answer.fields);
  res.end(req.method === "HEAD" ? undefined : answer.bytes);
  return true;
}

function answerFor(settings: Settings, method: string, url: string, accepted: string | null | undefined) {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const served = settings.dictionaries?.served(url);
  if (served === undefined) return undefined;
  const coding = preferred(settings, accepted);
  const encoding = coding && { coding, dictionary: undefined, recorder: undefined, length: undefined };
  const small = encoding && unlessItFails(settings, encoding, () => encodeWhole(settings, encoding, served.bytes));
  const bytes = small ?? served.bytes as Uint8Array<ArrayBuffer>;
  return {
    bytes,
    fields: {
      ...served.fields,
      "vary": "Accept-Encoding",
      "content-length": String(bytes.length),
      ...(small === undefined ? {} : { "content-encoding": coding! }),
    },
  };
}

/**
 * Compresses responses as they are made. All functions are bound, so each can be passed as a callback.
 *
 * @example Wrap a handler
 * ```ts
 * import { type Compression, createCompression } from "@millrace/streams/compression";
 *
 * const compression: Compression = createCompression();
 * await compression.ready(); // so that the first response is compressed, too
 * const serve = compression.fetch(() => Response.json(Array(1000).fill("mill")));
 * const response = await serve(new Request("http://localhost/", { headers: { "accept-encoding": "gzip" } }));
 * console.log(response.headers.get("content-encoding")); // gzip
 * ```
 */
export interface Compression {
  /**
   * Returns the compressed response, or `response` itself if it is sent uncompressed. The compressed body is a stream
   * of unknown length: {@linkcode Compression.fetch} is better for small bodies. The header fields of `response` do not
   * change. Hono adds them to a new `c.res`, unless `c.res = undefined` is set before.
   */
  readonly respond: (request: Request, response: Response) => Response;
  /**
   * Wraps a handler of requests, for `Deno.serve()`, `Bun.serve()` or srvx: its responses are compressed. Bodies that
   * are available at once, such as text and JSON, are compressed in one call and have a `Content-Length`.
   */
  readonly fetch: <Rest extends unknown[]>(
    handler: (request: Request, ...rest: Rest) => Response | Promise<Response>,
  ) => (request: Request, ...rest: Rest) => Promise<Response>;
  /** Compresses the body of a response of `node:http` or `node:http2`; middleware for Connect and Express. */
  readonly node: (
    req: IncomingMessage | Http2ServerRequest,
    res: ServerResponse | Http2ServerResponse,
    next?: () => void,
  ) => void;
  /**
   * Resolves when the codecs are loaded, which takes some tens of milliseconds after {@linkcode createCompression}:
   * until then, responses are sent uncompressed.
   */
  readonly ready: () => Promise<void>;
}

/**
 * Creates a compressor of responses, with zstd, brotli or gzip as the client accepts.
 *
 * A response is compressed if its type is compressible, by the MIME database or `types`. It must not be encoded
 * already, partial (206), marked `no-transform`, or known to be shorter than `threshold`. `Vary` is extended, a strong
 * `ETag` is made weak, and fields that describe the uncompressed bytes are removed. Compression never delays: whenever
 * a body pauses, its client can read everything so far.
 *
 * @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3}
 * @example Compress what a server of node:http sends
 * ```ts
 * import { createServer } from "node:http";
 * import { createCompression } from "@millrace/streams/compression";
 *
 * const compression = createCompression();
 * createServer((req, res) => {
 *   compression.node(req, res);
 *   res.setHeader("content-type", "text/plain");
 *   res.end("The mill turns. ".repeat(1000));
 * }).listen(8080);
 * ```
 */
export function createCompression(options: CompressionOptions = {}): Compression {
  const settings = settingsOf(options);
  const loading = loadCodecs(settings);
  return {
    respond: (request, response) => {
      const template = response?.status === SWITCHED ? undefined : templateResponse(settings, request);
      if (template === undefined) return compressResponse(settings, request, response);
      void response.body?.cancel().catch(() => {}); // there may be no body
      return template;
    },
    fetch: (handler) => async (request, ...rest) => {
      const template = templateResponse(settings, request);
      if (template !== undefined) return template;
      const response = await handler(request, ...rest);
      // Bun's handlers return nothing for a connection that has become a WebSocket.
      return response ? await compressReady(settings, request, response, rest[0] as Sender | undefined) : response;
    },
    node: (req, res, next) => {
      if (!answerWithTemplate(settings, req as IncomingMessage, res as ServerResponse)) {
        compressNode(settings, req as IncomingMessage, res as ServerResponse);
        next?.();
      } else if (next === undefined) ignoreCalls(res as ServerResponse); // its handler may continue
    },
    ready: () => loading,
  };
}
