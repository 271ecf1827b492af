import { Buffer } from "node:buffer";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { compress } from "../../../lib/codecs/mod.ts";
import { Random } from "../../streams/differential/random.ts";
import {
  FIELDS,
  INFORMATIONAL,
  ODD_CHUNKS,
  ODD_FIELDS,
  ODD_INFORMATIONAL,
  ODD_LENGTHS,
  ODD_LINES,
  ODD_STATUSES,
  ODD_TRANSFERS,
  STATUSES,
  SURPLUS,
  type Weighted,
} from "./ingredients.ts";
import type { Piece, Play } from "./origin_script.ts";

/** A server's behaviour, and the requests that meet it, one after the other. */
export interface Case {
  readonly seed: number;
  /** The components, as `framing chunked` or `cut fin`; explanations of differences name them. */
  readonly features: ReadonlySet<string>;
  readonly method: string;
  /** The responses to the first request and, if there is one, to the second. */
  readonly plays: readonly Play[];
  /** The delay of the second request, in ms. */
  readonly between: number;
  /** The first response as the standards define it; undefined where they leave a choice. */
  readonly expected: { readonly status: number; readonly body: Uint8Array } | undefined;
}

/** The body of the response to every second request. */
export const SECOND_BODY = "second";

const SIZES = [0, 1, 5, 100, 3000, 70_000];
const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

const SECOND = latin1(`HTTP/1.1 200 OK\r\nContent-Length: ${SECOND_BODY.length}\r\n\r\n${SECOND_BODY}`);

function plainOf(size: number): Buffer<ArrayBuffer> {
  return Buffer.alloc(size, "the mill race turns the wheel whatever the weather; ");
}

type Coder = (bytes: Buffer<ArrayBuffer>) => Uint8Array | Promise<Uint8Array>;
const zstd: Coder = (bytes) => compress(bytes, { format: "zstd", level: 3 });
const swapped = (bytes: Uint8Array): Uint8Array => {
  const broken = Uint8Array.from(bytes);
  for (let i = 0; i < broken.length; i += 3) broken[i] ^= 0x55;
  return broken;
};

/** Content-Encodings, the weight of each, and whether every client decodes them alike. */
const CODINGS: Readonly<Record<string, { readonly weight: number; readonly encode: Coder; readonly odd?: boolean }>> = {
  "": { weight: 30, encode: (bytes) => bytes },
  gzip: { weight: 6, encode: (bytes) => gzipSync(bytes) },
  deflate: { weight: 2, encode: (bytes) => deflateSync(bytes) },
  br: { weight: 3, encode: (bytes) => brotliCompressSync(bytes) },
  zstd: { weight: 2, encode: zstd },
  "x-gzip": { weight: 1, encode: (bytes) => gzipSync(bytes) },
  GZIP: { weight: 1, encode: (bytes) => gzipSync(bytes) },
  identity: { weight: 1, encode: (bytes) => bytes },
  "deflate (raw)": { weight: 1, encode: (bytes) => deflateRawSync(bytes), odd: true },
  "deflate, gzip": { weight: 1, encode: (bytes) => gzipSync(deflateSync(bytes)) },
  "gzip (two members)": { weight: 1, encode: (bytes) => Buffer.concat([gzipSync(bytes), gzipSync(bytes)]), odd: true },
  "gzip (and more)": { weight: 1, encode: (bytes) => Buffer.concat([gzipSync(bytes), latin1("more")]), odd: true },
  "gzip (cut)": { weight: 1, encode: (bytes) => gzipSync(bytes).subarray(0, -5), odd: true },
  "gzip (broken)": { weight: 1, encode: (bytes) => swapped(gzipSync(bytes)), odd: true },
  "br (cut)": { weight: 1, encode: (bytes) => brotliCompressSync(bytes).subarray(0, -1), odd: true },
  "gzip (empty)": { weight: 1, encode: () => Buffer.alloc(0), odd: true },
  sdch: { weight: 1, encode: (bytes) => bytes, odd: true },
};

