import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import fc from "fast-check";
import { CompressionError } from "../../../lib/http/h2/hpack/huffman.ts";
import { HpackDecoder } from "../../../lib/http/h2/hpack/decoder.ts";
import { encodeHuffman, huffmanLength } from "../../../lib/http/h2/hpack/huffman.ts";
import { field, head, hex, integer, literal, OK } from "./blocks.ts";
import { ReferenceDecoder } from "./reference_decoder.ts";
import { tries } from "../../support/long_run.ts";

/**
 * The requests of RFC 7541, C.2 and C.3. Only the reference decoder reads all of their fields: the client's decoder is
 * for responses.
 */
const REQUESTS: [name: string, block: string, fields: string[]][] = [
  ["C.3.1", "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", ["http", "/", "www.example.com"]],
  ["C.3.2", "8286 84be 5808 6e6f 2d63 6163 6865", ["http", "/", "www.example.com", "no-cache"]],
  [
    "C.3.3",
    "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ["https", "/index.html", "www.example.com", "custom-value"],
  ],
  ["C.4.1", "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", ["http", "/", "www.example.com"]],
  ["C.4.2", "8286 84be 5886 a8eb 1064 9cbf", ["http", "/", "www.example.com", "no-cache"]],
  [
    "C.4.3",
    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ["https", "/index.html", "www.example.com", "custom-value"],
  ],
];

