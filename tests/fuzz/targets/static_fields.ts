import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { acceptedCodings } from "../../../lib/semantics/mod.ts";
import { parseRange } from "../../../lib/semantics/byte_ranges.ts";
import { decodeTarget } from "../../../lib/static/handler/served_paths.ts";
import { choices, type Target } from "../target.ts";

/** Returns the weights by splitting, as one would write it without a thought of speed. */
function weightsByModel(field: string): Record<string, number> {
  const weights = new Map<string, number>();
  for (const member of field.split(",")) {
    const bare = member.replace(/^[ \t]+|[ \t]+$/g, "");
    const [, name, q] = /^([!#$%&'*+\-.^_`|~\w]{1,64})(?:[ \t]*;[ \t]*q=([01](?:\.\d{0,3})?))?$/i.exec(bare) ?? [];
    if (name === undefined || bare.length > 256 || Number(q) > 1) continue;
    const coding = name.toLowerCase().replace(/^x-gzip$/, "gzip");
    if (!weights.has(coding)) weights.set(coding, q === undefined ? 1000 : Math.round(Number(q) * 1000));
  }
  const of = (name: string, rest: number): number => weights.get(name) ?? rest;
  const any = weights.get("*");
  return {
    identity: of("identity", any ?? 0.5),
    br: of("br", any ?? 0),
    zstd: of("zstd", any ?? 0),
    gzip: of("gzip", any ?? 0),
    dcb: of("dcb", 0),
    dcz: of("dcz", 0),
  };
}

/** Returns the requested bytes, one by one; "unsatisfiable" or undefined for other fields. */
function bytesByModel(field: string, size: number): boolean[] | "unsatisfiable" | undefined {
  if (!/^bytes=/i.test(field)) return undefined;
  const specs = field.slice(6).split(",").map((spec) => spec.replace(/^[ \t]+|[ \t]+$/g, "")).filter(Boolean);
  if (specs.length === 0 || specs.length > 100) return undefined;
  const asked = new Array<boolean>(size).fill(false);
  let isSuffixOfNothing = false;
  for (const spec of specs) {
    const [, first, last] = /^(\d*)-(\d*)$/.exec(spec) ?? [];
    if (first === undefined || spec === "-" || spec.length > 256) return undefined;
    if (first !== "" && last !== "" && BigInt(last) < BigInt(first)) return undefined;
    if (first === "" && size === 0 && BigInt(last) > 0n) isSuffixOfNothing = true;
    for (let byte = 0; byte < size; byte++) {
      const isIn = first === ""
        ? BigInt(size - byte) <= BigInt(last)
        : BigInt(byte) >= BigInt(first) && (last === "" || BigInt(byte) <= BigInt(last));
      asked[byte] ||= isIn;
    }
  }
  if (isSuffixOfNothing) return undefined;
  return asked.includes(true) ? asked : "unsatisfiable";
}

function requireRanges(field: string, size: number): string {
  const expected = bytesByModel(field, size);
  const ranges = parseRange(field, size);
  if (!Array.isArray(expected) || typeof ranges !== "object") {
    assert.deepEqual(ranges, expected, `Range: ${field} of ${size}`);
    return String(expected);
  }
  const times = new Array<number>(size).fill(0);
  for (const { start, end } of ranges) {
    assert.ok(0 <= start && start < end && end <= size, "a range that is none");
    for (let byte = start; byte < end; byte++) times[byte]++;
  }
  assert.deepEqual(times, expected.map(Number), `Range: ${field} of ${size}`);
  return `${ranges.length} ranges`;
}

function requireSafeTarget(target: string): string {
  const path = decodeTarget(target);
  if (path === undefined) return "no path";
  assert.ok(!path.includes("\0"), "a path with a NUL");
  const raw = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)/i.exec(target)![1] || "/";
  // Whatever is decoded: no segment comes up that was not there, be it by a slash or backslash that was encoded.
  assert.equal(path.split("/").length, raw.split("/").length, "other segments than before");
  assert.ok(!path.includes("\\"), "a backslash");
  const segments = raw.split("/").map((segment) =>
    decodeURIComponent(segment.replaceAll("\\", "%5C").replace(/%(?=2f|5c)/gi, "%25"))
  );
  assert.deepEqual(path.split("/").map((text) => text.toLowerCase()), segments.map((text) => text.toLowerCase()));
  return "a path";
}

/** A field or a request target. */
export const staticFields: Target = {
  name: "static-fields",
  what: "Accept-Encoding, Range and request targets as plain models of the standard have them",
  maxSize: 400,
  tokens: [
    ..."gzip|br|zstd|dcb|identity|*|;q=0|;q=1|;q=0.5|; q=0.001|x-gzip|,|, |\t|bytes=|0-|-5|0-0|5-9|-|9-5|99999999999999999999"
      .split("|"),
    ..."/|..|%2e%2e|%2F|%5c|%00|%|%zz|%c3%a9|?|#|http://h/|\\|//|\0".split("|"),
  ],

  seeds(): Uint8Array[] {
    const fields = ["gzip, deflate, br, zstd", "br;q=0.9, *;q=0.1, identity;q=0", "gzip ;\tq=1.000,,zstd; Q=0."];
    const ranges = ["bytes=0-4, 7-, -3", "bytes=-1", "BYTES=3-3,1-2,2-", "bytes=99-,5-4"];
    const targets = ["/a%20b?c", "http://host/a/%2e%2e/b%2Fc", "/a/../b\\c%5cd#e", "/%c3%a9/%00"];
    return [...fields, ...ranges, ...targets].map((text) => Uint8Array.from(Buffer.from(text, "latin1")));
  },

  check(input): string {
    const text = Buffer.from(input).toString("latin1");
    assert.deepEqual(acceptedCodings(text), weightsByModel(text), `Accept-Encoding: ${text}`);
    const range = requireRanges(text, choices(input).pick([0, 1, 10, 37]));
    const weights = Object.values(acceptedCodings(text)).map((weight) => weight === 1000 ? 1 : weight > 0 ? 0.5 : 0);
    return `${weights.join()} ${range} ${requireSafeTarget(text)}`;
  },
};