const encoded = new Map<string, Uint8Array>();
for (const [name, { encode }] of Object.entries(CODINGS)) {
  for (const size of SIZES) encoded.set(`${name} ${size}`, await encode(plainOf(size)));
}

/** Returns the body in chunks, with extensions, other spellings of sizes and trailers now and then. */
function chunked(body: Uint8Array, random: Random): string {
  const text = Buffer.from(body).toString("latin1");
  let chunks = "";
  const most = random.pick([1 + text.length, 7, 900, 30_000]);
  for (let at = 0; at < text.length;) {
    const part = text.slice(at, at + 1 + random.below(text.length > 500 ? Math.max(most, 500) : most));
    const size = part.length.toString(16);
    const spelled = random.weighted([[8, size], [1, size.toUpperCase()], [1, `000${size}`]]);
    chunks += `${spelled}${random.chance(0.05) ? ";a=b;c" : ""}\r\n${part}\r\n`;
    at += part.length;
  }
  return `${chunks}${random.chance(0.1) ? "000" : "0"}\r\n${
    random.chance(0.1) ? "X-Sum: 12\r\nX-More: a\r\n" : ""
  }\r\n`;
}

/** Cuts bytes into pieces that are sent one by one. */
function piecesOf(bytes: Uint8Array, random: Random): Piece[] {
  const cuts = random.weighted([[6, 0], [3, 1], [2, 3], [1, 12]] as const);
  const at = Array.from({ length: cuts }, () => random.below(bytes.length + 1)).sort((one, other) => one - other);
  const pieces = [0, ...at].map((start, i) => ({
    pause: i > 0 && random.chance(0.3) ? random.pick([1, 1, 2, 8]) : 0,
    bytes: bytes.subarray(start, at[i] ?? bytes.length),
  }));
  return pieces.filter((piece, i) => i === 0 || piece.bytes.length > 0);
}

/** The oddities of a case, by weight. */
const ODDITIES: Weighted = [
  [1, "status"],
  [2, "line"],
  [3, "field"],
  [3, "length"],
  [3, "transfer"],
  [4, "chunks"],
  [1, "informational"],
  [3, "cut"],
  [2, "surplus"],
];

/** A case under construction: the choices so far, as features. */
class Draft {
  readonly random: Random;
  readonly features = new Set<string>();
  /** The {@link ODDITIES} of this case. */
  readonly odd = new Set<string>();

  constructor(seed: number) {
    this.random = new Random(seed);
    for (let left = this.random.weighted([[9, 0], [9, 1], [1, 2]] as const); left > 0; left--) {
      this.odd.add(this.random.weighted(ODDITIES));
    }
  }

  note(kind: string, what: string): string {
    this.features.add(`${kind} ${what}`);
    return what;
  }

  choose(kind: string, choices: Weighted): string {
    return this.note(kind, this.random.weighted(choices));
  }

  /** Picks a text, and notes it as an odd feature. */
  pickOdd<T>(kind: string, table: Readonly<Record<string, T>>): T {
    return table[this.note(`odd ${kind}`, this.random.pick(Object.keys(table)))];
  }
}

/** Adds the field that frames the body to `lines`. @returns The body as it is sent, a character a byte. */
function frame(draft: Draft, body: Uint8Array, lines: string[]): string {
  const { odd, random } = draft;
  const framings: Weighted = odd.has("transfer") || odd.has("chunks")
    ? [[1, "chunked"]]
    : odd.has("length")
    ? [[1, "length"]]
    : [[5, "length"], [5, "chunked"], [2, "close"]];
  const framing = draft.choose("framing", framings);
  if (framing === "length") {
    const length = odd.has("length")
      ? draft.pickOdd("length", ODD_LENGTHS)(body.length)
      : `Content-Length: ${body.length}`;
    lines.push(length);
  }
  if (framing !== "chunked") return Buffer.from(body).toString("latin1");
  lines.push(odd.has("transfer") ? draft.pickOdd("transfer", ODD_TRANSFERS) : "Transfer-Encoding: chunked");
  const content = chunked(body, random);
  return odd.has("chunks") ? draft.pickOdd("chunks", ODD_CHUNKS)(content) : content;
}

