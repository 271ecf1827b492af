import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../../support/runtime.ts";
import { digestField } from "../faults/upload_messages.ts";
import { RawClient } from "./raw_client.ts";
import { END, file, FORM } from "./sent_form.ts";
import { contentsOf, entries, serving } from "./serving_handler.ts";

/** Whether the handler sees trailers: `serve()` is `node:http` on Node, the runtime's own server elsewhere. */
const seesTrailers = (entry: string): boolean => entry === "node:http" || (entry === "serve()" && runtime === "node");

const encoder = new TextEncoder();
const right = digestField(encoder.encode("hello"), "sha-256");
const wrong = digestField(encoder.encode("other"), "sha-256");
const announced = ["Trailer: Content-Digest", "Transfer-Encoding: chunked"];

/** A body in the chunked coding, with a trailer section. */
function chunkedWith(body: string, trailers: readonly string[]): string {
  return [body.length.toString(16), body, "0", ...trailers, "", ""].join("\r\n");
}

interface TrailerCase {
  readonly name: string;
  readonly options?: { readonly verify: boolean };
  readonly header?: readonly string[];
  readonly trailers?: readonly string[];
  readonly form?: boolean;
  /** The answer where the handler sees the trailers; `unseen` is the answer where it does not. */
  readonly seen: readonly [status: number, code?: string];
  readonly unseen: readonly [status: number, code?: string];
}

const unseen = [501, "TRAILER_DIGEST"] as const;
const cases: readonly TrailerCase[] = [
  { name: "a wrong digest", trailers: [wrong], seen: [422, "DIGEST_MISMATCH"], unseen },
  { name: "a wrong digest of a form", form: true, trailers: [wrong], seen: [422, "DIGEST_MISMATCH"], unseen },
  { name: "the right digest", trailers: [right], seen: [201], unseen },
  {
    name: "a digest that is announced as Repr-Digest, in other letters",
    header: ["trailer:x-other ,\trepr-digest", "Transfer-Encoding: chunked"],
    trailers: [wrong.replace("Content", "Repr")],
    seen: [422, "DIGEST_MISMATCH"],
    unseen,
  },
  { name: "a digest that does not come", trailers: [], seen: [400, "BAD_DIGEST"], unseen },
  { name: "a digest that came in the header", header: [...announced, right], seen: [201], unseen: [201] },
  {
    name: "a digest that came in the header, and another one",
    header: [...announced, right],
    trailers: [wrong],
    seen: [422, "DIGEST_MISMATCH"],
    unseen: [201],
  },
  { name: "a digest that nobody looks at", options: { verify: false }, trailers: [wrong], seen: [201], unseen: [201] },
  {
    name: "another field",
    header: ["Trailer: X-Sum", announced[1]],
    trailers: ["X-Sum: 7"],
    seen: [201],
    unseen: [201],
  },
];

for (const entry of Object.keys(entries)) {
  for (const { name, options, header = announced, trailers = [], form = false, ...expected } of cases) {
    const [status, code] = seesTrailers(entry) ? expected.seen : expected.unseen;

    test(`${entry}: the trailers announce ${name}: ${status}`, () =>
      serving(entry, { name: () => "note", ...options }, async ({ port, folder }) => {
        const body = form ? file("f", "a", "hello") + END : "hello";
        const client = await RawClient.open(port);
        client.ask(form ? "POST" : "PUT", "/", form ? [...header, FORM] : header);
        client.send(chunkedWith(body, trailers));
        const answer = await client.answer();
        client.close();
        assert.equal(answer.status, status, answer.body);
        assert.equal(JSON.parse(answer.body).code, code);
        assert.deepEqual(await contentsOf(folder), status === 201 ? { note: "hello" } : {});
      }));
  }

  test(`${entry}: a digest in trailers that cannot be seen is refused before the body is sent`, {
    skip: seesTrailers(entry) && "they can be seen",
  }, () =>
    serving(entry, {}, async ({ port }) => {
      const client = await RawClient.open(port);
      client.ask("PUT", "/note", announced);
      const answer = await client.answer();
      client.close();
      assert.equal(answer.status, 501);
      assert.match(JSON.parse(answer.body).detail, /Content-Digest.*trailers.*send it in the header/);
    }));
}
