import type { Page } from "./pages.ts";
import type { Rendered } from "./markdown.ts";

/** An entry of the search: title, place on the site, section and words. */
export type Entry = readonly [title: string, href: string, part: string, words: string];

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** Returns HTML as text. */
export function plain(html: string): string {
  const text = html.replace(/<a class="anchor".*?<\/a>/g, "").replace(/<\/(?:td|th|li|p|h\d|pre)>/g, " ")
    .replace(/<[^>]*>/g, "");
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]).replace(/\s+/g, " ").trim();
}

/** Returns the search entries of a page: each section, without its code. */
export function sectionsOf({ output, title }: Page, group: string, { html }: Rendered): Entry[] {
  return html.split(/(?=<h[23] id=)/).map((section, i): Entry => {
    const [heading, id] = /^<h\d id="([^"]*)">.*?<\/h\d>/s.exec(section) ?? ["", ""];
    const words = plain(section.slice(heading.length).replace(/<h1.*?<\/h1>|<div class="code">.*?<\/div>/gs, ""));
    return i === 0 ? [title, output, group, words] : [plain(heading), `${output}#${id}`, title, words];
  });
}

/** Returns the script that a page loads on its first search: scripts load from files, too. */
export function searchScript(entries: readonly Entry[]): string {
  return `globalThis.millraceEntries=${JSON.stringify(entries)};\n`;
}
