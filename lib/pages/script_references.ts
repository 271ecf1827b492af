import { type Reference, type ReferenceKind, TextCursor } from "./reference.ts";

/** Lists the modules that a script imports by path, with `import()` as later ones, in linear time. Import maps are not read. */
export function scriptReferences(script: string): Reference[] {
  return new ScriptReader(script).read();
}

const SPACE = /[\s\ufeff]+/y;
const LINE = /.+/y;
const WORD = /[\w$#\\\u0080-\uffff]+/y;
// Repetitions are limited: V8 stores each iteration of a repeated group, and throws after some three million.
const DOUBLE_QUOTED = /(?:[^"\\\n]+|\\[^]){1,999}/y;
const SINGLE_QUOTED = /(?:[^'\\\n]+|\\[^]){1,999}/y;
const TEMPLATE = /(?:[^`\\$]+|\\[^]|\$(?!\{)){1,999}/y;
const REGULAR_EXPRESSION = /(?:[^\\/[\n]+|\\.){1,999}/y;
const CHARACTER_CLASS = /(?:[^\]\\\n]+|\\.){1,999}/y;
const FLAGS = /\w+/y;
const PLAIN_TEMPLATE = /`([^`\\$]*)`/y;
/** `with { type: "json" }` after an import, and the second argument of `import()`. */
const TYPE = /\s*(?:with|assert)\s*\{\s*["']?type["']?\s*:\s*["'](\w+)["']/y;
const TYPE_ARGUMENT = /\s*,\s*\{\s*(?:with|assert)\s*:\s*\{\s*["']?type["']?\s*:\s*["'](\w+)["']/y;

/** Words that do not end a value: a slash after them begins a regular expression. */
const OPERATORS: ReadonlySet<string> = new Set(
  "return typeof case in of delete void throw new instanceof do else yield await extends default".split(" "),
);
/** Words after which parentheses do not end a value. */
const STATEMENTS: ReadonlySet<string> = new Set(["if", "while", "for", "with"]);
const kinds: Readonly<Record<string, ReferenceKind>> = { json: "other", css: "style" };
/** The maximum number of words before a module's name, such as in `import a, * as b from "…"`. */
const MAX_WORDS = 5;

/** Reads a script's tokens, as far as necessary to distinguish code from text. */
class ScriptReader extends TextCursor {
  readonly #references: Reference[] = [];
  /** Whether each open brace begins a value in a template. */
  readonly #braces: boolean[] = [];
  /** Whether each open parenthesis belongs to a statement such as `if`. */
  readonly #parentheses: boolean[] = [];
  /** The preceding word or character. */
  #before = "";
  /** Whether a value ends here, so that a slash is a division. */
  #isValue = false;
  /** The index up to which slashes are divisions, since a regular expression had no end. */
  #divides = 0;

  read(): Reference[] {
    for (this.#blank(); this.at < this.text.length; this.#blank()) this.#step();
    return this.#references;
  }

  #step(): void {
    const character = this.text[this.at]!;
    const word = this.take(WORD)?.[0];
    if (word !== undefined) this.#word(word);
    else if (character === '"' || character === "'") {
      this.#string();
      this.#ended('"', true);
    } else if (character === "`") this.#template();
    else if (character === "/" && !this.#isValue && this.at >= this.#divides) this.#regularExpression();
    else this.#punctuator(character);
  }

  #word(word: string): void {
    const isName = this.#before === ".";
    if (!isName && (word === "import" || word === "export")) this.#import(word);
    this.#ended(word, isName || !OPERATORS.has(word));
  }

  /** Adds a reference if a module's name follows. */
  #import(word: "import" | "export"): void {
    const start = this.at;
    this.#blank();
    const isCall = word === "import" && this.skip("(");
    if (isCall) this.#blank();
    const isNamed = isCall || this.#passBindings(word);
    const name = isNamed ? this.#string() ?? (isCall ? this.take(PLAIN_TEMPLATE)?.[1] : undefined) : undefined;
    const type = this.take(isCall ? TYPE_ARGUMENT : TYPE)?.[1];
    if (isCall) this.#blank();
    const isWhole = !isCall || type !== undefined || /[),]/.test(this.text[this.at] ?? "");
    if (name && isWhole) this.#add(name, kinds[type ?? ""] ?? "script", isCall);
    if (name === undefined || isCall) this.at = start; // the following text may contain further imports
  }

  /** Reads the bindings of an import or an export, up to the module's name; returns false if no name follows. */
  #passBindings(word: "import" | "export"): boolean {
    let last = "";
    for (let words = 0; words <= MAX_WORDS; this.#blank()) {
      const next = this.text[this.at];
      if (next === '"' || next === "'") return word === "import" && last === "" || last === "from";
      if (next === "{") {
        if (!this.#passBraces()) return false;
      } else if (!this.skip("*") && !this.skip(",")) {
        const found = this.take(WORD);
        if (!found) return false;
        words++;
      }
      last = this.text.slice(this.at - 4, this.at);
    }
    return false;
  }

  /** Reads `{ a, b as c }`; returns false if it contains anything else. */
  #passBraces(): boolean {
    this.skip("{");
    while (!this.skip("}")) {
      this.#blank();
      if (this.skip(",") || this.take(WORD) || this.#string() !== undefined) continue;
      if (this.text[this.at] !== "}") return false;
    }
    return true;
  }

  #add(name: string, kind: ReferenceKind, isLater: boolean): void {
    const isURL = /^(?:\.{0,2}\/|https?:)/i.test(name) && !name.includes("\\");
    if (isURL) this.#references.push({ url: name, kind, isLater });
  }

  /** Reads a string, if it ends in its line; a backslash continues the line. */
  #string(): string | undefined {
    const quote = this.text[this.at];
    if (quote !== '"' && quote !== "'") return undefined;
    const start = ++this.at;
    this.#takeAll(quote === '"' ? DOUBLE_QUOTED : SINGLE_QUOTED);
    const end = this.at;
    return this.skip(quote) ? this.text.slice(start, end) : undefined;
  }

  /** Reads a template, or its rest after a value. */
  #template(): void {
    this.at++;
    this.#takeAll(TEMPLATE);
    const isOpen = this.skip("$");
    if (isOpen) this.#braces.push(true);
    this.at++; // skips the brace or the end
    this.#ended("`", !isOpen);
  }

  #regularExpression(): void {
    const start = this.at;
    if (this.#passRegularExpression()) return this.#ended("/", true);
    this.at = start;
    this.#divides = this.#lineEnd();
  }

  /** Reads up to the end of a regular expression; returns false if its line ends first. */
  #passRegularExpression(): boolean {
    this.skip("/");
    for (this.#takeAll(REGULAR_EXPRESSION); !this.skip("/"); this.#takeAll(REGULAR_EXPRESSION)) {
      if (!this.skip("[")) return false;
      this.#takeAll(CHARACTER_CLASS);
      if (!this.skip("]")) return false;
    }
    this.take(FLAGS);
    return true;
  }

  #punctuator(character: string): void {
    if (character === "}" && this.#braces.pop()) return this.#template();
    this.at++;
    const isTwice = (character === "+" || character === "-") && this.skip(character); // the value is before or after it
    let isValue = isTwice ? this.#isValue : character === "]";
    if (character === "{") this.#braces.push(false);
    else if (character === "(") this.#parentheses.push(STATEMENTS.has(this.#before));
    else if (character === ")") isValue = !this.#parentheses.pop();
    const isSpread = character === "." && this.#before === ".";
    this.#ended(isSpread ? "..." : character, isValue);
  }

  #ended(token: string, isValue: boolean): void {
    this.#before = token;
    this.#isValue = isValue;
  }

  #lineEnd(): number {
    const end = this.text.indexOf("\n", this.at);
    return end === -1 ? this.text.length : end;
  }

  #blank(): void {
    for (this.take(SPACE); this.text[this.at] === "/"; this.take(SPACE)) {
      const next = this.text[this.at + 1];
      if (next === "/") this.take(LINE);
      else if (next === "*") this.#comment();
      else return;
    }
  }

  #comment(): void {
    const end = this.text.indexOf("*/", this.at + 2);
    this.at = end === -1 ? this.text.length : end + 2;
  }

  /** Takes all consecutive matches of the sticky `pattern` from here on. */
  #takeAll(pattern: RegExp): void {
    while (this.take(pattern));
  }
}
