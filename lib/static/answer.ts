import type { ByteRange } from "./http/byte_ranges.ts";
import type { Variant } from "./variant.ts";

/** Names and values of header fields in turn, as `writeHead()` of `node:http` takes them. */
export type Fields = readonly string[];

/** The value of the field `name`, if it is among `fields`. */
export function valueOf(fields: Fields, name: string): string | undefined {
  const at = fields.findIndex((each, i) => i % 2 === 0 && each.toLowerCase() === name.toLowerCase());
  return at === -1 ? undefined : fields[at + 1];
}

/** `fields` without those of these names, in lower case. */
export function without(fields: Fields, names: readonly string[]): string[] {
  return fields.filter((_, i) => !names.includes(fields[i - i % 2].toLowerCase()));
}

/** What is sent of a file that is not in memory: ranges of its bytes, and what goes between them. */
export interface FileParts {
  readonly variant: Variant;
  readonly parts: readonly (ByteRange | Uint8Array<ArrayBuffer>)[];
}

/** An answer to a request, made once and given to any number of them, or made for one. */
export class Answer {
  readonly status: number;
  readonly fields: Fields;
  /** All of the body; undefined if there is none, or it is in `file`. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  readonly file: FileParts | undefined;
  #init: ResponseInit | undefined;

  constructor(status: number, fields: Fields, body?: Uint8Array<ArrayBuffer> | FileParts) {
    this.status = status;
    this.fields = fields;
    this.bytes = body instanceof Uint8Array ? body : undefined;
    this.file = body instanceof Uint8Array ? undefined : body;
  }

  /** What a `Response` is made with; made when first asked for, as most answers of a large tree never are. */
  get init(): ResponseInit {
    return this.#init ??= { status: this.status, headers: recordOf(this.fields) };
  }
}

/** An answer with a line of text. */
export function textAnswer(status: number, text: string, fields: Fields = []): Answer {
  const bytes = new TextEncoder().encode(`${text}\n`);
  const length = String(bytes.length);
  return new Answer(status, ["Content-Type", "text/plain; charset=utf-8", "Content-Length", length, ...fields], bytes);
}

function recordOf(fields: Fields): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i < fields.length; i += 2) record[fields[i]] = fields[i + 1];
  return record;
}
