import { Buffer } from "node:buffer";

/** The number of different responses that a template is made from. */
const SAMPLES = 6;
/** How often that is tried, if they have little in common. */
const TRIES = 3;
/** The largest template in bytes: it is loaded by every client, once. */
const LARGEST = 64 * 1024;
/** The smallest template that is worth a request. */
const SMALLEST = 256;
/** The pieces that texts are cut into: before tags and members, and after lines. */
const PIECES = /[^<\n,{]*\n|[<,{]?[^<\n,{]*/g;

/** Makes a template from the first responses of a route: pieces that more than half of them have, and no others. */
export class TemplateMaker {
  /** Texts, one character a byte. */
  readonly #samples = new Set<string>();
  #tries = 0;
  #isDone = false;

  /** Whether it takes no more responses. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Takes a response's body, and returns the template once there are enough. */
  add(body: Uint8Array): Uint8Array | undefined {
    if (this.#isDone) return undefined;
    this.#samples.add(Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"));
    if (this.#samples.size < SAMPLES) return undefined;
    const template = templateOf([...this.#samples]);
    this.#samples.clear();
    const isWorthIt = template.length >= SMALLEST;
    this.#isDone = isWorthIt || ++this.#tries === TRIES;
    return isWorthIt ? new Uint8Array(Buffer.from(template, "latin1")) : undefined;
  }
}

/** The pieces of the sample with the most common ones that more than half of all samples have, in their order. */
function templateOf(samples: readonly string[]): string {
  const pieces = samples.map((sample) => sample.match(PIECES)!);
  const counts = new Map<string, number>();
  for (const list of pieces) {
    for (const piece of new Set(list)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  let best = "";
  for (const list of pieces) {
    const seen = new Set<string>();
    const common = list.filter((piece) => {
      const isNew = counts.get(piece)! > samples.length / 2 && !seen.has(piece);
      return isNew && seen.add(piece);
    }).join("");
    if (common.length > best.length) best = common;
  }
  return best.slice(0, LARGEST);
}
