import { brokenFailure } from "./failures.ts";
import type { Store } from "./store.ts";
import type { Answered } from "./xml.ts";

type Query = Readonly<Record<string, string>>;

/** A list that a store gives page by page. */
export interface PagedList<T> {
  /** The action, for messages. */
  readonly action: string;
  readonly key?: string;
  readonly query: Query;
  /** The name of the document of a page. */
  readonly document: string;
  readonly signal: AbortSignal | undefined;
  /** The entries of a page. Throws if one lacks what it must have. */
  entries(page: Answered): T[];
  /** The query for the page behind one that is not the last. Throws if that does not tell it. */
  next(page: Answered): Query;
}

/**
 * Reads a list to its end.
 *
 * @throws {S3Error} `MALFORMED_RESPONSE` also if the pages have no end: a store that names a page twice.
 */
export async function* pagesOf<T>(store: Store, list: PagedList<T>): AsyncGenerator<T> {
  const { action, key, query, document, signal } = list;
  const request = { method: "GET", action, ...(key !== undefined && { key }), signal } as const;
  let next: Query | undefined = {};
  // Of pages that go in a circle, one is met again that was kept before: that of each power of two.
  let kept: string | undefined;
  for (let count = 1; next !== undefined; count++) {
    const asked: Query = { ...query, ...next };
    const page: { entries: T[]; next: Query | undefined } = await store.send(
      { ...request, query: asked },
      async (answer) => {
        const page = await answer.document(document);
        try {
          const isCut = page.text("IsTruncated") === "true";
          return { entries: list.entries(page), next: isCut ? list.next(page) : undefined };
        } catch (error) {
          throw answer.malformed(`an entry of the store's ${document} is none`, error);
        }
      },
    );
    yield* page.entries;
    next = page.next;
    const name = next && JSON.stringify(next);
    if (name !== undefined && name === kept) {
      throw brokenFailure(store.subjectOf(request), "MALFORMED_RESPONSE", "the store's list has no end");
    }
    if ((count & (count - 1)) === 0) kept = name;
  }
}

/** Decodes keys of a listing: not every store encodes them when asked to. */
export function decoderOf(page: Answered): (key: string) => string {
  if (page.text("EncodingType") !== "url") return (key) => key;
  return (key) => decodeURIComponent(key.replaceAll("+", " "));
}
