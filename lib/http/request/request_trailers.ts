import { hasMembers, type Member, member } from "../../streams/internal.ts";
import type { HeaderList } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { HttpRequestInit } from "../http_request.ts";
import { checkedName, checkedValue } from "./request_headers.ts";

type Given = NonNullable<HttpRequestInit["trailers"]>;

/** Names of fields that are only allowed before the body. @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-6.5.1} */
const OF_HEADS: ReadonlySet<string> = new Set(
  ("authorization cache-control connection content-encoding content-length content-range content-type cookie expect host " +
    "http2-settings if-match if-modified-since if-none-match if-range if-unmodified-since keep-alive max-forwards pragma " +
    "proxy-authorization proxy-connection range set-cookie te trailer transfer-encoding upgrade").split(" "),
);

export const trailersOption: Member<Given, undefined> = /* @__PURE__ */ member(
  "an object of texts, and of functions that return one",
  (value) =>
    hasMembers(value) &&
    Object.values(value).every((value) => typeof value === "string" || typeof value === "function"),
);

type Field = readonly [name: string, value: Given[string]];

export class RequestTrailers {
  readonly #fields: readonly Field[];

  private constructor(fields: readonly Field[]) {
    this.#fields = fields;
  }

  /** @returns undefined if there are none. @throws {HttpError} INVALID_HEADER if a field cannot be sent, or has no meaning after a body. */
  static of(given: Given): RequestTrailers | undefined {
    const fields = Object.entries(given).map(([givenName, value]) => {
      const name = checkedName(givenName);
      if (OF_HEADS.has(name)) {
        throw new HttpError("INVALID_HEADER", `The trailer ${name} has no meaning after the body: send it as a header`);
      }
      return [name, typeof value === "string" ? checkedValue(name, value) : value] as const;
    });
    return fields.length === 0 ? undefined : new RequestTrailers(fields);
  }

  get names(): string {
    return this.#fields.map(([name]) => name).join(", ");
  }

  /** Makes the values, as long as the request is not over. @throws {HttpError} BODY_FAILED if one cannot be made, or sent. */
  async read(isOver: () => boolean): Promise<HeaderList> {
    const list: HeaderList = [];
    for (const [name, value] of this.#fields) {
      if (isOver()) break;
      try {
        const text: unknown = typeof value === "string" ? value : await value();
        if (typeof text !== "string") throw new TypeError(`its function must return a string, not ${String(text)}`);
        list.push(name, checkedValue(name, text));
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new HttpError("BODY_FAILED", `The trailer ${name} cannot be made: ${why}`, { cause });
      }
    }
    return list;
  }
}