const PLAIN_RESPONSES = [
  `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e
   1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
  "4803 3330 37c1 c0bf",
  `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d
   4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572
   7369 6f6e 3d31`,
];
const HUFFMAN_RESPONSES = [
  `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b
   97c8 e9ae 82ae 43d3`,
  "4883 640e ffc1 c0bf",
  `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf
   cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
];
const REDIRECT = ["cache-control", "private", "date", "Mon, 21 Oct 2013 20:13:21 GMT", "location"];
const RESPONSES: [status: number, fields: string[]][] = [
  [302, [...REDIRECT, "https://www.example.com"]],
  [307, [...REDIRECT, "https://www.example.com"]],
  [200, [
    ...["cache-control", "private", "date", "Mon, 21 Oct 2013 20:13:22 GMT", "location", "https://www.example.com"],
    ...["content-encoding", "gzip", "set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
  ]],
];

for (const [name, blocks] of [["C.5", PLAIN_RESPONSES], ["C.6", HUFFMAN_RESPONSES]] as const) {
  test(`HpackDecoder decodes the responses of RFC 7541 ${name}, whose table of 256 bytes evicts`, () => {
    const decoder = new HpackDecoder(256);
    blocks.forEach((block, i) => {
      assert.deepEqual(head(decoder, hex(block)), RESPONSES[i][1]);
      assert.equal(decoder.status, RESPONSES[i][0]);
      assert.equal(decoder.malformed, "");
    });
    // C.5.3: the table ends with set-cookie, content-encoding and date, the newest first.
    assert.deepEqual(head(decoder, hex("88 bebf c0")), [
      ...RESPONSES[2][1].slice(8),
      ...RESPONSES[2][1].slice(6, 8),
      ...RESPONSES[2][1].slice(2, 4),
    ]);
    assert.throws(() => head(decoder, hex("88 c1")), CompressionError);
  });
}

test("HpackDecoder keeps its table right in the requests of RFC 7541 C.3 and C.4, which are no responses", () => {
  for (const blocks of [REQUESTS.slice(0, 3), REQUESTS.slice(3)]) {
    const decoder = new HpackDecoder();
    const reference = new ReferenceDecoder();
    for (const [name, block, values] of blocks) {
      assert.deepEqual(reference.decode(hex(block)).filter((_, i) => i % 2 === 1).slice(1), values, name);
      head(decoder, hex(block));
      assert.match(decoder.malformed, /pseudo-header ":method"/, name);
    }
    assert.deepEqual(head(decoder, hex("88 bebf")), ["custom-key", "custom-value", "cache-control", "no-cache"]);
    head(decoder, hex("88 c0"));
    assert.match(decoder.malformed, /pseudo-header ":authority"/);
    assert.throws(() => head(decoder, hex("88 c1")), CompressionError);
  }
});

test("HpackDecoder decodes the single fields of RFC 7541 C.2", () => {
  const decoder = new HpackDecoder();
  const added = "88 400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
  assert.deepEqual(head(decoder, hex(added)), ["custom-key", "custom-header"]);
  assert.deepEqual(head(decoder, hex("88 1008 7061 7373 776f 7264 0673 6563 7265 74")), ["password", "secret"]);
  assert.deepEqual(head(decoder, hex("88 be")), ["custom-key", "custom-header"]);
  assert.throws(() => head(decoder, hex("88 bf")), CompressionError);
});

test("HpackDecoder fails the connection for every kind of broken block", () => {
  const long = "88 00 0178";
  const cases: [what: string, block: string][] = [
    ["index 0", "80"],
    ["an index beyond the static table", "be"],
    ["an index far beyond", "ff ff ff 7f"],
    ["a name's index beyond the table", "88 7e 0161"],
    ["a name's index beyond the table, without adding", "88 0f 7f 0161"],
    ["an integer that is cut", "ff"],
    ["an integer that is cut later", "ff ff ff"],
    ["an integer of 35 bits", "ff ff ff ff ff 00"],
    ["an integer padded with zeros", "ff 80 80 80 80 00"],
    ["a size update that is too large", "3f e2 1f 88"],
    ["a size update behind a field", "88 20"],
    ["a size update between fields", "88 3f e1 1f 88"],
    ["a literal without a name", "88 40"],
    ["a literal without a value", "88 40 0161"],
    ["a name that is cut", "88 40 0361 61"],
    ["a value that is cut", `${long} 0361 61`],
    ["a value far longer than the block", `${long} 7f ff ff 7f`],
    ["EOS in Huffman code", `${long} 84 ffff fffc`],
    ["EOS behind a letter in Huffman code", `${long} 85 1fff ffff ff`],
    ["8 bits of padding", `${long} 82 1fff`],
    ["Huffman code that is padding only", `${long} 81 ff`],
    ["15 bits of padding", `${long} 83 1fff ff`],
    ["padding of zeros", `${long} 81 18`],
    ["padding that ends with a zero", `${long} 81 1e`],
    ["a long Huffman code that is cut", `${long} 82 fffe`],
  ];
  for (const [what, block] of cases) {
    assert.throws(() => head(new HpackDecoder(), hex(block)), CompressionError, what);
    assert.throws(() => new HpackDecoder().decodeTrailers(hex(block), 0, hex(block).length), CompressionError, what);
    assert.throws(() => new ReferenceDecoder().decode(hex(block)), Error, `the reference: ${what}`);
  }
  // The codes those cases break, whole.
  assert.deepEqual(head(new HpackDecoder(), hex(`${long} 81 1f`)), ["x", "a"]);
  assert.deepEqual(head(new HpackDecoder(), hex("3f e1 1f 20 88")), []);
});

test("HpackDecoder takes a block that lies anywhere in a chunk", () => {
  const block = Buffer.concat([OK, field("x-name", "value", { add: true })]);
  const chunk = Buffer.concat([hex("ffffff"), block, hex("ffffff")]);
  const decoder = new HpackDecoder();
  assert.deepEqual(decoder.decodeHead(chunk, 3, 3 + block.length), ["x-name", "value"]);
  assert.deepEqual(decoder.decodeHead(hex("00 88be ff"), 1, 3), ["x-name", "value"]);
  // A value that is whole in the chunk, but not in the block.
  assert.throws(() => decoder.decodeHead(chunk, 3, 2 + block.length), CompressionError);
});

test("HpackDecoder calls every response malformed that RFC 9113 8.2 and 8.3 do not allow", () => {
  const cases: [what: string, block: Buffer, reason: RegExp][] = [
    ["capitals", field("X-Name", "v"), /"X-Name", which is not a token/],
    ["capitals in Huffman code", field("x-namE", "v", { huffman: true }), /"x-namE"/],
    ["a space in a name", field("x name", "v"), /"x name"/],
    ["a space behind a name", field("x-name ", "v"), /"x-name "/],
    ["a colon in a name", field("x:name", "v"), /"x:name"/],
    ["a name beyond ASCII", field("x-n\xe4me", "v"), /token/],
    ["an empty name", field("", "v"), /""/],
    ["DEL in a name", field("x\x7f", "v"), /token/],
    ["CR in a value", field("x-name", "a\rb"), /CR, LF or NUL in the value of the header "x-name"/],
    ["LF in a value", field("x-name", "a\nb"), /CR, LF or NUL/],
    ["NUL in a value", field("x-name", "a\0b", { huffman: true }), /CR, LF or NUL/],
    ["CR LF at the end of a value", field("x-name", "a\r\n"), /CR, LF or NUL/],
    ["connection", field("connection", "close"), /"connection", which belongs to HTTP\/1.1/],
    ["keep-alive", field("keep-alive", "timeout=5"), /"keep-alive"/],
    ["proxy-connection", field("proxy-connection", "close"), /"proxy-connection"/],
    ["transfer-encoding", field(57, "chunked"), /"transfer-encoding"/],
    ["upgrade", field("upgrade", "h2c"), /"upgrade"/],
    ["te", field("te", "gzip"), /"te"/],
    ["a pseudo-header of requests", field(4, "/"), /pseudo-header ":path"/],
    ["a pseudo-header by its index", hex("82"), /pseudo-header ":method"/],
    ["an unknown pseudo-header", field(":state", "200"), /pseudo-header ":state"/],
    ["two :status", hex("89"), /two :status/],
    ["two :status, the same", hex("88"), /two :status/],
  ];
  for (const [what, rest, reason] of cases) {
    const decoder = new HpackDecoder();
    assert.ok(Array.isArray(head(decoder, Buffer.concat([OK, rest]))), what);
    assert.match(decoder.malformed, reason, what);
    assert.equal(decoder.tooLarge, false, what);
    // The next block is judged by itself, and the literals of the last block are not trusted.
    assert.deepEqual(head(decoder, OK), [], what);
    assert.equal(decoder.malformed, "", what);
    head(decoder, Buffer.concat([OK, rest]));
    assert.match(decoder.malformed, reason, what);
  }
});

test("HpackDecoder knows a malformed field when it comes from its table", () => {
  for (const bad of [field("X", "v", { add: true }), field("x", "\n", { add: true }), field(57, "a", { add: true })]) {
    const decoder = new HpackDecoder();
    head(decoder, Buffer.concat([OK, bad]));
    const reason = decoder.malformed;
    assert.notEqual(reason, "");
    head(decoder, hex("88 be"));
    assert.equal(decoder.malformed, reason);
    // Its name alone is good if only the value was bad.
    head(decoder, Buffer.concat([OK, field(62, "fine")]));
    assert.equal(decoder.malformed === "", reason.includes("CR, LF"));
  }
});

test("HpackDecoder judges :status", () => {
  const status = (value: string): HpackDecoder => {
    const decoder = new HpackDecoder();
    head(decoder, field(8, value));
    return decoder;
  };
  for (const value of ["100", "103", "200", "206", "304", "404", "500", "599", "600", "999"]) {
    assert.equal(status(value).malformed, "");
    assert.equal(status(value).status, Number(value));
  }
  for (
    const value of ["", "20", "2000", "099", "1000", "101", "2 0", "2e2", "-20", " 200", "200 ", "abc", "20\0"]
  ) {
    assert.match(status(value).malformed, /^the status "/, JSON.stringify(value));
    assert.equal(status(value).status, 0);
  }
  const decoder = new HpackDecoder();
  head(decoder, field("x-name", "v"));
  assert.equal(decoder.malformed, "no :status");
  head(decoder, Buffer.alloc(0));
  assert.equal(decoder.malformed, "no :status");
  head(decoder, Buffer.concat([field("x-name", "v"), OK]));
  assert.equal(decoder.malformed, "a :status behind other fields");
});

test("HpackDecoder takes te: trailers, control characters but CR LF NUL, and bytes beyond ASCII", () => {
  const decoder = new HpackDecoder();
  const value = "\x01\x1f\t\x7f\xff\xe4";
  const fields = head(decoder, Buffer.concat([OK, field("te", "trailers"), field("x-raw", value, { huffman: true })]));
  assert.deepEqual(fields, ["te", "trailers", "x-raw", value]);
  assert.equal(decoder.malformed, "");
});

test("HpackDecoder takes white space off a value's ends, and counts it in the table all the same", () => {
  const decoder = new HpackDecoder();
  const reference = new ReferenceDecoder();
  // 40 entries of 102 bytes fill a table of 4096; if the spaces were not counted, there would be room for one more.
  const block = Buffer.concat([OK, ...Array(41).fill(field("x", `\t v${" ".repeat(66)}`, { add: true }))]);
  assert.deepEqual(head(decoder, block).slice(-2), ["x", "v"]);
  reference.decode(block);
  assert.equal(reference.table.length, 40);
  assert.deepEqual(head(decoder, Buffer.concat([OK, integer(0x80, 7, 61 + 40)])), ["x", "v"]);
  assert.throws(() => head(decoder, Buffer.concat([OK, integer(0x80, 7, 61 + 41)])), CompressionError);
});

test("HpackDecoder tells literals apart that have the same bytes", () => {
  const decoder = new HpackDecoder();
  const plain = hex("88 00 0178 01 1f");
  const huffman = hex("88 00 0178 81 1f");
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(head(decoder, plain), ["x", "\x1f"]);
    assert.deepEqual(head(decoder, huffman), ["x", "a"]);
  }
  // Some texts are valid as a value and invalid as a name, and the reverse.
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(head(decoder, Buffer.concat([OK, field("server", "Not A Name")])), ["server", "Not A Name"]);
    assert.equal(decoder.malformed, "");
    head(decoder, Buffer.concat([OK, field("Not A Name", "server")]));
    assert.match(decoder.malformed, /"Not A Name"/);
  }
  // More strings than are remembered, and long ones, which are not.
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 2000; i++) {
      const value = `${i}`.repeat(i % 20);
      assert.deepEqual(head(decoder, Buffer.concat([OK, field("x", value, { huffman: i % 3 === 0 })])), ["x", value]);
    }
  }
});

