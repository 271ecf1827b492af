/**
 * A file of a form, as its sender describes it (RFC 7578, section 4).
 *
 * @example Choose a folder by the form's field
 * ```ts
 * import { type FormPart, saveForm } from "@millrace/streams/upload";
 * import { mkdir } from "node:fs/promises";
 *
 * await mkdir("uploads/scans");
 * const place = ({ name }: FormPart): string => name === "scan" ? "scans/scan.pdf" : "other.bin";
 * const body = new FormData();
 * body.append("scan", new File(["…"], "../../report.pdf"));
 * const request = new Request("http://localhost/", { method: "POST", body });
 * const { files } = await saveForm(request, place, { root: "uploads" });
 * console.log(files[0].path?.endsWith("scan.pdf"), files[0].filename); // true …report.pdf
 * ```
 */
export interface FormPart {
  /** The name of the form's field. */
  readonly name: string;
  /**
   * The name that the file has at the sender: any text at all, also `../../etc/passwd` or nothing. Not to be used as a
   * path, or part of one.
   */
  readonly filename: string;
  /** The media type that the sender gives the file, with its parameters; `text/plain` if none is given. */
  readonly contentType: string;
}

/** The destination of a part's bytes. One call at a time. */
export interface PartTarget {
  /** Takes the next bytes; when it is done, the memory of the pieces may be used again. */
  write(pieces: readonly Uint8Array[]): Promise<void> | void;
  /** There are no more. */
  end(): Promise<void> | void;
}
