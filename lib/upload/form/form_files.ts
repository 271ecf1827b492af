import type { BodySink } from "../body_sink.ts";
import type { SavedBody } from "../save_body.ts";
import { type BodyDestination, openSink } from "../open_sink.ts";
import { UploadError } from "../upload_error.ts";
import { commitSink, type CommittedFile, removeCommitted } from "./committed_file.ts";
import { FilePart } from "./file_part.ts";
import type { Destine } from "./form_destination.ts";
import { shown } from "./form_errors.ts";
import type { FormLimits, SaveFormOptions } from "./form_options.ts";
import type { FormPart } from "./form_part.ts";

/**
 * A file of a form that was stored.
 *
 * @example Remember under which name each is stored
 * ```ts
 * import { saveForm, type SavedFormFile } from "@millrace/streams/upload";
 * import { basename } from "node:path";
 *
 * const row = ({ path, filename, bytes }: SavedFormFile): string => `${basename(path!)} ${filename} ${bytes}`;
 * const body = new FormData();
 * body.append("file", new File(["all of it"], "note.txt", { type: "text/plain" }));
 * const { files } = await saveForm(new Request("http://localhost/", { method: "POST", body }), "uploads");
 * console.log(row(files[0])); // ….txt note.txt 9
 * ```
 */
export interface SavedFormFile extends FormPart, SavedBody {}

/** The files of a form: all of them appear, or none. */
export class FormFiles {
  readonly #destine: Destine;
  readonly #limits: FormLimits;
  readonly #options: SaveFormOptions;
  readonly #parts: FilePart[] = [];
  /** Every path and every stream that a file goes to. */
  readonly #taken = new Set<unknown>();
  /** Those that do not have their names yet. */
  readonly #sinks: BodySink[] = [];
  /** The last that was to be opened. */
  #opening: Promise<BodySink> | undefined = undefined;
  /** Why nothing is to be kept any more. */
  #discarded: { readonly reason: unknown } | undefined = undefined;

  constructor(destine: Destine, limits: FormLimits, options: SaveFormOptions) {
    this.#destine = destine;
    this.#limits = limits;
    this.#options = options;
  }

  /** A file comes. */
  begin(part: FormPart): FilePart {
    const file = new FilePart(part, () => this.#open(part), this.#limits, this.#options.digest);
    this.#parts.push(file);
    return file;
  }

  /** All are received: gives them their names. If that fails for one of them, none has. */
  async commit(): Promise<SavedFormFile[]> {
    // Streams last: what is closed cannot be taken back.
    const sinks = this.#sinks;
    sinks.sort((a, b) => Number(a.path === undefined) - Number(b.path === undefined));
    const committed: CommittedFile[] = [];
    try {
      for (let sink = sinks[0]; sink !== undefined; sink = sinks[0]) {
        committed.push(await commitSink(sink));
        sinks.shift();
      }
    } catch (error) {
      for (const file of committed) await removeCommitted(file);
      throw error;
    }
    return this.#parts.flatMap((part) => part.saved ?? []);
  }

  /** Leaves nothing of those that do not have their names, also of one that is being opened. Never rejects. */
  async discard(reason: unknown): Promise<void> {
    this.#discarded = { reason };
    await this.#opening?.catch(() => {}); // it fails for the form's own reason, or there is nothing of it
    for (const sink of this.#sinks.splice(0)) await sink.discard(reason);
  }

  async #open(part: FormPart): Promise<BodySink | undefined> {
    const destination = this.#discarded ? undefined : await this.#destine(part);
    if (destination === undefined || this.#discarded) return undefined;
    if (isStream(destination)) this.#take(destination, part);
    this.#opening = openSink(destination, this.#options);
    const sink = await this.#opening;
    this.#sinks.push(sink); // also if all are being discarded: that waits for it
    if (sink.path !== undefined) this.#take(sink.path, part);
    return this.#discarded ? undefined : sink;
  }

  #take(place: unknown, { name, filename }: FormPart): void {
    if (this.#taken.has(place)) {
      const words = `The file ${shown(filename)} of the field ${shown(name)}`;
      throw new UploadError("EXISTS", `${words} would have the same destination as another file of the form`);
    }
    this.#taken.add(place);
  }
}

function isStream(destination: BodyDestination): boolean {
  return typeof destination === "object" && !(destination instanceof URL);
}