test("HpackDecoder takes trailers without :status only", () => {
  const decoder = new HpackDecoder();
  const trailers = (block: Buffer): string[] => decoder.decodeTrailers(block, 0, block.length);
  assert.deepEqual(trailers(field("x-checksum", "1")), ["x-checksum", "1"]);
  assert.equal(decoder.malformed, "");
  assert.deepEqual(trailers(Buffer.alloc(0)), []);
  assert.equal(decoder.malformed, "");
  trailers(OK);
  assert.equal(decoder.malformed, "a :status in the trailers");
  trailers(field(4, "/"));
  assert.match(decoder.malformed, /pseudo-header ":path"/);
});

test("HpackDecoder says that a list is too large, and goes on with the right table", () => {
  const decoder = new HpackDecoder(4096, 200);
  const name = field("x-a", "1", { add: true }); // 36 bytes
  const large = field("x-large", "2".repeat(100), { add: true }); // 139 bytes
  assert.deepEqual(head(decoder, Buffer.concat([OK, name])), ["x-a", "1"]);
  assert.equal(decoder.tooLarge, false);
  // 42 + 36 + 139 bytes: neither the last field fits, nor any field behind it.
  assert.deepEqual(head(decoder, Buffer.concat([OK, hex("be"), large, hex("bf")])), ["x-a", "1"]);
  assert.equal(decoder.tooLarge, true);
  assert.equal(decoder.malformed, "");
  assert.equal(decoder.status, 200);
  assert.deepEqual(head(decoder, hex("88 be")), ["x-large", "2".repeat(100)]);
  assert.equal(decoder.tooLarge, false);
  assert.deepEqual(head(decoder, hex("88 bf bfbf")), ["x-a", "1", "x-a", "1", "x-a", "1"]);
});

