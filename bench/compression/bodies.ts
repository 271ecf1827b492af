/** The bodies the servers send: data and pages like those of applications, equal in every run. */
import { readFileSync } from "node:fs";

let state = 1;

function random(below: number): number {
  state = state * 48271 % 2147483647;
  return state % below;
}

const WORDS =
  ("account address amount archive autumn balance basket bridge bright carbon center change choice circle " +
    "climate coffee common copper corner cotton custom danger decide degree desert detail dinner dollar double " +
    "editor effort energy engine expect export family figure finger flower forest friend future garden gather").split(
      " ",
    );

const words = (count: number): string => Array.from({ length: count }, () => WORDS[random(WORDS.length)]).join(" ");

/** Orders as an API lists them, some 20 KB. */
const orders = Array.from({ length: 80 }, (_, i) => ({
  id: `ord_${(i * 7919 + 104729).toString(36)}`,
  createdAt: new Date(1_760_000_000_000 + i * 3_723_000).toISOString(),
  status: ["pending", "paid", "shipped", "delivered"][random(4)],
  customer: { name: words(2), email: `${words(1)}@example.com` },
  total: { amount: random(100_000) / 100, currency: "EUR" },
  note: words(random(8)),
}));

/** A page of a shop as a framework renders it, some 40 KB. */
const page = `<!doctype html><html lang="en"><head><title>${words(4)}</title></head><body><main class="grid">${
  Array.from({ length: 90 }, (_, i) =>
    `<article class="card card--${["plain", "wide", "sale"][random(3)]}" data-id="${i}"><a href="/items/${i}-${
      words(2).replace(" ", "-")
    }"><h3 class="card__title">${words(3)}</h3></a><p class="card__text">${words(20)}</p><span class="price">€${
      random(10_000) / 100
    }</span></article>`).join("\n")
}</main></body></html>`;

/** A catalogue as an API lists it, some 20 KB: fields repeat, as most data does. */
const catalogue = Array.from({ length: 130 }, (_, i) => ({
  id: i + 1,
  name: `${words(1)} ${words(1)}`,
  category: ["tools", "garden", "kitchen", "books"][random(4)],
  price: random(20_000) / 100,
  quantity: random(50),
  active: random(8) > 0,
  tags: [["new", "sale"][random(2)], ["light", "heavy", "fragile"][random(3)]],
  rating: { score: 30 + random(20), count: random(400) },
}));

/** A page of documentation, some 40 KB, of our own pages. */
const manual = `<!doctype html><html lang="en"><head><title>Manual</title></head><body><main>${
  ["streams", "codecs", "precompress", "static"].map((folder) => {
    const text = readFileSync(new URL(`../../lib/${folder}/README.md`, import.meta.url), "utf8");
    return text.slice(0, 9000).replaceAll("&", "&amp;").replaceAll("<", "&lt;").split(/\n{2,}/).map((part, i) =>
      part.startsWith("#")
        ? `<h2 id="${folder}-${i}"><a class="anchor" href="#${folder}-${i}">${part.replace(/^#+ /, "")}</a></h2>`
        : part.startsWith("```")
        ? `<pre><code class="language-ts">${part}</code></pre>`
        : `<p>${part.replaceAll(/`([^`]+)`/g, "<code>$1</code>")}</p>`
    ).join("\n");
  }).join("\n")
}</main></body></html>`;

/** The bodies with their types, by their paths. */
export const bodies: Readonly<
  Record<string, { readonly type: string; readonly text: string; readonly value?: unknown }>
> = {
  "/json": { type: "application/json; charset=utf-8", text: JSON.stringify(orders), value: orders },
  "/page": { type: "text/html; charset=utf-8", text: page },
  "/catalogue": { type: "application/json; charset=utf-8", text: JSON.stringify(catalogue), value: catalogue },
  "/manual": { type: "text/html; charset=utf-8", text: manual },
};
