import { Buffer } from "node:buffer";
import { type SaveFormOptions, saveFormOptions } from "../../../lib/upload/form/form_options.ts";
import { FormParser } from "../../../lib/upload/form/form_parser.ts";

/** The boundary of the forms made here. */
export const BOUNDARY = "XbX";
/** The type of the forms made here. */
export const TYPE: string = `multipart/form-data; boundary=${BOUNDARY}`;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Encodes a text whose \n are a form's line ends. */
export function form(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text.replaceAll("\n", "\r\n"));
}

/** Returns a form with a single part. */
export function formOf(header: string, body: string = "v"): Uint8Array<ArrayBuffer> {
  return form(`--${BOUNDARY}\n${header}\n\n${body}\n--${BOUNDARY}--\n`);
}

/** A part as it was understood: name, file name (null of a text), type (of a file), and its bytes as text. */
export type Understood = [name: string, filename: string | null, contentType: string | null, body: string];

/** Parses a form from these pieces; the memory of each is reused after its events. */
export function parse(
  pieces: readonly Uint8Array[],
  options: SaveFormOptions = {},
  boundary: string = BOUNDARY,
): Understood[] {
  const limits = saveFormOptions(options);
  const parser = new FormParser(boundary, limits);
  const found: Understood[] = [];
  let bytes: Uint8Array[] = [];
  for (const piece of [...pieces, undefined]) {
    const lent = piece && Buffer.from(piece); // as node gives it: its slice() is no copy
    for (const event of lent ? parser.write([lent]) : parser.end()) {
      if (event.kind === "part") {
        const { name, filename, contentType } = event.header;
        found.push([name, filename ?? null, filename === undefined ? null : contentType ?? "text/plain", ""]);
        bytes = [];
      } else if (event.kind === "bytes") bytes.push(...event.pieces.map((part) => Uint8Array.from(part)));
      else found.at(-1)![3] = textOf(bytes);
    }
    lent?.fill(35);
  }
  return found;
}

/** Returns the bytes as text. */
export function textOf(pieces: readonly Uint8Array[]): string {
  return decoder.decode(Buffer.concat(pieces));
}

/** Returns the parts of a `FormData`, in the way of {@linkcode parse}. */
export async function understoodOf(data: FormData): Promise<Understood[]> {
  return await Promise.all(
    [...data].map(async ([name, value]): Promise<Understood> =>
      typeof value === "string"
        ? [name, null, null, value]
        : [name, value.name, value.type, textOf([new Uint8Array(await value.arrayBuffer())])]
    ),
  );
}
