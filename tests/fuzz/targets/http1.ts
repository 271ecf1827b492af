import assert from "node:assert/strict";
import { ResponseFault } from "../../../lib/http/h1/header_section.ts";
import { ResponseReader, type ResponseSink } from "../../../lib/http/h1/response_reader.ts";
import { choices, cut, type Target } from "../target.ts";

const METHODS = ["GET", "HEAD", "GET", "POST"];
const MAX_HEADER = 2000;

/** A recorder of a connection's events, with the bytes of bodies joined. */
class Story implements ResponseSink {
  readonly events: string[] = [];
  #body = "";
  readonly #next: () => void;

  constructor(next: () => void) {
    this.#next = next;
  }

  #note(event: string): void {
    if (this.#body !== "") this.events.push(`body ${this.#body}`);
    this.#body = "";
    this.events.push(event);
  }

  onInformational(head: unknown): void {
    this.#note(`informational ${JSON.stringify(head)}`);
  }

  onResponseHead(head: unknown): void {
    this.#note(`head ${JSON.stringify(head)}`);
  }

  onResponseData(data: Uint8Array): void {
    assert.ok(data.length > 0, "data without bytes");
    for (const byte of data) this.#body += String.fromCharCode(byte);
  }

  onResponseEnd(trailers: unknown): void {
    this.#note(`end ${JSON.stringify(trailers)}`);
    this.#next();
  }

  onSurplus(): void {
    if (this.events.at(-1) !== "surplus") this.#note("surplus");
  }

  end(how: string): string[] {
    this.#note(how);
    return this.events;
  }

  /** Ends the record without the body so far: how much came before a fault depends on the pieces. */
  fail(): string[] {
    this.#body = "";
    return this.end("refused");
  }
}

function read(pieces: readonly Uint8Array[]): string[] {
  let asked = 0;
  const next = (): void => {
    if (asked < METHODS.length) reader.expect(METHODS[asked++]);
  };
  const story = new Story(next);
  const reader = new ResponseReader(story, MAX_HEADER);
  next();
  try {
    for (const piece of pieces) reader.read(piece);
    return story.end(`closed, ${reader.end() ? "complete" : reader.begun ? "cut" : "idle"}`);
  } catch (error) {
    if (error instanceof ResponseFault) return story.fail();
    throw error;
  }
}

const text = (value: string): Uint8Array => Uint8Array.from(value, (character) => character.charCodeAt(0));

/** Bytes of a connection on which four requests were sent. */
export const http1: Target = {
  name: "http1",
  what: "responses of HTTP/1.1: understood or refused alike, however they are cut, and never with two body lengths",
  maxSize: 4000,
  tokens: [
    ..."\r\n|\r\n\r\n|\n|\r|0\r\n\r\n|5\r\nhello\r\n|: |Content-Length: 5\r\n|Transfer-Encoding: chunked\r\n".split(
      "|",
    ),
    ...'HTTP/1.1 200 OK\r\n|HTTP/1.1 100 Continue\r\n\r\n|HTTP/1.1 304\r\n|HTTP/1.0 200 OK\r\n|;x="y"'.split("|"),
    ..."Connection: close\r\n|Keep-Alive: timeout=5\r\n|Trailer: x\r\n|ffffffff|\0|\t|, |gzip, chunked".split("|"),
  ],

  seeds(): Uint8Array[] {
    const body = "Content-Length: 5\r\n\r\nhello";
    const chunked = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    return [
      `HTTP/1.1 200 OK\r\nDate: today\r\n${body}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 404 Not Found\r\n${body}`,
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n${chunked}5;a=b\r\nworld\r\n0\r\nX-Sum: 1\r\n\r\n`,
      `HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuntil the end`,
      `HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5, max=9\r\n${body}`,
      `HTTP/1.1 200 OK\r\n${chunked}${"3\r\nabc\r\n".repeat(20)}0\r\n\r\nsurplus`,
    ].map(text);
  },

  check(input): string {
    const whole = read([Uint8Array.from(input)]);
    assert.deepEqual(read(cut(input, choices(input))), whole, "other events when cut");
    for (const event of whole) {
      if (!event.startsWith("head ")) continue;
      const { headers } = JSON.parse(event.slice(5)) as { headers: string[] };
      const names = headers.filter((_, i) => i % 2 === 0);
      const isAmbiguous = names.includes("content-length") && names.includes("transfer-encoding");
      assert.ok(!isAmbiguous, "a response with two lengths was taken");
    }
    return whole.map((event) => event.startsWith("head") ? "head" : event.split(" ")[0]).join(" ") + whole.at(-1);
  },
};
