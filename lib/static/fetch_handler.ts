import type { Answer, FileParts } from "./answer.ts";
import { FileReader, PIECE } from "./file_reader.ts";
import { openVerified } from "./open_verified.ts";
import type { Site } from "./site.ts";

/** Answers a `Request`, at once if what it asks for is in memory. */
export function fetchFrom(site: Site, request: Request): Response | Promise<Response> {
  const answer = answerOf(site, request);
  if (request.method === "HEAD") return new Response(null, answer.init);
  return answer.file ? streamed(site, request, answer, answer.file) : new Response(answer.bytes, answer.init);
}

function answerOf(site: Site, { method, url, headers }: Request): Answer {
  return site.respond(method, url, headers) ?? site.respondNotFound(headers);
}

async function streamed(site: Site, request: Request, answer: Answer, file: FileParts): Promise<Response> {
  const handle = await openVerified(file.variant);
  if (handle === undefined) {
    site.fault(file.variant); // one less to choose from
    return fetchFrom(site, request);
  }
  const reader = new FileReader(handle, file);
  const { promise, resolve } = Promise.withResolvers<void>();
  site.track(promise);
  const body = new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: PIECE,
    async pull(controller): Promise<void> {
      const { byobRequest } = controller as ReadableByteStreamController;
      const length = await reader.read(byobRequest!.view as Uint8Array);
      if (length === 0) {
        resolve();
        controller.close();
      }
      byobRequest!.respond(length);
    },
    async cancel(): Promise<void> {
      await reader.close();
      resolve();
    },
  });
  return new Response(body, answer.init);
}
