import type { IncomingMessage, ServerResponse } from "node:http";
import { encodeWhole, unlessItFails } from "../encoding.ts";
import type { Settings } from "../options.ts";
import { preferred } from "../policy.ts";

/** The answer to a request for a route's template. */
interface TemplateAnswer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fields: Readonly<Record<string, string>>;
}

/** Returns the response to a request for a template; undefined if it is for something else. */
export function templateResponse(settings: Settings, { method, url, headers }: Request): Response | undefined {
  const answer = answerFor(settings, method, url, headers.get("accept-encoding"));
  return answer && new Response(method === "HEAD" ? null : answer.bytes, { headers: answer.fields });
}

/** Answers a request for a template; returns whether it is one. */
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

function answerFor(
  settings: Settings,
  method: string,
  url: string,
  accepted: string | null | undefined,
): TemplateAnswer | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const served = settings.dictionaries?.served(url);
  if (served === undefined) return undefined;
  const coding = preferred(settings, accepted);
  const encoding = coding && { coding, dictionary: undefined, recorder: undefined };
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
