import { type BodyReader, type BodySource, takeAll } from "../body/body_source.ts";
import { boundaryOf, type FormEvent, FormParser } from "./form_parser.ts";
import {
  destinationResolver,
  type FormDestination,
  type FormLimits,
  type FormPart,
  type PartTarget,
  type SaveFormOptions,
  saveFormOptions,
} from "./form_options.ts";
import { FormFields, FormFiles } from "./form_files.ts";
import type { PartHeader } from "./part_header.ts";
import { receiveBody } from "../body/receive_body.ts";
import type { BodyDestination } from "../sink/open_sink.ts";
import type { SavedBody } from "../sink/save_body.ts";
import { type InnerOptions, requireDecode } from "../body/upload_options.ts";

/**
 * A form that was stored.
 *
 * @example List what came
 * ```ts
 * import { saveForm, type SavedForm } from "@millrace/streams/upload";
 *
 * const body = new FormData();
 * body.append("file", new File(["all of them"], "note.txt"));
 * const form: SavedForm = await saveForm(new Request("http://localhost/", { method: "POST", body }), "uploads");
 * console.log(form.files[0].filename, form.bytes); // note.txt 11
 * ```
 */
export interface SavedForm {
  /** The text fields, in their order. */
  readonly fields: FormData;
  /** The files that were stored, in their order. */
  readonly files: (FormPart & SavedBody)[];
  /** Bytes of the files. */
  readonly bytes: number;
}

/**
 * Stores the files of a form (`multipart/form-data`) as they come in, in constant memory, and gives its text fields.
 *
 * All or nothing: the files appear under their names when the whole form is received and good. If another file took a
 * name by then, the files of the form that have theirs are removed again. Those that have replaced another by
 * `overwrite` stay. (A process that is killed just then can leave some of the files, each of them whole.) Streams as
 * destinations are closed after that, or aborted.
 *
 * Files are distinguished from texts by their file names, and an `<input type="file">` where nothing was chosen is
 * skipped. Texts are UTF-8, whatever a field `_charset_` says.
 *
 * @param source A `Request`, a stream of bytes with the option `contentType`, or a request of `node:http` or
 * `node:http2`.
 * @param destination A folder, where files get random names with the extensions of their names or types; or a function
 * that returns the destination of each, or undefined to skip it. Use the option `root` if the sender has a say in it.
 * @throws {UploadError} if the form is refused or the upload fails, with the HTTP status that says so.
 * @throws {TypeError | RangeError} if an argument is not what it has to be, or the body was read before.
 * @throws {Error} what the file system, the function or a destination says otherwise, and the signal's reason.
 * @see {@link https://www.rfc-editor.org/rfc/rfc7578}
 * @example Store the files of a form
 * ```ts
 * import { saveForm } from "@millrace/streams/upload";
 *
 * const form = new FormData();
 * form.append("title", "Notes");
 * form.append("file", new File(["all of them, or none"], "note.txt", { type: "text/plain" }));
 * const request = new Request("http://localhost/", { method: "POST", body: form });
 *
 * const { fields, files } = await saveForm(request, "uploads", { maxBytes: 1_000_000 });
 * console.log(fields.get("title"), files[0].filename, files[0].bytes); // Notes note.txt 20
 * ```
 */
export async function saveForm(
  source: BodySource,
  destination:
    | string
    | URL
    | ((part: FormPart) => BodyDestination | undefined | Promise<BodyDestination | undefined>),
  options: SaveFormOptions = {},
): Promise<SavedForm> {
  const given = saveFormOptions(options);
  requireDecode(given);
  return await storeForm(source, destination, given);
}

/** Stores a form as {@linkcode saveForm} does, with options that are checked already. */
export async function storeForm(
  source: BodySource,
  destination: FormDestination,
  options: SaveFormOptions & FormLimits & InnerOptions,
): Promise<SavedForm> {
  const destine = destinationResolver(destination, options.root);
  const parser = new FormParser(boundaryOf(source, options.contentType, options.decode ?? false), options);
  const { signal } = options;
  signal?.throwIfAborted();
  const { body } = receiveBody(source, options);
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const onAbort = (): void => stop(signal!.reason);
  signal?.addEventListener("abort", onAbort);
  const fields = new FormFields(options);
  const files = new FormFiles(destine, options);
  try {
    await receiveForm(body, parser, distributor(fields, files, options), stopped);
    signal?.throwIfAborted();
    const saved = await files.commit();
    return { fields: fields.data, files: saved, bytes: saved.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    await body.cancel(error);
    await files.discard(error);
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Reads a form and stores its files and fields: one batch is stored while the next is read. */
async function receiveForm(
  body: BodyReader,
  parser: FormParser,
  take: (events: readonly FormEvent[]) => Promise<void>,
  stopped: Promise<never>,
): Promise<void> {
  stopped.catch(() => {}); // told by the read, or by what races with it
  await takeAll(body, (pieces) => Promise.race([take(parser.write(pieces)), stopped]));
  await Promise.race([take(parser.end()), stopped]);
}

/** Returns a function that passes the bytes of each part to its target. */
function distributor(
  fields: FormFields,
  files: FormFiles,
  { typeOf = (given) => given ?? "text/plain" }: InnerOptions, // RFC 7578, section 4.4
): (events: readonly FormEvent[]) => Promise<void> {
  let target: PartTarget | undefined;
  const begin = ({ name, filename, contentType }: PartHeader): PartTarget =>
    filename === undefined
      ? fields.begin(name)
      : files.begin({ name, filename, contentType: typeOf(contentType, filename) });
  return async (events) => {
    for (const event of events) {
      if (event.kind === "part") target = begin(event.header);
      else if (event.kind === "bytes") await target!.write(event.pieces);
      else await target!.end();
    }
  };
}
