/**
 * Receives files: stores bodies of requests and forms in constant memory, completely or not at all; with a ready-made
 * handler.
 *
 * @example Store a body
 * ```ts
 * import { saveBody } from "@millrace/streams/upload";
 *
 * const request = new Request("http://localhost/", { method: "PUT", body: "all of it, or nothing" });
 * const { bytes } = await saveBody(request, "uploads/note.txt", { maxBytes: 1_000_000 });
 * console.log(bytes); // 21
 * ```
 *
 * @module
 */
export { saveBody, type SavedBody } from "./sink/save_body.ts";
export type { SaveBodyOptions } from "./body/upload_options.ts";
export type { BodySource } from "./body/body_source.ts";
export type { BodyDestination } from "./sink/open_sink.ts";
export { type SavedForm, saveForm } from "./form/save_form.ts";
export type { FormPart, SaveFormOptions } from "./form/form_options.ts";
export { createUploadHandler, type UploadHandler } from "./handler/create_upload_handler.ts";
export type { CompletedUpload, ResumableOptions, UploadHandlerOptions, UploadInfo } from "./handler/handler_options.ts";
export type { UploadLogEntry } from "./handler/incoming.ts";
export { UploadError, type UploadErrorCode } from "./body/upload_error.ts";
