/** Formats of images that all current browsers take. */
export const KNOWN_IMAGE: RegExp = /^image\/(?:avif|webp|jpeg|png|gif|svg\+xml|bmp|x-icon)\s*(?:;|$)/i;

/** Of images in several widths, the one that is at least as wide as this is loaded: a page on a laptop. */
const WIDTH = 1200;

/** The candidate of a `srcset` for a screen of one pixel a point; undefined if there is none. */
export function candidateOf(srcset: string | undefined): string | undefined {
  if (srcset === undefined) return undefined;
  return forCommonScreen([...candidates(srcset)])?.url;
}

/** The candidate for a screen of one pixel a point; undefined if there is none. */
export function forCommonScreen<Image extends Size>(images: readonly Image[]): Image | undefined {
  const byAmount = images.toSorted((a, b) => a.amount - b.amount);
  return byAmount.find(({ amount, isWidth }) => amount >= (isWidth ? WIDTH : 1)) ?? byAmount.at(-1);
}

/** The size of an image among several. */
export interface Size {
  /** Of pixels, in all or for each point. */
  readonly amount: number;
  readonly isWidth: boolean;
}

interface Candidate extends Size {
  readonly url: string;
}

/** The candidates of a `srcset`: URLs, which may hold commas but not end with them, and what follows up to a comma. */
function* candidates(srcset: string): Generator<Candidate> {
  let url: string | undefined;
  let amount = 1;
  let isWidth = false;
  for (const word of srcset.split(/[\t\n\f\r ]+/)) {
    const isLast = word.endsWith(",");
    const text = isLast ? withoutCommas(word) : word;
    if (url === undefined) url = text === "" ? undefined : text;
    else if (/^[\d.]+[wx]$/.test(text)) [amount, isWidth] = [parseFloat(text), text.endsWith("w")];
    if (!isLast || url === undefined) continue;
    yield { url, amount, isWidth };
    [url, amount, isWidth] = [undefined, 1, false];
  }
  if (url !== undefined) yield { url, amount, isWidth };
}

function withoutCommas(word: string): string {
  let end = word.length;
  while (word[end - 1] === ",") end--;
  return word.slice(0, end);
}
