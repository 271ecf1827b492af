/** Pages of a small site that share a frame: how many, and a word that differs from one edition of the site to another. */
export interface Pages {
  readonly count: number;
  readonly edition?: string;
}

/** HTML pages by path, `index.html` and `docs/N.html`: the same for the same arguments. */
export function pagesOfSite({ count, edition = "first" }: Pages): Record<string, string> {
  let state = 7;
  const random = (below: number): number => {
    state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return (state >>> 8) % below;
  };
  const word = (): string => Array.from({ length: 3 + random(7) }, () => String.fromCharCode(97 + random(26))).join("");
  const words = (length: number): string => Array.from({ length }, word).join(" ");
  const frame = Array.from({ length: 90 }, () => `<li><a href="/docs/${word()}.html">${words(2)}</a></li>`).join("\n");
  const page = (title: string): string =>
    `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">\n` +
    `<nav>${frame}</nav>\n<main><h1>${title}</h1><p>${edition}</p>\n<p>${words(120)}</p></main></html>\n`;
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [i === 0 ? "index.html" : `docs/${i}.html`, page(`Page ${i}`)]),
  );
}
