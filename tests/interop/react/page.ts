import { type Element, react } from "./react.ts";

/** A page that waits for one part of it, and shows words in that one's place until then. */
export interface Page {
  readonly element: Element;
  /** Resolves the suspended part. */
  release(): void;
  /** Rejects the suspended part. */
  fail(): void;
}

/** Makes a page; its shell, that is what comes first, has more than a codec keeps in mind before it puts something out. */
export function makePage(): Page {
  const { createElement, Suspense, use } = react;
  const data = Promise.withResolvers<string>();
  data.promise.catch(() => {}); // React looks at it when it renders that part
  const Late = (): Element => createElement("p", null, use(data.promise));
  const items = Array.from({ length: 50 }, (_, i) => createElement("li", { key: i }, `item ${i}`));
  const late = createElement(Suspense, { fallback: createElement("p", null, "it waits") }, createElement(Late, null));
  const body = createElement("body", null, createElement("ul", null, items), createElement("h1", null, "shell"), late);
  return {
    element: createElement("html", null, body),
    release: () => data.resolve("it came late"),
    fail: () => data.reject(new Error("no data")),
  };
}
