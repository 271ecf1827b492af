import assert from "node:assert/strict";
import test from "node:test";
import { announcedOf } from "../../../lib/upload/body/announced.ts";
import { digestField } from "../faults/upload_messages.ts";
import { RawClient } from "./raw_client.ts";
import { END, file, FORM } from "./sent_form.ts";
import { contentsOf, entries, serving } from "./serving_handler.ts";

const right = digestField(new TextEncoder().encode("hello"), "sha-256");
const announced = ["Trailer: Content-Digest", "Transfer-Encoding: chunked"];

/** Returns a body in the chunked coding, with a trailer section. */
function chunkedWith(body: string, trailers: readonly string[]): string {
  return [body.length.toString(16), body, "0", ...trailers, "", ""].join("\r\n");
}

interface TrailerCase {
  readonly name: string;
  readonly header?: readonly string[];
  readonly trailers?: readonly string[];
  readonly form?: boolean;
  readonly status: number;
}

const cases: readonly TrailerCase[] = [
  { name: "a digest", trailers: [right], status: 501 },
  { name: "a digest of a form", form: true, trailers: [right], status: 501 },
  { name: "Repr-Digest, in other letters", header: ["trailer:x-other ,\trepr-digest", announced[1]], status: 501 },
  { name: "a digest that came in the header", header: [...announced, right], status: 201 },
  { name: "another digest than the header", header: ["Trailer: Repr-Digest", announced[1], right], status: 501 },
  { name: "another field", header: ["Trailer: X-Sum", announced[1]], trailers: ["X-Sum: 7"], status: 201 },
];

for (const entry of Object.keys(entries)) {
  for (const { name, header = announced, trailers = [], form = false, status } of cases) {
    test(`${entry}: the trailers announce ${name}: ${status}`, () =>
      serving(entry, { name: () => "note" }, async ({ port, folder }) => {
        const body = form ? file("f", "a", "hello") + END : "hello";
        const client = await RawClient.open(port);
        client.ask(form ? "POST" : "PUT", "/", form ? [...header, FORM] : header);
        client.send(chunkedWith(body, trailers));
        const answer = await client.answer();
        client.close();
        assert.equal(answer.status, status, answer.body);
        assert.equal(JSON.parse(answer.body).code, status === 501 ? "TRAILER_DIGEST" : undefined);
        assert.deepEqual(await contentsOf(folder), status === 201 ? { note: "hello" } : {});
      }));
  }

  test(`${entry}: a digest in trailers is refused before the body is sent`, () =>
    serving(entry, {}, async ({ port }) => {
      const client = await RawClient.open(port);
      client.ask("PUT", "/note", announced);
      const answer = await client.answer();
      client.close();
      assert.equal(answer.status, 501);
      assert.match(JSON.parse(answer.body).detail, /Content-Digest.*trailers.*send it in the header/);
    }));
}

test("a download whose server announces a digest for the trailers is taken, and so are bare streams", () => {
  const response = new Response("abc", { headers: { trailer: "Content-Digest" } });
  assert.equal(announcedOf(response, {}).digests.size, 0);
  assert.equal(announcedOf(new ReadableStream(), {}).digests.size, 0);
});
