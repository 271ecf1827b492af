import { ReadyResponse } from "../../runtime/mod.ts";
import { type AnswerKind, type ByteRange, goesWith, joinedNames } from "../../semantics/mod.ts";
import type { Variant } from "./variant.ts";

/** The fields of a request: `Headers`, or those of `node:http` with the same interface. */
export interface RequestFields {
  get(name: string): string | null | undefined;
}

/** Names and values of header fields alternately, as for `writeHead()` of `node:http`. */
export type Fields = readonly string[];

export function valueOf(fields: Fields, name: string): string | undefined {
  const at = fields.findIndex((each, i) => i % 2 === 0 && each.toLowerCase() === name.toLowerCase());
  return at === -1 ? undefined : fields[at + 1];
}

export function only(fields: Fields, name: string): Fields {
  const value = valueOf(fields, name);
  return value === undefined ? [] : [name, value];
}

export function without(fields: Fields, names: readonly string[]): string[] {
  return fields.filter((_, i) => !names.includes(fields[i - i % 2].toLowerCase()));
}

/** Returns those fields of a whole representation that a response of the given kind has. */
export function fieldsFor(kind: AnswerKind, fields: Fields): string[] {
  const kept: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    if (goesWith(fields[i], kind)) kept.push(fields[i], fields[i + 1]);
  }
  return kept;
}

/** Returns `fields` with `names`, a list, added to `Vary`. */
export function varying(fields: Fields, names: string): Fields {
  const vary = joinedNames(`${valueOf(fields, "Vary") ?? ""}, ${names}`);
  return vary === "" ? fields : [...without(fields, ["vary"]), "Vary", vary];
}

/** A body read from a file: ranges of its bytes, and the bytes between them. */
export interface FileParts {
  readonly variant: Variant;
  readonly parts: readonly (ByteRange | Uint8Array<ArrayBuffer>)[];
}

/** Refuses room for a copy: most answers serve one request. */
const never = (): boolean => false;

/** An answer to one request, or shared by many. */
export class Answer {
  readonly status: number;
  readonly fields: Fields;
  /** The whole body; undefined if there is none, or if it is in `file`. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  readonly file: FileParts | undefined;
  readonly #hasRoomFor: (size: number) => boolean;
  #ready: ReadyResponse | undefined;

  /** @param hasRoomFor Whether a copy of `size` bytes may be kept, which makes repeated answers faster. */
  constructor(
    status: number,
    fields: Fields,
    body?: Uint8Array<ArrayBuffer> | FileParts,
    hasRoomFor: (size: number) => boolean = never,
  ) {
    this.status = status;
    this.fields = fields;
    this.bytes = body instanceof Uint8Array ? body : undefined;
    this.file = body instanceof Uint8Array ? undefined : body;
    this.#hasRoomFor = hasRoomFor;
  }

  with(fields: Fields): Answer {
    return new Answer(this.status, [...this.fields, ...fields], this.bytes ?? this.file);
  }

  /** Returns the same answer with the list `names` added to its `Vary`. */
  varyingBy(names: string): Answer {
    return new Answer(this.status, varying(this.fields, names), this.bytes ?? this.file);
  }

  /** Returns a new Response with the whole body, unless that is in a file. */
  response(): Response {
    return (this.#ready ??= new ReadyResponse(this.bytes, this.init(), this.#hasRoomFor)).make();
  }

  /**
   * Returns the argument of a Response. An object takes 2 µs less than pairs on Node, but cannot contain a field
   * `__proto__`, or a repeated name.
   */
  init(): { status: number; headers: Record<string, string> | [name: string, value: string][] } {
    const { status, fields } = this;
    const headers: Record<string, string> = {};
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i].toLowerCase(); // Deno's own conversion takes half as long again
      if (name in headers) return { status, headers: pairs(fields) };
      headers[name] = fields[i + 1];
    }
    return { status, headers };
  }
}

function pairs(fields: Fields): [name: string, value: string][] {
  return Array.from({ length: fields.length / 2 }, (_, i) => [fields[2 * i].toLowerCase(), fields[2 * i + 1]]);
}
