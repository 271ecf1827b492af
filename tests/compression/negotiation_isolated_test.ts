/**
 * Random requests and responses against a model of what is compressed, and how.
 *
 * @module
 */
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { asking, loaded, textOf } from "./responses.ts";
import { tries } from "../support/long_run.ts";

const PREFERRED = ["zstd", "br", "gzip"] as const;
const PAGE = textOf(3000);
const compression = await loaded({ types: "model/*, application/x-tiles" });

const weight = fc.constantFrom(undefined, "0", "0.0", "0.001", "0.5", "0.50", "0.9", "1", "1.000");
const name = fc.constantFrom(
  "gzip",
  "GZIP",
  "x-gzip",
  "br",
  "zstd",
  "identity",
  "*",
  "deflate",
  "compress",
  "dcb",
  "dcz",
);
const member = fc.tuple(name, weight, fc.constantFrom("", " ", "\t"));
const accepted = fc.option(fc.uniqueArray(member, { selector: ([name]) => name.toLowerCase(), maxLength: 6 }), {
  nil: undefined,
});

/** Types, and whether they are compressed. */
const TYPES: Readonly<Record<string, boolean>> = {
  "text/html": true,
  "TEXT/HTML; charset=utf-8": true,
  "application/json": true,
  "image/svg+xml": true,
  "application/x-ndjson": true,
  "application/jsonl; charset=utf-8": true,
  "application/yaml": true,
  "application/cbor": true,
  "application/x-protobuf": true,
  "Application/GraphQL; charset=utf-8": true,
  "application/vnd.mill+yaml": true,
  "model/x-mill; v=1": true, // as the option says
  "application/yaml-not": false,
  "image/png": false,
  "": false,
  "x": false,
};

const response = fc.record({
  status: fc.constantFrom(200, 201, 203, 206, 404, 500),
  type: fc.constantFrom(...Object.keys(TYPES)),
  length: fc.constantFrom(undefined, "0", "10", "1023", "1024", "3000"),
  encoding: fc.constantFrom(undefined, "identity", "gzip", "br"),
  control: fc.constantFrom(undefined, "public, no-transform", "No-Transform", "max-age=1", "x-no-transform"),
  vary: fc.constantFrom(undefined, "*", "Cookie", "accept-encoding", "Origin,Accept-Encoding"),
  etag: fc.constantFrom(undefined, '"a"', 'W/"a"'),
});

type Members = readonly (readonly [name: string, weight: string | undefined, space: string])[];

/** Returns the coding by the letter of RFC 9110, section 12.5.3, for members that differ in their names. */
function codingFor(members: Members | undefined): string | undefined {
  if (members === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const [name, q] of members) {
    const coding = name.toLowerCase().replace("x-gzip", "gzip");
    if (!weights.has(coding)) weights.set(coding, Number(q ?? 1));
  }
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get("*") ?? 0;
  const identity = weights.get("identity") ?? weights.get("*") ?? 0.0001;
  const possible = PREFERRED.filter((coding) => weightOf(coding) > 0 && weightOf(coding) >= identity);
  return possible.toSorted((a, b) => weightOf(b) - weightOf(a))[0];
}

test("2,000 random requests and responses are answered as the model says", async () => {
  await fc.assert(
    fc.asyncProperty(accepted, response, async (members, { status, type, length, encoding, control, vary, etag }) => {
      const field = members?.map(([name, q, space]) => `${name}${q === undefined ? "" : `${space};${space}q=${q}`}`);
      const headers = new Headers();
      const fields = { "content-length": length, "content-encoding": encoding, "cache-control": control, vary, etag };
      for (const [name, value] of Object.entries(fields)) if (value !== undefined) headers.set(name, value);
      headers.set("content-type", type);
      const made = compression.respond(asking(field?.join(", ")), new Response(PAGE, { status, headers }));

      const mayBe = TYPES[type] && (encoding === undefined || encoding === "identity") &&
        !/^(public, )?no-transform$/i.test(control ?? "");
      const coding = mayBe && status !== 206 && (length === undefined || Number(length) >= 1024)
        ? codingFor(members)
        : undefined;
      const isVaried = vary === "*" || /accept-encoding/i.test(vary ?? "");
      const extended = isVaried ? vary : vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding`;
      assert.deepEqual({
        status: made.status,
        encoding: made.headers.get("content-encoding"),
        length: made.headers.get("content-length"),
        vary: made.headers.get("vary"),
        etag: made.headers.get("etag"),
      }, {
        status,
        encoding: coding ?? encoding ?? null,
        length: coding === undefined ? length ?? null : null,
        vary: (mayBe ? extended : vary) ?? null,
        etag: (coding !== undefined && etag !== undefined ? 'W/"a"' : etag) ?? null,
      });
      await made.body?.cancel();
    }),
    { numRuns: tries(2000), seed: 9110 },
  );
});

test("a 304 varies as the 200 that it confirms, whichever of its fields it repeats", async () => {
  const repeated = fc.record({ type: fc.boolean(), etag: fc.boolean(), modified: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(accepted, response, repeated, async (members, { type, encoding, control, vary }, has) => {
      const field = members?.map(([name, q, space]) => `${name}${q === undefined ? "" : `${space};${space}q=${q}`}`);
      const headers = new Headers();
      const fields = {
        "content-encoding": encoding,
        "cache-control": control,
        vary,
        etag: has.etag ? '"a"' : undefined,
        "last-modified": has.modified ? "Wed, 21 Oct 2015 07:28:00 GMT" : undefined,
      };
      for (const [name, value] of Object.entries(fields)) if (value !== undefined) headers.set(name, value);
      const request = asking(field?.join(", "));
      const body = new TextEncoder().encode(PAGE);
      const full = compression.respond(request, new Response(body, { headers: [...headers, ["content-type", type]] }));
      if (has.type) headers.set("content-type", type);
      const unchanged = compression.respond(request, new Response(null, { status: 304, headers }));
      const isText = TYPES[type];
      if (has.type || isText) assert.equal(unchanged.headers.get("vary"), full.headers.get("vary"));
      await full.body?.cancel();
    }),
    { numRuns: tries(1000) },
  );
});