test("HpackDecoder makes nothing of a bomb: 64 KiB of indexes that stand for 256 MiB", () => {
  const decoder = new HpackDecoder(4096, 65_536);
  head(decoder, Buffer.concat([OK, field("x", "b".repeat(4000), { add: true })]));
  const bomb = Buffer.alloc(65_536, 0xbe);
  bomb[0] = 0x88;
  const list = head(decoder, bomb);
  assert.equal(decoder.tooLarge, true);
  assert.ok(list.length <= 2 * 16);
});

test("HpackDecoder empties its table for an entry that is larger than it", () => {
  const decoder = new HpackDecoder();
  const huge = field("x", "y".repeat(5000), { add: true });
  head(decoder, Buffer.concat([OK, field("a", "b", { add: true })]));
  assert.equal(head(decoder, Buffer.concat([OK, huge]))[1].length, 5000);
  assert.throws(() => head(decoder, hex("88 be")), CompressionError);
});

test("HpackDecoder follows changes of the table's size at a block's start", () => {
  const decoder = new HpackDecoder();
  head(decoder, Buffer.concat([OK, field("a", "b", { add: true }), field("c", "d", { add: true })]));
  // A table of 34 bytes keeps one of the two entries.
  assert.deepEqual(head(decoder, Buffer.concat([integer(0x20, 5, 34), OK, hex("be")])), ["c", "d"]);
  assert.throws(() => head(decoder, hex("88 bf")), CompressionError);
  head(decoder, Buffer.concat([integer(0x20, 5, 0), integer(0x20, 5, 4096), OK]));
  assert.throws(() => head(decoder, hex("88 be")), CompressionError);
  head(decoder, Buffer.concat([OK, field("e", "f", { add: true })]));
  assert.deepEqual(head(decoder, hex("88 be")), ["e", "f"]);
});

