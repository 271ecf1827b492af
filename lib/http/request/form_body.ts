import { typeOfBlob } from "./blob_members.ts";
import { BlobBody } from "./parts_body.ts";
import type { ExtractedBody } from "./body_source.ts";

const encoder = new TextEncoder();

/**
 * Writes a form as multipart/form-data; its files are read when they are sent.
 *
 * @see {@link https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data}
 */
export function formBody(form: FormData): ExtractedBody {
  const boundary = `----millrace${crypto.randomUUID().replaceAll("-", "")}`;
  const parts: (Uint8Array | Blob)[] = [];
  let text = "";
  for (const [name, value] of form) {
    text += `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(withLineEnds(name))}"`;
    if (typeof value === "string") {
      text += `\r\n\r\n${withLineEnds(value)}\r\n`;
      continue;
    }
    // On Bun a Blob has no name, where others make it a File of this name.
    text += `; filename="${escaped(String(value.name ?? "blob"))}"\r\nContent-Type: ${
      typeOfBlob(value) || "application/octet-stream"
    }\r\n\r\n`;
    parts.push(encoder.encode(text), value);
    text = "\r\n";
  }
  parts.push(encoder.encode(`${text}--${boundary}--\r\n`));
  return { source: new BlobBody(parts), type: `multipart/form-data; boundary=${boundary}` };
}

function withLineEnds(text: string): string {
  return text.replace(/\r\n?|\n/g, "\r\n");
}

function escaped(name: string): string {
  return name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}
