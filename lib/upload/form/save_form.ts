import { Buffer } from "node:buffer";
import { type BodySource, takeAll } from "../body/body_source.ts";
import { Digester } from "../body/announced.ts";
import { receiveBody } from "../body/receive_body.ts";
import { quoted, UploadError } from "../body/upload_error.ts";
import { type InnerOptions, requireDecode } from "../body/upload_options.ts";
import { type Undoable, undoAll } from "../../files/internal.ts";
import { formatDigest } from "../../semantics/mod.ts";
import type { BodySink } from "../sink/file_sink.ts";
import { type BodyDestination, openSink } from "../sink/open_sink.ts";
import type { SavedBody } from "../sink/save_body.ts";
import { TimeLimit } from "../../timers/mod.ts";
import {
  destinationResolver,
  type FormDestination,
  type FormPart,
  type FormSettings,
  type ResolveDestination,
  type SaveFormOptions,
  saveFormOptions,
  tooLarge,
} from "./form_options.ts";
import { boundaryOf, type FormEvent, FormParser } from "./form_parser.ts";
import type { PartHeader } from "./part_header.ts";

/**
 * A stored form.
 *
 * @example List what came
 * ```ts
 * import { saveForm, type SavedForm } from "@millrace/streams/upload";
 *
 * const body = new FormData();
 * body.append("file", new File(["all of them"], "note.txt"));
 * const form: SavedForm = await saveForm(new Request("http://localhost/", { method: "POST", body }), "uploads");
 * console.log(form.files[0]?.filename, form.bytes); // note.txt 11
 * ```
 */
export interface SavedForm {
  /** The text fields, in their order. */
  readonly fields: FormData;
  /** The stored files, in their order. */
  readonly files: (FormPart & SavedBody)[];
  /** The total bytes of the files. */
  readonly bytes: number;
}

/**
 * Stores the files of a form (`multipart/form-data`) as they arrive, in constant memory, and returns its text fields.
 *
 * All or nothing: the files get their names once the whole form is received and valid. If another file has taken one of
 * the names, files of the form that already have theirs are removed, unless they have replaced another by `overwrite`.
 * Destination streams are closed last, or aborted.
 *
 * A part with a file name is a file, other parts are texts; an `<input type="file">` without a chosen file is skipped.
 * Texts are UTF-8, whatever a field `_charset_` says.
 *
 * @param source A `Request`, a stream of bytes with the option `contentType`, or a request of `node:http` or
 * `node:http2`.
 * @param destination A folder, where files get random names with the extensions of their names or types; or a function
 * that returns the destination of each file, or undefined to skip the file. Use the option `root` if the sender
 * influences the destination.
 * @throws {UploadError} if the form is refused or the upload fails, with the HTTP status for it.
 * @throws {TypeError | RangeError} if an argument is invalid, or the body was read before.
 * @throws {Error} other errors of the file system, the function or a destination, and the signal's reason.
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
 * console.log(fields.get("title"), files[0]?.filename, files[0]?.bytes); // Notes note.txt 20
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

export async function storeForm(
  source: BodySource,
  destination: FormDestination,
  options: FormSettings & InnerOptions,
): Promise<SavedForm> {
  const destine = destinationResolver(destination, options.root);
  const parser = new FormParser(boundaryOf(source, options.contentType, options.decode), options);
  const { signal } = options;
  signal?.throwIfAborted();
  const { body } = receiveBody(source, options);
  const limit = new TimeLimit(Infinity, signal);
  const { typeOf = (given) => given ?? "text/plain" } = options; // RFC 7578, section 4.4
  const fields = new FormFields(options);
  const files = new FormFiles(destine, options);
  let target: FormFields | FilePart;
  const begin = ({ name, filename, contentType }: PartHeader): typeof target =>
    filename === undefined
      ? fields.begin(name)
      : files.begin({ name, filename, contentType: typeOf(contentType, filename) });
  const take = async (events: readonly FormEvent[]): Promise<void> => {
    for (const event of events) {
      if (event.kind === "part") target = begin(event.header);
      else if (event.kind === "bytes") await target.write(event.pieces);
      else await target.end();
    }
  };
  try {
    await takeAll(body, (pieces) => limit.within(take(parser.write(pieces))));
    await limit.within(take(parser.end()));
    signal?.throwIfAborted();
    const saved = await files.commit();
    return { fields: fields.data, files: saved, bytes: saved.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    await body.cancel(error);
    await files.discard(error);
    throw error;
  } finally {
    limit.stop();
  }
}

/** The text fields of a form: the current one, and those before it. */
class FormFields {
  readonly data: FormData = new FormData();
  readonly #limits: FormSettings;
  /** UTF-8 always: neither a field `_charset_` nor a part's `charset` changes that, as in `Request.formData()`. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #name = "";
  #text = "";
  #length = 0;
  #total = 0;

  constructor(limits: FormSettings) {
    this.#limits = limits;
  }

  begin(name: string): this {
    this.#name = name;
    this.#text = "";
    this.#length = 0;
    this.#count(Buffer.byteLength(name));
    return this;
  }

  write(pieces: readonly Uint8Array[]): void {
    const { maxFieldBytes } = this.#limits;
    for (const piece of pieces) {
      this.#length += piece.length;
      if (this.#length > maxFieldBytes) {
        throw tooLarge(`The field ${quoted(this.#name)} has`, maxFieldBytes, "bytes", "maxFieldBytes");
      }
      this.#count(piece.length);
      this.#text += this.#decoder.decode(piece, { stream: true });
    }
  }

  end(): void {
    this.data.append(this.#name, this.#text + this.#decoder.decode());
  }

  #count(bytes: number): void {
    this.#total += bytes;
    const { maxFieldsBytes } = this.#limits;
    if (this.#total <= maxFieldsBytes) return;
    const what = `The fields of the form up to ${quoted(this.#name)} have`;
    throw tooLarge(what, maxFieldsBytes, "bytes", "maxFieldsBytes");
  }
}

type SavedFormFile = FormPart & SavedBody;

/** The files of a form: all of them get their names, or none does. */
class FormFiles {
  readonly #destine: ResolveDestination;
  readonly #options: FormSettings & InnerOptions;
  readonly #parts: FilePart[] = [];
  /** The paths and streams of all files of the form: no two files may have one destination. */
  readonly #taken = new Set<unknown>();
  /** The sinks whose files do not have their names yet. */
  readonly #sinks: BodySink[] = [];
  readonly #made: Undoable[] = [];
  #opening: Promise<BodySink> | undefined = undefined;
  /** The reason of the discard, after which no file is kept. */
  #discarded: { readonly reason: unknown } | undefined = undefined;

