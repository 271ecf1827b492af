import { globalClass } from "../../runtime/mod.ts";
import type { HeaderList } from "../connection.ts";

const loadHeaders: () => typeof Headers = globalClass("Headers");

/** Returns the fields of a response, which are immutable, as in fetch. */
export function responseHeaders(list: HeaderList): Headers {
  return new (ResponseHeaders ??= makeResponseHeaders())(list);
}

type ResponseHeadersClass = new (list: HeaderList) => Headers;

/** The class, made with the first response: Node takes 15 ms to load its Headers. */
let ResponseHeaders: ResponseHeadersClass | undefined;

function makeResponseHeaders(): ResponseHeadersClass {
  return class ResponseHeaders extends loadHeaders() {
    constructor(list: HeaderList) {
      super();
      for (let at = 0; at < list.length; at += 2) super.append(list[at], list[at + 1]);
    }

    override append(): void {
      throw immutable("append to");
    }

    override set(): void {
      throw immutable("set");
    }

    override delete(): void {
      throw immutable("delete from");
    }
  };
}

function immutable(action: string): TypeError {
  return new TypeError(
    `Cannot ${action} the headers of a response that was fetched: copy them with new Headers(headers)`,
  );
}

/** Fields that end at the next hop: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const ofConnection = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);
/** Fields that no longer describe a body whose codings were undone. */
const ofCoding = new Set(["content-encoding", "content-length"]);

/** Returns the fields with which a server of the runtime forwards a response; the server makes its own framing. */
export function fieldsToSendOn(list: HeaderList, isDecoded: boolean): HeaderList {
  let kept: HeaderList | undefined = undefined;
  for (let at = 0; at < list.length; at += 2) {
    const isDropped = ofConnection.has(list[at]) || (isDecoded && ofCoding.has(list[at]));
    if (isDropped) kept ??= list.slice(0, at);
    else kept?.push(list[at], list[at + 1]);
  }
  return kept ?? list;
}

export function hasField(headers: HeaderList, name: string): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === name) return true;
  }
  return false;
}

/** Returns the values of a field, joined; empty if there is none. */
export function joinedField(headers: HeaderList, name: string): string {
  let values = "";
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === name) values = values === "" ? headers[at + 1] : `${values}, ${headers[at + 1]}`;
  }
  return values;
}
