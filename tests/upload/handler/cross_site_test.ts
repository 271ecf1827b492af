import assert from "node:assert/strict";
import { createUploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { overlapping } from "../../support/overlapping.ts";
import { RawClient } from "./raw_client.ts";
import { END, file, FORM } from "./sent_form.ts";
import { contentsOf, entries, inUploads, serving } from "./serving_handler.ts";

/** Bun closes a server that has refused a sender only after a second. */
const test = overlapping();

type Allowed = UploadHandlerOptions["allowCrossSite"];

/** The fields that a browser or a program sends, and whether the upload is stored. PORT is replaced by the server's. */
const senders: readonly (readonly [who: string, fields: readonly string[], isWelcome: boolean, allowed?: Allowed])[] = [
  ["a program", [], true],
  ["a page of the same origin", ["Sec-Fetch-Site: same-origin", "Origin: http://127.0.0.1:PORT"], true],
  ["a page of the same origin that hides it", ["Sec-Fetch-Site: same-origin", "Origin: null"], true],
  ["the user", ["Sec-Fetch-Site: none"], true],
  ["a page of the same site", ["Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:1"], true],
  ["a page of another site", ["Sec-Fetch-Site: cross-site", "Origin: https://evil.example"], false],
  ["a page of another site, in other letters", ["sec-fetch-site: Cross-Site"], false],
  ["a page of another site that hides its origin", ["Sec-Fetch-Site: cross-site", "Origin: null"], false],
  ["a page of another site that no browser says", ["Sec-Fetch-Site: far", "Origin: https://evil.example"], false],
  ["an old browser's page of the same origin", ["Origin: http://127.0.0.1:PORT"], true],
  ["an old browser's page of another port", ["Origin: https://127.0.0.1:1"], true],
  ["an old browser's page of another site", ["Origin: http://evil.example"], false],
  ["an old browser's page of a longer host", ["Origin: http://127.0.0.1.evil.example"], false],
  ["an old browser's page of the same port", ["Origin: http://evil.example:PORT"], false],
  ["an old browser's page that hides its origin", ["Origin: null"], false],
  ["a page without an origin that is one", ["Origin: 127.0.0.1"], false],
  ["a page whose origin has ours behind it", ["Origin: http://evil.example#127.0.0.1"], false],
  ["a page of another site, if all may", ["Sec-Fetch-Site: cross-site", "Origin: null"], true, true],
  [
    "a page of a site that may",
    ["Sec-Fetch-Site: cross-site", "Origin: https://app.example"],
    true,
    ["https://other.example", "https://App.example/"],
  ],
  ["an old browser's page of a site that may", ["Origin: https://app.example:81"], true, ["https://app.example:81"]],
  ["an application's page that may", ["Origin: capacitor://localhost"], true, ["capacitor://localhost"]],
  [
    "a page of a site that may not, though others may",
    ["Sec-Fetch-Site: cross-site", "Origin: https://evil.example"],
    false,
    ["https://app.example"],
  ],
  ["a page of another port than the one that may", ["Origin: https://app.example:81"], false, ["https://app.example"]],
  ["a page of another site that says nothing else", ["Sec-Fetch-Site: cross-site"], false, ["https://app.example"]],
];

const uploads: readonly (readonly [method: string, lines: readonly string[], body: string])[] = [
  ["POST", [FORM], file("f", "a", "hello") + END],
  ["POST", ["Content-Type: text/plain"], "hello"],
  ["PUT", [], "hello"],
];

for (const entry of Object.keys(entries)) {
  for (const [who, fields, isWelcome, allowCrossSite] of senders) {
    test(`${entry}: an upload by ${who} is ${isWelcome ? "stored" : "refused, and nothing read of it"}`, () =>
      serving(entry, { name: () => "note", overwrite: true, allowCrossSite }, async ({ port, folder }) => {
        for (const [method, lines, body] of uploads) {
          const client = await RawClient.open(port);
          const own = fields.map((line) => line.replace("PORT", String(port)));
          client.ask(method, "/note", [...own, ...lines, `Content-Length: ${isWelcome ? body.length : 100_000_000}`]);
          if (isWelcome) client.send(body);
          const answer = await client.answer();
          client.close();
          assert.ok(isWelcome ? answer.status < 300 : answer.status === 403, `${answer.status} ${answer.body}`);
          if (!isWelcome) assert.equal(JSON.parse(answer.body).code, "CROSS_SITE");
          if (!isWelcome) assert.match(JSON.parse(answer.body).detail, /another site.*allowCrossSite/);
        }
        assert.deepEqual(await contentsOf(folder), { note: isWelcome ? "hello" : "former" });
      }, { note: "former" }));
  }

  test(`${entry}: a page of another site may ask what is allowed, and is told nothing for other sites' pages`, () =>
    serving(entry, {}, async ({ port }) => {
      const client = await RawClient.open(port);
      client.ask("OPTIONS", "/note", ["Sec-Fetch-Site: cross-site", "Origin: https://evil.example"]);
      const answer = await client.answer("OPTIONS");
      client.close();
      assert.equal(answer.status, 204);
      assert.ok([...answer.fields.keys()].every((name) => !name.startsWith("access-control-")));
    }));
}

test("createUploadHandler() refuses allowCrossSite that is neither a switch nor a list of origins", () =>
  inUploads((directory) => {
    const wrong: unknown[] = [
      "https://a.example",
      [],
      [7],
      ["*"],
      ["null"],
      ["a.example"],
      ["https://a.example/path"],
      1,
    ];
    for (const value of wrong) {
      const options = { directory, allowCrossSite: value } as UploadHandlerOptions;
      assert.throws(() => createUploadHandler(options), { name: "TypeError", message: /^allowCrossSite.* .*https:/ });
    }
    for (const allowCrossSite of [undefined, false, true, ["https://a.example", "http://[::1]:80/"]]) {
      createUploadHandler({ directory, allowCrossSite });
    }
    return Promise.resolve();
  }));
