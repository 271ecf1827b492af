import { Buffer } from "node:buffer";
import { type Undoable, undoAll } from "../../files/internal.ts";
import { formatDigest } from "../../semantics/mod.ts";
import { Digester } from "../body/announced.ts";
import { quoted, UploadError } from "../body/upload_error.ts";
import type { BodySink } from "../sink/file_sink.ts";
import { openSink } from "../sink/open_sink.ts";
import type { SavedBody } from "../sink/save_body.ts";
import {
  type FormLimits,
  type FormPart,
  type PartTarget,
  type ResolveDestination,
  type SaveFormOptions,
  tooLarge,
} from "./form_options.ts";

/** The text fields of a form: the one that is received, and those before it. */
export class FormFields implements PartTarget {
  readonly data: FormData = new FormData();
  readonly #limits: FormLimits;
  /** UTF-8 always: neither a field `_charset_` nor a part's `charset` changes that, as in `Request.formData()`. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #name = "";
  /** The text of the field that is received, and its bytes so far. */
  #text = "";
  #length = 0;
  #total = 0;

  constructor(limits: FormLimits) {
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

/** The files of a form: all of them appear, or none. */
export class FormFiles {
  readonly #destine: ResolveDestination;
  readonly #options: SaveFormOptions & FormLimits;
  readonly #parts: FilePart[] = [];
  /** The paths and streams of all files of the form: no two files may have one destination. */
  readonly #taken = new Set<unknown>();
  /** The sinks whose files do not have their names yet. */
  readonly #sinks: BodySink[] = [];
  readonly #made: Undoable[] = [];
  #opening: Promise<BodySink> | undefined = undefined;
  /** The reason of the discard, after which nothing is kept any more. */
  #discarded: { readonly reason: unknown } | undefined = undefined;

  constructor(destine: ResolveDestination, options: SaveFormOptions & FormLimits) {
    this.#destine = destine;
    this.#options = options;
  }

  begin(part: FormPart): FilePart {
    const file = new FilePart(part, () => this.#open(part), this.#options);
    this.#parts.push(file);
    return file;
  }

  /** Names all files, once all are received. If one cannot be named, {@linkcode discard} removes the others. */
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

  /** Removes all files of the form, also one that is being opened, unless they have replaced others. Never rejects. */
  async discard(reason: unknown): Promise<void> {
    this.#discarded = { reason };
    await this.#opening?.catch(() => {}); // it fails for the form's own reason, or there is nothing of it
    for (const sink of this.#sinks.splice(0)) await sink.discard(reason);
    await undoAll(this.#made.splice(0));
  }

  async #open(part: FormPart): Promise<BodySink | undefined> {
    const destination = this.#discarded ? undefined : await this.#destine(part);
    if (destination === undefined || this.#discarded) return undefined;
    const isStream = typeof destination === "object" && !(destination instanceof URL);
    if (isStream) this.#take(destination, part);
    this.#opening = openSink(destination, this.#options);
    const sink = await this.#opening;
    this.#sinks.push(sink); // also if all are being discarded: that waits for it
    if (sink.place !== undefined) this.#take(sink.place, part);
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

/** A file of a form while it is received, and after. */
class FilePart implements PartTarget {
  readonly #part: FormPart;
  readonly #open: () => Promise<BodySink | undefined>;
  readonly #options: SaveFormOptions & FormLimits;
  #digester: Digester | undefined;
  #isOpen = false;
  #sink: BodySink | undefined = undefined;
  #bytes = 0;
  saved: SavedFormFile | undefined = undefined;

  /** @param open Opens the destination of the file; returns undefined if the file is skipped. */
  constructor(part: FormPart, open: () => Promise<BodySink | undefined>, options: SaveFormOptions & FormLimits) {
    this.#part = part;
    this.#open = open;
    this.#options = options;
  }

  async write(pieces: readonly Uint8Array[]): Promise<void> {
    const sink = await this.#opened();
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
    // A browser sends this for an <input type="file"> where nothing was chosen.
    if (!this.#isOpen && this.#part.filename === "") return;
    const sink = await this.#opened();
    if (sink === undefined) return;
    await sink.end();
    const { digest: algorithm } = this.#options;
    const digest = this.#digester && formatDigest(algorithm!, this.#digester.finish().get(algorithm!)!);
    const { path } = sink;
    this.saved = { ...this.#part, bytes: this.#bytes, ...(digest && { digest }), ...(path !== undefined && { path }) };
  }

  async #opened(): Promise<BodySink | undefined> {
    if (this.#isOpen) return this.#sink;
    this.#isOpen = true;
    this.#sink = await this.#open();
    if (this.#sink && this.#options.digest) this.#digester = new Digester([this.#options.digest]);
    return this.#sink;
  }
}
