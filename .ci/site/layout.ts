import { escaped, type Heading } from "./markdown.ts";
import { type Group, hrefTo } from "./pages.ts";

/** A page that a page leads to. */
export interface Linked {
  readonly output: string;
  readonly title: string;
}

/** The parts of a page of the site. */
export interface Sheet {
  readonly output: string;
  readonly title: string;
  readonly description: string;
  readonly body: string;
  /** The class of the page's shape. */
  readonly kind: "home" | "guide" | "wide";
  /** The menu beside the page, from {@linkcode menu}. */
  readonly aside?: string;
  readonly headings?: readonly Heading[];
  /** The pages before and behind this one, where pages are read one after the other. */
  readonly around?: readonly [before: Linked | undefined, behind: Linked | undefined];
  /** Elements at the end of the head. */
  readonly head?: string;
}

/** The places of the head of each page. */
const BAR: readonly (readonly [words: string, output: string])[] = [
  ["Guide", "guide/index.html"],
  ["API", "api/index.html"],
  ["Benchmarks", "benchmarks.html"],
  ["Playground", "playground.html"],
  ["Changelog", "changelog.html"],
];

/** The mark, drawn as one path: a wheel's blade in a stream. */
export const MARK = '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><path d="M4 8h24M4 16h16M4 24h8"/></svg>';

/** Returns the whole HTML of a page. */
export function documentOf(sheet: Sheet, version: string): string {
  const { output, title, description, body, kind, aside, headings = [], head = "" } = sheet;
  const href = (to: string): string => hrefTo(output, to);
  const bar = BAR.map(([words, to]) => {
    const current = isBelow(output, to) ? ' aria-current="true"' : "";
    return `<a href="${href(to)}"${current}>${words}</a>`;
  }).join("\n");
  const contents = contentsOf(headings);
  const turn = (to: Linked | undefined, words: string): string => {
    return to ? `<a href="${href(to.output)}"><small>${words}</small> ${escaped(to.title)}</a>` : "<span></span>";
  };
  const turns = sheet.around
    ? `<nav class="turns" aria-label="Pages around">${turn(sheet.around[0], "Before")}${
      turn(sheet.around[1], "Next")
    }</nav>\n`
    : "";
  const root = href("index.html").replace(/index\.html$/, "");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escaped(description)}">
<title>${escaped(kind === "home" ? title : `${title} · Millrace`)}</title>
<link rel="icon" href="${href("assets/mark.svg")}" type="image/svg+xml">
<link rel="stylesheet" href="${href("assets/site.css")}">
<script defer src="${href("assets/site.js")}"></script>
${head}</head>
<body class="${kind}">
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="${href("index.html")}">${MARK}Millrace</a>
<nav aria-label="Site">
${aside ? '<a class="to-menu" href="#menu">Menu</a>\n' : ""}${bar}
</nav>
<form class="search" role="search" action="${href("guide/index.html")}" data-root="${root}" hidden>
<input type="search" name="q" aria-label="Search" placeholder="Search" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
</form>
</header>
<div class="page">
<main id="content">
${body}
${turns}</main>
${contents}${aside ?? ""}</div>
<footer>
<p>@millrace/streams ${version} · MIT licence</p>
<p><a href="${href("guide/index.html")}">All pages</a> · <a href="${
    href("guide/security.html")
  }">Security</a> · <a href="${href("guide/contributing.html")}">Contributing</a></p>
</footer>
</body>
</html>
`;
}

function isBelow(output: string, to: string): boolean {
  return output === to || to.endsWith("/index.html") && output.startsWith(to.slice(0, -"index.html".length));
}

/** Returns the menu of groups of links for one of its pages. */
export function menu(groups: readonly MenuGroup[], output: string, label: string): string {
  const lists = groups.map(({ name, links }) => {
    const items = links.map(({ words, to }) => {
      const current = to === output ? ' aria-current="page"' : "";
      return `<li><a href="${hrefTo(output, to)}"${current}>${words}</a></li>`;
    });
    return `<h2>${escaped(name)}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
  });
  return `<nav class="menu" id="menu" aria-label="${label}" tabindex="-1">\n${lists.join("\n")}\n</nav>\n`;
}

/** Links that the menu lists together. */
export interface MenuGroup {
  readonly name: string;
  readonly links: readonly { readonly words: string; readonly to: string }[];
}

/** Returns the menu of the guide. */
export function guideMenu(groups: readonly Group[], output: string): string {
  const listed = groups.map(({ name, pages }) => ({
    name,
    links: pages.map(({ title, output }) => ({ words: output === "index.html" ? "Home" : escaped(title), to: output })),
  }));
  return menu(listed, output, "Guide");
}

/** Returns the list of a page's headings, if it has several. */
function contentsOf(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 3) return "";
  const items = shown.map(({ level, id, words }) => `<li class="h${level}"><a href="#${id}">${words}</a></li>`);
  return `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${
    items.join("\n")
  }\n</ul>\n</nav>\n`;
}