  constructor(destine: ResolveDestination, options: FormSettings & InnerOptions) {
    this.#destine = destine;
    this.#options = options;
  }

  begin(part: FormPart): FilePart {
    const file = new FilePart(part, () => this.#open(part), this.#options);
    this.#parts.push(file);
    return file;
  }

  /** Gives all files their names, once all are received. If that fails for one, {@linkcode discard} removes the others. */
  async commit(): Promise<SavedFormFile[]> {
    // Streams are closed last, because closing them cannot be undone.
    const sinks = this.#sinks;
    sinks.sort((a, b) => Number(a.path === undefined) - Number(b.path === undefined));
    for (let sink = sinks[0]; sink !== undefined; sink = sinks[0]) {
      // The last file needs no undo: nothing can fail after it.
      const isLastFile = sinks.length === 1 && sink.path !== undefined;
      await sink.commit(isLastFile ? undefined : this.#made);
      sinks.shift();
    }
    this.#made.length = 0;
    return this.#parts.flatMap((part) => part.saved ?? []);
  }

  /** Removes all files of the form, even one that is being opened, except those that may be others. Never rejects. */
  async discard(reason: unknown): Promise<void> {
    this.#discarded = { reason };
    await this.#opening?.catch(() => {}); // it fails with the form's own error, or has no file
    for (const sink of this.#sinks.splice(0)) await sink.discard(reason);
    const outcomes = await undoAll(this.#made.splice(0));
    this.#options.onUndone?.(outcomes);
  }

  async #open(part: FormPart): Promise<BodySink | undefined> {
    const destination = this.#discarded ? undefined : await this.#destine(part);
    if (destination === undefined || this.#discarded) return undefined;
    const isStream = typeof destination === "object" && !(destination instanceof URL);
    if (isStream) this.#take(destination, part);
    this.#opening = openSink(destination, this.#options);
    const sink = await this.#opening;
    this.#sinks.push(sink); // also during a discard, which waits for this sink
    const { place } = sink;
    if (place !== undefined) this.#take(place, part);
    return this.#discarded ? undefined : sink;
  }

  #take(place: unknown, { name, filename }: FormPart): void {
    if (this.#taken.has(place)) {
      const message = `The file ${quoted(filename)} of the field ${quoted(name)}`;
      throw new UploadError("EXISTS", `${message} would have the same destination as another file of the form`);
    }
    this.#taken.add(place);
  }
}

class FilePart {
  readonly #part: FormPart;
  readonly #open: () => Promise<BodySink | undefined>;
  readonly #options: FormSettings;
  readonly #digester: Digester | undefined;
  /** The destination, once there are bytes for it; undefined if the file is skipped. */
  #sink: Promise<BodySink | undefined> | undefined = undefined;
  #bytes = 0;
  saved: SavedFormFile | undefined = undefined;

  constructor(part: FormPart, open: () => Promise<BodySink | undefined>, options: FormSettings) {
    this.#part = part;
    this.#open = open;
    this.#options = options;
    this.#digester = options.digest && new Digester([options.digest]);
  }

  async write(pieces: readonly Uint8Array[]): Promise<void> {
    const sink = await (this.#sink ??= this.#open());
    if (sink === undefined) return;
    for (const piece of pieces) this.#bytes += piece.length;
    const { maxFileBytes } = this.#options;
    if (this.#bytes > maxFileBytes) {
      const what = `The file ${quoted(this.#part.filename)} of the field ${quoted(this.#part.name)} has`;
      throw tooLarge(what, maxFileBytes, "bytes", "maxFileBytes");
    }
    const writing = sink.write(pieces);
    this.#digester?.update(pieces);
    await writing;
  }

  async end(): Promise<void> {
    // Browsers send an empty part with an empty name for an <input type="file"> without a chosen file.
    if (this.#sink === undefined && this.#part.filename === "") return;
    const sink = await (this.#sink ??= this.#open());
    if (sink === undefined) return;
    await sink.end();
    const { digest: algorithm } = this.#options;
    const digest = this.#digester && formatDigest(algorithm!, this.#digester.finish().get(algorithm!)!);
    const { path } = sink;
    this.saved = { ...this.#part, bytes: this.#bytes, ...(digest && { digest }), ...(path !== undefined && { path }) };
  }
}
