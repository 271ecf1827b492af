import { createElement as h, type ReactElement, Suspense, use } from "react";

interface Mill {
  readonly name: string;
  readonly turns: number;
}

/** Takes a moment, like a query of a database. */
async function findMills(): Promise<Mill[]> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return Array.from({ length: 2000 }, (_, i) => ({ name: `mill ${i + 1}`, turns: i % 30 }));
}

function Rows({ found }: { found: Promise<Mill[]> }): ReactElement {
  return h("ol", null, use(found).map(({ name, turns }) => h("li", { key: name }, `${name}: ${turns}`)));
}

/** The page: its head is sent at once, its rows when they have been found. */
export function page(): ReactElement {
  return h(
    "html",
    { lang: "en" },
    h("head", null, h("title", null, "Mills")),
    h(
      "body",
      null,
      h("h1", null, "Mills"),
      h(Suspense, { fallback: h("p", null, "…") }, h(Rows, { found: findMills() })),
    ),
  );
}
