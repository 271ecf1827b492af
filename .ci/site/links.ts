import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** The attributes that lead to files. */
const LINK = /\s(?:href|src)="([^"]*)"/g;
const ID = /\sid="([^"]*)"/g;

/** Finds links of a site's pages that lead nowhere, or out of the folder: files and places in pages. */
export function deadLinks(folder: string): string[] {
  const files = new Set(globSync("**/*", { cwd: folder }).map((path) => path.replaceAll("\\", "/")));
  const pages = [...files].filter((path) => path.endsWith(".html")).sort();
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), "utf8")]));
  const ids = new Map([...texts].map(([page, html]) => [page, new Set([...html.matchAll(ID)].map(([, id]) => id))]));
  const faults: string[] = [];
  for (const [page, html] of texts) {
    const all = [...html.matchAll(ID)].map(([, id]) => id);
    if (new Set(all).size < all.length) {
      faults.push(`${page}: an id stands twice: ${all.find((id, i) => all.indexOf(id) < i)}`);
    }
    for (const [, link] of html.matchAll(LINK)) {
      if (/^(?:https?:|mailto:|data:)/.test(link)) continue;
      const [, path, place] = /^([^#]*)(?:#(.*))?$/.exec(link.replaceAll("&amp;", "&"))!;
      const target = path === "" ? page : posix.normalize(posix.join(posix.dirname(page), decodeURI(path)));
      if (path.startsWith("/") || !files.has(target)) faults.push(`${page}: ${link}: there is no ${target}`);
      else if (place && !ids.get(target)?.has(decodeURIComponent(place))) {
        faults.push(`${page}: ${link}: no such place`);
      }
    }
  }
  return faults;
}
