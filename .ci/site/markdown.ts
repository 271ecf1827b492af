import { Marked, type Tokens } from "marked";
import { gfmHeadingId } from "marked-gfm-heading-id";
import { highlighted } from "./highlight.ts";
import { hrefTo, type Page, targetOf } from "./pages.ts";

/** A heading of a page. */
export interface Heading {
  readonly level: number;
  readonly id: string;
  /** HTML, without links. */
  readonly words: string;
}

/** A page as HTML. */
export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** The pages and pictures of the site by their paths in the repository. */
export interface Places {
  readonly pages: ReadonlyMap<string, string>;
  readonly pictures: ReadonlyMap<string, Picture>;
}

/** A picture on the site, with its size in pixels. */
export interface Picture {
  readonly output: string;
  readonly width: string;
  readonly height: string;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes text for HTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => ENTITIES[char]);
}

/** Renders Markdown for a place on the site. Links into the repository that lead to no page of the site become text. */
export function render(text: string, page: Pick<Page, "source" | "output">, places: Places): Rendered {
  const marked = new Marked({ gfm: true }, gfmHeadingId());
  let pictures = 0;
  marked.use({
    renderer: {
      code: ({ text, lang = "" }: Tokens.Code): string => codeBlock(text, lang),
      link({ href, tokens }: Tokens.Link): string {
        const words = this.parser.parseInline(tokens);
        const target = hrefOf(href, page, places);
        return target === undefined ? words : `<a href="${escaped(target)}">${words}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        const picture = places.pictures.get(targetOf(page.source, href));
        if (picture === undefined) throw new Error(`${page.source}: ${href} is not a picture of the site`);
        const { output, width, height } = picture;
        // The first is in view at once.
        const loading = pictures++ > 0 ? ' loading="lazy"' : "";
        const src = hrefTo(page.output, output);
        // On a phone, the words in the picture are small until it is opened separately.
        return `<a href="${src}"><img src="${src}" alt="${
          escaped(text)
        }" width="${width}" height="${height}"${loading}></a>`;
      },
    },
  });
  return withAnchors(withTables(marked.parse(text.replace(/<!--[^]*?-->\s*/g, "")) as string));
}

/** Renders a block of code. */
export function codeBlock(text: string, lang: string): string {
  const [name, ...runtimes] = lang.split(/\s+/);
  const label = runtimes.length > 0 ? `<p class="runtimes">${runtimes.join(", ")}</p>` : "";
  return `<div class="code">${label}<pre tabindex="0"><code>${highlighted(text, name)}</code></pre></div>\n`;
}

function hrefOf(
  href: string,
  { source, output }: Pick<Page, "source" | "output">,
  { pages }: Places,
): string | undefined {
  if (/^(?:\w+:|#)/.test(href)) return href;
  const [, path, place = ""] = /^([^#]*)(#.*)?$/.exec(href)!;
  const target = pages.get(targetOf(source, path));
  return target && hrefTo(output, target) + place;
}

/** Makes wide tables scroll, and turns heading cells without words into ordinary ones. */
function withTables(html: string): string {
  return html.replace(/<th[^>]*><\/th>/g, "<td></td>")
    .replaceAll("<table>", '<div class="table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>");
}

function withAnchors(html: string): Rendered {
  const headings: Heading[] = [];
  const linked = html.replace(/<h([1-4]) id="([^"]*)">(.*?)<\/h\1>/gs, (_, level, id, words) => {
    const plain = words.replace(/<\/?a\b[^>]*>/g, "");
    headings.push({ level: Number(level), id, words: plain });
    if (level === "1") return `<h1 id="${id}">${words}</h1>`;
    return `<h${level} id="${id}">${words} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${level}>`;
  });
  return { html: linked, headings };
}
