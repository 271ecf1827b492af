/** An observable event: its subject, and its text. */
export interface Event {
  readonly subject: string;
  readonly text: string;
  /** The turn of the event loop it happened in. */
  readonly turn: number;
}

type Bytes = { readonly buffer: ArrayBufferLike; readonly byteOffset: number; readonly byteLength: number };

/** The events of one run in order, with names for the objects that occur in them. */
export class EventLog {
  readonly events: Event[] = [];
  turn = 0;
  readonly #names = new Map<unknown, string>();
  readonly #counts = new Map<string, number>();

  record(subject: string, text: string): void {
    this.events.push({ subject, text, turn: this.turn });
  }

  /** Sets the object's name in the log from now on. */
  name(value: unknown, name: string): void {
    this.#names.set(value, name);
  }

  /** Returns an object's name: the given one, or its class and a number by order of occurrence. */
  describe(value: unknown): string {
    if (typeof value === "string") return JSON.stringify(value);
    if ((typeof value !== "object" || value === null) && typeof value !== "function") return String(value);
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    if (ArrayBuffer.isView(value)) return describeBytes(value);
    if (Array.isArray(value)) return `[${value.map((item) => this.describe(item)).join(", ")}]`;
    const kind = kindOf(value);
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `${kind}#${count}`;
    this.#names.set(value, name);
    return name;
  }

  /** Returns a read's result, part by part, for the result object is always a new one. */
  describeResult(result: unknown): string {
    if (typeof result !== "object" || result === null || !("done" in result)) return this.describe(result);
    const { value, done } = result as { value?: unknown; done: unknown };
    return `{ value: ${this.describe(value)}, done: ${this.describe(done)} }`;
  }

  /** Records how the promise settles, at the moment when its reactions run. */
  watch(subject: string, what: string, promise: unknown): void {
    if (!(promise instanceof Promise)) return this.record(subject, `${what} is no promise: ${this.describe(promise)}`);
    promise.then(
      (value) => this.record(subject, `${what} fulfilled: ${this.describeResult(value)}`),
      (reason) => this.record(subject, `${what} rejected: ${this.describe(reason)}`),
    );
  }
}

function kindOf(value: object): string {
  if (value instanceof DOMException) return value.name;
  if ((value as { code?: unknown }).code === "ERR_INTERNAL_ASSERTION") return "InternalAssertion";
  return value.constructor?.name ?? "Object";
}

function describeBytes(view: Bytes): string {
  const { buffer } = view;
  // A DataView of a transferred buffer throws where typed arrays say 0.
  if ((buffer as ArrayBuffer).detached) return `${kindOf(view)} detached`;
  const { byteOffset, byteLength } = view;
  const bytes = [...new Uint8Array(buffer, byteOffset, byteLength)].join(" ");
  return `${kindOf(view)} ${byteOffset}+${byteLength}/${buffer.byteLength} <${bytes}>`;
}
