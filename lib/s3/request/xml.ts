import { parseXml, XmlElement } from "@rgrove/parse-xml";

/** An element of a response's document, read by the names of its children. */
export class XmlResponse {
  readonly #element: XmlElement;

  constructor(element: XmlElement) {
    this.#element = element;
  }

  get name(): string {
    return this.#element.name;
  }

  text(name: string): string | undefined {
    const [found] = this.all(name);
    return found === undefined ? undefined : found.#element.text;
  }

  /** @throws {Error} if there is no child of that name. */
  required(name: string): string {
    const text = this.text(name);
    if (text?.includes(UNREADABLE)) throw new Error(`${this.name} has a ${name} that XML cannot represent`);
    if (text) return text;
    throw new Error(`${this.name} has no ${name}`);
  }

  size(name: string): number {
    const size = naturalNumber(this.text(name));
    if (size !== undefined) return size;
    throw new Error(`${this.name} has no number as ${name}`);
  }

  all(name: string): XmlResponse[] {
    const found: XmlResponse[] = [];
    for (const child of this.#element.children) {
      if (child instanceof XmlElement && child.name === name) found.push(new XmlResponse(child));
    }
    return found;
  }
}

/** Characters that XML 1.0 forbids, but that keys may have and AWS writes as references. */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /&#(?:x0*(?:[0-8bcef]|1[0-9a-f]|fff[ef])|0*(?:[0-8]|1[124-9]|2\d|3[01]));|[\0-\x08\v\f\x0e-\x1f]/gi;
/** A noncharacter in their place: a text with it is not the store's. */
const UNREADABLE = "\u{1ffff}";

/** Parses the document of a response; undefined if it is incomplete or invalid. */
export function parseAnswer(text: string): XmlResponse | undefined {
  try {
    const { root } = parseXml(text.trimStart().replace(FORBIDDEN, UNREADABLE));
    return root === null ? undefined : new XmlResponse(root);
  } catch {
    return undefined;
  }
}

export function naturalNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => escapes[c]);
}
