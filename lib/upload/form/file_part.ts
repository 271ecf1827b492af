import type { BodySink } from "../body_sink.ts";
import { type DigestAlgorithm, formatDigest } from "../../semantics/mod.ts";
import { Digester } from "../digester.ts";
import type { SavedBody } from "../save_body.ts";
import { shown, tooLarge } from "./form_errors.ts";
import type { FormLimits } from "./form_options.ts";
import type { FormPart } from "./form_part.ts";
import type { PartTarget } from "./part_target.ts";

/** A file of a form while it is received, and after. */
export class FilePart implements PartTarget {
  readonly #part: FormPart;
  readonly #open: () => Promise<BodySink | undefined>;
  readonly #limits: FormLimits;
  readonly #algorithm: DigestAlgorithm | undefined;
  #digester: Digester | undefined;
  #isOpen = false;
  #sink: BodySink | undefined = undefined;
  #bytes = 0;
  #saved: FormPart & SavedBody | undefined = undefined;

  /** @param open Finds out where the file goes, and opens that; undefined if it is skipped. */
  constructor(
    part: FormPart,
    open: () => Promise<BodySink | undefined>,
    limits: FormLimits,
    algorithm: DigestAlgorithm | undefined,
  ) {
    this.#part = part;
    this.#open = open;
    this.#limits = limits;
    this.#algorithm = algorithm;
  }

  /** What was stored; undefined if nothing was. */
  get saved(): FormPart & SavedBody | undefined {
    return this.#saved;
  }

  /** @throws {UploadError} `TOO_LARGE` if the file is. */
  async write(pieces: readonly Uint8Array[]): Promise<void> {
    const sink = await this.#opened();
    if (sink === undefined) return;
    for (const piece of pieces) this.#bytes += piece.length;
    const { maxFileBytes } = this.#limits;
    if (this.#bytes > maxFileBytes) {
      const what = `The file ${shown(this.#part.filename)} of the field ${shown(this.#part.name)} has`;
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
    const digest = this.#digester && formatDigest(this.#algorithm!, this.#digester.finish().get(this.#algorithm!)!);
    const { path } = sink;
    this.#saved = { ...this.#part, bytes: this.#bytes, ...(digest && { digest }), ...(path !== undefined && { path }) };
  }

  async #opened(): Promise<BodySink | undefined> {
    if (this.#isOpen) return this.#sink;
    this.#isOpen = true;
    this.#sink = await this.#open();
    if (this.#sink && this.#algorithm) this.#digester = new Digester([this.#algorithm]);
    return this.#sink;
  }
}
