import { checkSaveOptions, type FormOption, requireLimit, type SaveBodyOptions } from "../body/save_options.ts";

/**
 * Options of {@linkcode saveForm}. `maxBytes`, `expectedBytes`, `verify`, `timeout` and the other options of what is
 * received are meant of the whole body of the request; `root`, `overwrite`, `mode`, `flush` and `digest` of each file.
 *
 * @example One picture of at most 5 MB, and a few words
 * ```ts
 * import { saveForm, type SaveFormOptions } from "@millrace/streams/upload";
 *
 * const options: SaveFormOptions = { maxParts: 5, maxFileBytes: 5_000_000, maxFieldBytes: 1000, digest: "sha-256" };
 * const body = new FormData();
 * body.append("picture", new File(["…"], "mill.png", { type: "image/png" }));
 * const { files } = await saveForm(new Request("http://localhost/", { method: "POST", body }), "uploads", options);
 * console.log(files[0].digest); // sha-256=:…:
 * ```
 */
export interface SaveFormOptions extends SaveBodyOptions {
  /**
   * Most parts of a form: its files and fields.
   *
   * @default 1000
   */
  maxParts?: number;
  /**
   * Most bytes of one file; what is skipped has no limit but `maxBytes`.
   *
   * @default Infinity
   */
  maxFileBytes?: number;
  /**
   * Most bytes of the text of one field.
   *
   * @default 1_048_576
   */
  maxFieldBytes?: number;
  /**
   * Most bytes of all names and texts of fields together: they are kept in memory.
   *
   * @default 16_777_216
   */
  maxFieldsBytes?: number;
  /**
   * Most bytes of the name of a field, and of the name of a file.
   *
   * @default 1024
   */
  maxNameBytes?: number;
  /**
   * Most bytes of the header of one part, from 1 to 16384.
   *
   * @default 16_384
   */
  maxHeaderBytes?: number;
  /**
   * The `Content-Type` of the body, with its boundary, where the source is a bare stream, that has none.
   *
   * @default the `Content-Type` of the request
   */
  contentType?: string;
}

/** How much of everything a form may have. */
export type FormLimits = Required<Pick<SaveFormOptions, Exclude<FormOption, "contentType">>>;

/** More than that the parser of header fields does not take. */
const MOST_HEADER_BYTES = 16 * 1024;

const defaults: FormLimits = {
  maxParts: 1000,
  maxFileBytes: Infinity,
  maxFieldBytes: 1024 * 1024,
  maxFieldsBytes: 16 * 1024 * 1024,
  maxNameBytes: 1024,
  maxHeaderBytes: MOST_HEADER_BYTES,
};

/**
 * The limits of a form, with the defaults for those that are not given.
 *
 * @throws {TypeError} if an option is of the wrong type.
 * @throws {RangeError} if a number is out of range.
 */
export function checkFormOptions(options: SaveFormOptions): FormLimits {
  checkSaveOptions(options);
  const limits = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof FormLimits)[]) {
    requireLimit(name, options[name]);
    limits[name] = options[name] ?? defaults[name];
  }
  const { maxHeaderBytes } = limits;
  if (maxHeaderBytes < 1 || maxHeaderBytes > MOST_HEADER_BYTES) {
    throw new RangeError(`maxHeaderBytes ${maxHeaderBytes} is out of range: use 1 to ${MOST_HEADER_BYTES}`);
  }
  const { contentType } = options;
  if (contentType !== undefined && typeof contentType !== "string") {
    throw new TypeError(`contentType must be a string, not ${String(contentType)}`);
  }
  return limits;
}
