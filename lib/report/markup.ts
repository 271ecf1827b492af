/** Text that is HTML already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | undefined | readonly (Markup | undefined)[];

/** Makes HTML of a template: what is put in is escaped, unless it is {@linkcode Markup}; undefined is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(parts.reduce((text, part, i) => text + textOf(values[i - 1]) + part));
}

function textOf(value: Value): string {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "object") return value.map(textOf).join("");
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * The name of a file, with characters spelt out that control a line or the direction of text: none passes for another.
 */
export function visibleName(name: string): string {
  return name.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// deno-lint-ignore no-control-regex -- these are what is looked for
const HIDDEN = /[\0-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
