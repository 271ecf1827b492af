import { Buffer } from "node:buffer";
import { shown, tooLarge } from "./form_errors.ts";
import type { FormLimits } from "./form_options.ts";
import type { PartTarget } from "./form_part.ts";

/** UTF-8 always: neither a field `_charset_` nor a part's `charset` changes that, as in `Request.formData()`. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text fields of a form: the one that is received, and those before it. */
export class FormFields implements PartTarget {
  /** The fields that are complete. */
  readonly data: FormData = new FormData();
  readonly #limits: FormLimits;
  #name = "";
  /** The text of the field that is received, and room. */
  #text = new Uint8Array(256);
  #length = 0;
  /** Bytes of names and texts of all fields. */
  #total = 0;

  constructor(limits: FormLimits) {
    this.#limits = limits;
  }

  /** @throws {UploadError} `TOO_LARGE` if there is no room for its name. */
  begin(name: string): this {
    this.#name = name;
    this.#length = 0;
    this.#count(Buffer.byteLength(name));
    return this;
  }

  /** @throws {UploadError} `TOO_LARGE` if a limit is passed. */
  write(pieces: readonly Uint8Array[]): void {
    const { maxFieldBytes } = this.#limits;
    for (const piece of pieces) {
      const length = this.#length + piece.length;
      if (length > maxFieldBytes) {
        throw tooLarge(`The field ${shown(this.#name)} has`, maxFieldBytes, "bytes", "maxFieldBytes");
      }
      this.#count(piece.length);
      this.#makeRoom(length);
      this.#text.set(piece, this.#length);
      this.#length = length;
    }
  }

  end(): void {
    this.data.append(this.#name, decoder.decode(this.#text.subarray(0, this.#length)));
  }

  #count(bytes: number): void {
    this.#total += bytes;
    const { maxFieldsBytes } = this.#limits;
    if (this.#total <= maxFieldsBytes) return;
    const what = `The fields of the form up to ${shown(this.#name)} have`;
    throw tooLarge(what, maxFieldsBytes, "bytes", "maxFieldsBytes");
  }

  #makeRoom(length: number): void {
    if (length <= this.#text.length) return;
    const larger = new Uint8Array(Math.max(length, 2 * this.#text.length));
    larger.set(this.#text.subarray(0, this.#length));
    this.#text = larger;
  }
}