test("HpackDecoder allows what our SETTINGS said, and starts with 4096 bytes all the same", () => {
  const decoder = new HpackDecoder(65_536);
  const entry = field("x", "y".repeat(2020), { add: true }); // 2053 bytes: one fits into 4096
  head(decoder, Buffer.concat([OK, entry, entry]));
  assert.throws(() => head(decoder, hex("88 bf")), CompressionError);
  head(decoder, Buffer.concat([integer(0x20, 5, 65_536), OK, ...Array(30).fill(entry)]));
  assert.equal(head(decoder, hex("88 db")).length, 2);
  assert.throws(() => head(decoder, integer(0x20, 5, 65_537)), CompressionError);
});

test("Huffman code round-trips any bytes", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    const text = Buffer.from(bytes).toString("latin1");
    const code = new Uint8Array(huffmanLength(text) + 1);
    assert.equal(encodeHuffman(text, code, 0), code.length - 1);
    assert.equal(code[code.length - 1], 0);
    const block = Buffer.concat([OK, hex("00 0178"), literal(text, true)]);
    assert.equal(new ReferenceDecoder().decode(block)[3], text);
    if (!/[\0\r\n]|^[ \t]|[ \t]$/.test(text)) assert.deepEqual(head(new HpackDecoder(), block), ["x", text]);
  }));
});

test("HpackDecoder agrees with a plain decoder on any bytes: the fields, the table, and what is broken", () => {
  // Mostly valid pieces, so that the tables fill and blocks get far; then some bytes are changed.
  const text = fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom("", "gzip", "x".repeat(130), "y".repeat(1500)));
  const name = fc.oneof(fc.constantFrom("x-a", "x-b", "server"), fc.stringMatching(/^[a-z0-9-]{1,60}$/));
  const piece = fc.oneof(
    fc.integer({ min: 8, max: 70 }).map((index) => integer(0x80, 7, index)),
    fc.tuple(name, text, fc.boolean(), fc.boolean()).map(([name, value, add, huffman]) =>
      field(name, value.replace(/[^\x20-\x7e]/g, "?"), { add, huffman })
    ),
    fc.tuple(fc.integer({ min: 15, max: 64 }), text).map(([index, value]) =>
      field(index, value.replace(/[^\x20-\x7e]/g, "?"), { add: true })
    ),
  );
  const block = fc.tuple(
    fc.option(fc.integer({ min: 0, max: 4096 }), { nil: undefined, freq: 6 }),
    fc.array(piece, { maxLength: 12 }),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 1 }),
  ).map(([update, pieces, changes]) => {
    const bytes = Buffer.concat([...(update === undefined ? [] : [integer(0x20, 5, update)]), ...pieces]);
    for (const [at, value] of changes) if (bytes.length > 0 && at % 3 === 0) bytes[at % bytes.length] = value;
    return bytes;
  });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 12 }), (blocks) => {
      const decoder = new HpackDecoder();
      const reference = new ReferenceDecoder();
      for (const bytes of blocks) {
        let expected: string[];
        try {
          expected = reference.decode(bytes);
        } catch {
          assert.throws(() => decoder.decodeTrailers(bytes, 0, bytes.length), CompressionError);
          return;
        }
        const fields = decoder.decodeTrailers(bytes, 0, bytes.length);
        if (decoder.malformed !== "") continue;
        assert.deepEqual(fields, expected.map((text, i) => i % 2 === 0 ? text : text.replace(/^[ \t]+|[ \t]+$/g, "")));
      }
    }),
    { numRuns: tries(250) },
  );
});