/** Returns the play of an answer: cut short, or with bytes behind it, as the draft has it. */
function playOf(draft: Draft, answer: Uint8Array): Play {
  const { odd, random, features } = draft;
  let bytes = answer;
  let ending: Play["ending"] = features.has("framing close") || features.has("connection close")
    ? "fin"
    : random.weighted([[8, "keep"], [1, "fin"], [1, "reset"]]);
  if (odd.has("surplus")) bytes = Buffer.concat([bytes, latin1(draft.pickOdd("surplus", SURPLUS))]);
  if (odd.has("cut")) {
    bytes = bytes.subarray(0, random.below(bytes.length));
    ending = random.weighted([[3, "fin"], [1, "reset"], [1, "keep"]]);
    draft.note("odd cut", ending);
  }
  draft.note("ending", ending);
  return { pieces: piecesOf(bytes, random), ending };
}

/** Returns the case of a seed: the same one each time. */
export function generateCase(seed: number): Case {
  const draft = new Draft(seed);
  const { odd, random, features } = draft;
  const method = draft.choose("method", [[12, "GET"], [1, "HEAD"], [2, "POST"]]);
  const code = odd.has("status")
    ? draft.note("odd status", random.pick(ODD_STATUSES))
    : draft.choose("status", STATUSES);
  const line = odd.has("line")
    ? draft.note("odd line", random.pick(ODD_LINES))
    : `HTTP/1.1 ${code} ${random.pick(["OK", "", "Whatever it is"])}`;
  const size = random.pick(SIZES);
  const coding = draft.choose("coding", Object.entries(CODINGS).map(([name, { weight }]) => [weight, name] as const));
  const body = encoded.get(`${coding} ${size}`)!;

  const lines: string[] = [];
  if (coding !== "") lines.push(`Content-Encoding: ${coding.replace(/ \(.*/, "")}`);
  for (let left = random.below(3); left > 0; left--) lines.push(random.pick(FIELDS));
  if (odd.has("field")) lines.splice(random.below(lines.length + 1), 0, draft.pickOdd("field", ODD_FIELDS));
  const content = frame(draft, body, lines);
  const connection = draft.choose("connection", [[6, "unsaid"], [2, "close"], [2, "keep-alive"]]);
  if (connection !== "unsaid") lines.push(`Connection: ${connection}`);
  const hints = odd.has("informational")
    ? draft.pickOdd("informational", ODD_INFORMATIONAL)
    : random.chance(0.1)
    ? INFORMATIONAL[draft.note("informational", random.pick(Object.keys(INFORMATIONAL)))]
    : "";
  const isBodiless = method === "HEAD" || code === "204" || code === "304";
  // Some servers send a body where there is none.
  const sendsBody = !isBodiless || (random.chance(0.1) && draft.note("odd body", "where there is none") !== "");
  // By an odd status line the client may expect a body.
  if (!sendsBody && coding !== "" && odd.has("line")) draft.note("coding", "gzip (empty)");
  const head = `${hints}${[line, ...lines].join("\r\n")}\r\n\r\n`;
  const plays = [playOf(draft, latin1(`${head}${sendsBody ? content : ""}`))];
  if (random.chance(0.4)) {
    draft.note("requests", "two");
    plays.push({ pieces: [{ pause: 0, bytes: SECOND }], ending: "keep" });
  }
  const isCertain = odd.size === 0 && !CODINGS[coding].odd && !features.has("odd body where there is none") &&
    !(features.has("ending reset") && features.has("framing close"));
  const isEmpty = isBodiless || code === "205";
  const expected = isCertain ? { status: Number(code), body: isEmpty ? Buffer.alloc(0) : plainOf(size) } : undefined;
  return { seed, features, method, plays, between: random.pick([0, 20]), expected };
}
