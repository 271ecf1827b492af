import assert from "node:assert/strict";
import type { Question, Reply } from "./ask.ts";
import type { KnownBytes, KnownFile } from "./known_tree.ts";
import { bodyParts } from "./multipart_body.ts";
import type { Expected, SiteName } from "./rfc_case.ts";

/** The expectations that a reply is checked against. */
export interface Standard {
  readonly expected: Expected;
  readonly question: Question;
  readonly site: SiteName;
  /** The file that the answer is of. */
  readonly file: KnownFile | undefined;
  /** Whether the server is one that sends streams in chunks, whatever length they are said to have. */
  readonly mayBeChunked?: boolean;
}

const IMMUTABLE = "public, max-age=31536000, immutable";
const withoutDictionaries: readonly SiteName[] = ["noDictionaries", "identityOnly"];

/** Checks a reply: its status, fields and bytes. */
export function checkReply(reply: Reply, standard: Standard): void {
  const { expected, question, file } = standard;
  assert.equal(reply.status, expected.status, "status");
  for (const [name, value] of Object.entries(expected.fields ?? {})) checkField(reply, name, value);
  const isChunked = reply.fields.has("transfer-encoding");
  if (isChunked) assert.ok(standard.mayBeChunked, "the length is known");
  else checkLength(reply, question);
  if (expected.location !== undefined) checkLocation(reply, expected.location, question);
  if (expected.coding === undefined) return checkPlain(reply);
  assert.ok(file, `the tree has what ${question.target} names`);
  const known = file.coded.get(expected.coding);
  assert.ok(known, `the tree has ${file.path} in ${expected.coding}`);
  checkMetadata(reply, standard, file, known);
  if (question.method !== "HEAD") checkContent(reply, expected, file, known);
}

/** Checks that HEAD says what GET said, and sends nothing. */
export function checkHead(head: Reply, get: Reply): void {
  // The server of Bun gives files that have none a Content-Disposition with their name, so "inline" is set for it.
  const mayDiffer = (name: string, value: string) => name === "date" || value === "inline";
  const said = ({ fields }: Reply) => [...fields].filter((field) => !mayDiffer(...field)).sort();
  assert.equal(head.status, get.status, "status of HEAD");
  assert.deepEqual(said(head), said(get), "fields of HEAD");
  assert.equal(head.body.length, 0, "HEAD has no content");
}

function checkField({ fields }: Reply, name: string, expected: string | RegExp | null): void {
  const value = fields.get(name);
  if (expected instanceof RegExp) assert.match(value ?? "", expected, name);
  else assert.equal(value, expected ?? undefined, name);
}

/** RFC 9110, section 8.6: what a HEAD or GET says is what a GET sends. */
function checkLength({ status, fields, body }: Reply, { method }: Question): void {
  const length = fields.get("content-length");
  if (status === 204 || status === 304) {
    assert.equal(length, undefined, "no content, no length");
    return assert.equal(body.length, 0, "no content");
  }
  assert.match(length ?? "", /^\d+$/, "content-length");
  if (method === "HEAD") return assert.equal(body.length, 0, "HEAD has no content");
  assert.equal(body.length, Number(length), "content-length");
}

function checkLocation({ fields }: Reply, expected: string, { target }: Question): void {
  const location = fields.get("location");
  assert.ok(location, "location");
  const base = new URL(target, "http://127.0.0.1");
  const { host, pathname, search } = new URL(location, base);
  assert.equal(host, base.host, "a redirect stays on its host");
  assert.equal(pathname + search, expected, "location");
}

/** An answer that is of no file says nothing of one. */
function checkPlain({ status, fields }: Reply): void {
  if (status !== 412) assert.equal(fields.get("etag"), undefined, "etag");
  for (const name of ["content-encoding", "content-range", "last-modified", "use-as-dictionary", "repr-digest"]) {
    assert.equal(fields.get(name), undefined, name);
  }
}

function checkMetadata(reply: Reply, { expected, site }: Standard, file: KnownFile, known: KnownBytes): void {
  const field = (name: string, value: string | null) => {
    if (expected.fields?.[name] === undefined) checkField(reply, name, value);
  };
  const { status, coding } = expected;
  const isContent = status !== 304 && status !== 416;
  field("content-encoding", isContent && coding !== "identity" ? coding! : null);
  if (expected.ranges === undefined || expected.ranges.length === 1) {
    if (isContent && file.type !== "") field("content-type", file.type);
  }
  if (status === 304) field("content-type", null);
  if (status === 416) return field("content-range", `bytes */${known.bytes.length}`);
  field("vary", varyOf(file, site));
  field("etag", status === 404 ? null : known.tag);
  if (status === 404) return field("last-modified", null);
  field("cache-control", file.isImmutable ? IMMUTABLE : site === "fresh" ? "max-age=3600" : "no-cache");
  if (status === 304) {
    field("content-range", null);
    return field("last-modified", null); // the tag suffices: section 15.4.5
  }
  field("last-modified", file.modified);
  const time = Date.parse(reply.fields.get("last-modified")!);
  assert.ok(time <= Date.now(), "last-modified is not later than now");
  field("accept-ranges", "bytes");
  field("x-content-type-options", "nosniff");
  if (status === 200) field("content-range", null);
}

function varyOf({ coded }: KnownFile, site: SiteName): string | null {
  if (coded.size === 1) return null;
  const hasDeltas = coded.has("dcb") && !withoutDictionaries.includes(site);
  return hasDeltas ? "Accept-Encoding, Available-Dictionary" : "Accept-Encoding";
}

function checkContent(reply: Reply, expected: Expected, file: KnownFile, { bytes }: KnownBytes): void {
  if (expected.status === 304 || expected.status === 416) return;
  if (expected.ranges === undefined) return checkBytes(reply.body, bytes);
  const { length } = bytes;
  const ranges = expected.ranges.map((
    [first, last],
  ) => [first < 0 ? length + first : first, last < 0 ? length + last : last]);
  if (ranges.length === 1) {
    const [[first, last]] = ranges;
    checkField(reply, "content-range", `bytes ${first}-${last}/${length}`);
    return checkBytes(reply.body, bytes.subarray(first, last + 1));
  }
  checkField(reply, "content-range", null);
  const [, boundary] =
    /^multipart\/byteranges; ?boundary=([\w'()+,./:=?-]{1,70})$/.exec(reply.fields.get("content-type")!) ?? [];
  assert.ok(boundary, "content-type");
  const parts = bodyParts(reply.body, boundary);
  assert.deepEqual(
    parts.map(({ fields }) => fields.get("content-range")),
    ranges.map(([first, last]) => `bytes ${first}-${last}/${length}`),
  );
  parts.forEach((part, i) => {
    assert.equal(part.fields.get("content-type"), file.type);
    checkBytes(part.bytes, bytes.subarray(ranges[i][0], ranges[i][1] + 1));
  });
}

function checkBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.length, expected.length, "length of the content");
  const at = actual.findIndex((byte, i) => byte !== expected[i]);
  assert.equal(at, -1, "the first byte that differs");
}
