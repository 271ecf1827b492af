import { isFromBunServer } from "../../runtime/mod.ts";
import type { Settings } from "./settings.ts";
import { alreadyRead, handleUpload } from "./handle_upload.ts";
import type { Incoming } from "./incoming.ts";
import { lingeringResponse, responseOf } from "./lingering_response.ts";

/** Answers a `Request`. Never rejects. */
export async function fetchTo(all: Settings, request: Request, server: unknown): Promise<Response> {
  const ownsChunks = isFromBunServer(request, server);
  const settings = ownsChunks ? { ...all, save: { ...all.save, ownsChunks } } : all;
  const incoming: Incoming = { method: request.method, target: request.url, mount: "", source: request };
  const handled = await handleUpload(settings, incoming, () => {
    if (request.bodyUsed || request.body?.locked) throw alreadyRead();
    return request;
  });
  return handled.answer.status < 300 ? responseOf(handled.answer) : await lingeringResponse(handled, request);
}
