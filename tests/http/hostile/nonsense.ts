import { Buffer } from "node:buffer";
import fc from "fast-check";
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  GOAWAY,
  HEADERS,
  PING,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from "../../../lib/http/h2/protocol.ts";
import { field, integer } from "../hpack/blocks.ts";
import { frame } from "./hostile_server.ts";

const STATUS = Buffer.from([0x88]);

// Frames as a server might send them that has lost its mind; mostly for streams that are open, so that conversations get far.
const stream = fc.oneof({ weight: 12, arbitrary: fc.constantFrom(1, 3, 5) }, {
  weight: 1,
  arbitrary: fc.constantFrom(0, 2, 7, 2 ** 31 - 1),
});
const flags = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(0, END_STREAM) }, {
  weight: 1,
  arbitrary: fc.integer({ min: 0, max: 255 }),
});
const bytes = fc.uint8Array({ maxLength: 40 });
const fields = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(field("x-a", "b", { add: true })) },
    { weight: 2, arbitrary: fc.constantFrom(field(28, "12"), field(28, "3"), field("X", "y"), field(8, "103")) },
    { weight: 2, arbitrary: fc.integer({ min: 61, max: 64 }).map((index) => integer(0x80, 7, index)) },
    { weight: 1, arbitrary: fc.constant(field("x-large", "z".repeat(30_000))) },
  ),
  { maxLength: 4 },
).map((parts) => Buffer.concat(parts));
const head = fc.tuple(fc.boolean(), fields).map(([hasStatus, rest]) =>
  hasStatus ? Buffer.concat([STATUS, rest]) : rest
);
const anyFrame = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(stream, head, flags).map(([id, block, f]) => [HEADERS, f | END_HEADERS, id, block] as const),
  },
  { weight: 2, arbitrary: fc.tuple(stream, head).map(([id, block]) => [HEADERS, 0, id, block] as const) },
  {
    weight: 2,
    arbitrary: fc.tuple(stream, fields, flags).map(([id, block, f]) => [CONTINUATION, f, id, block] as const),
  },
  { weight: 10, arbitrary: fc.tuple(stream, bytes, flags).map(([id, body, f]) => [DATA, f, id, body] as const) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom(RST_STREAM, WINDOW_UPDATE), stream, fc.nat(300)).map(([type, id, value]) => {
      const payload = Buffer.alloc(4);
      payload.writeUInt32BE(value);
      return [type, 0, id, payload] as const;
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom(0, 1).map((f) => [PING, f, 0, Buffer.alloc(8)] as const) },
  { weight: 3, arbitrary: fc.nat(9).map((value) => [SETTINGS, 0, 0, Buffer.from([0, value, 0, 0, 64, 0])] as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 1, 3, 5).map((last) =>
      [GOAWAY, 0, 0, Buffer.from([0, 0, 0, last, 0, 0, 0, 0])] as const
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(stream, bytes).map(([id, payload]) => [PUSH_PROMISE, END_HEADERS, id, payload] as const),
  },
  { weight: 2, arbitrary: fc.tuple(fc.integer({ min: 10, max: 255 }), flags, stream, bytes) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(9), flags, stream, bytes) },
).map(([type, f, id, payload]) => frame(type, f, id, payload));
/** Frames in which some bytes are occasionally wrong. */
export const nonsense: fc.Arbitrary<Buffer> = fc.tuple(
  fc.array(anyFrame, { minLength: 1, maxLength: 25 }),
  fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 2 }),
  fc.boolean(),
).map(([frames, changes, isChanged]) => {
  const all = Buffer.concat(frames);
  if (isChanged) { for (const [at, value] of changes) all[at % all.length] = value; }
  return all;
});
