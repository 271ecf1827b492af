import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import fc from "fast-check";
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  GOAWAY,
  HAS_PRIORITY,
  HEADERS,
  PADDED,
  PING,
  PRIORITY,
  RST_STREAM,
  WINDOW_UPDATE,
} from "../../../lib/http/h2/protocol.ts";
import { HttpError } from "../../../lib/http/http_error.ts";
import { type Answer, ask, openSession, turn } from "../h2/opened_session.ts";
import { field } from "../hpack/blocks.ts";
import { frame, settingsFrame } from "./hostile_server.ts";
import { nonsense } from "./nonsense.ts";
import { tries } from "../../support/long_run.ts";

const STATUS = Buffer.from([0x88]);

/** Answers to the requests 1, 3 and 5 with all that HTTP/2 has. */
const CONVERSATION: Buffer = Buffer.concat([
  frame(WINDOW_UPDATE, 0, 0, Buffer.from([0, 1, 0, 0])),
  frame(HEADERS, END_HEADERS, 1, field(8, "103", { huffman: true })),
  frame(HEADERS, HAS_PRIORITY, 1, Buffer.concat([Buffer.alloc(5), STATUS, Buffer.from([0x40])])),
  frame(CONTINUATION, 0, 1, Buffer.alloc(0)),
  frame(CONTINUATION, END_HEADERS, 1, field("x-added", "to the table", { add: true, huffman: true }).subarray(1)),
  frame(99, 255, 0, Buffer.from("whatever")),
  frame(DATA, 0, 1, Buffer.from("the first bytes, ")),
  frame(
    HEADERS,
    END_HEADERS | PADDED,
    3,
    Buffer.concat([Buffer.from([2]), STATUS, Buffer.from([0xbe]), Buffer.alloc(2)]),
  ),
  frame(PRIORITY, 0, 3, Buffer.alloc(5)),
  frame(DATA, PADDED, 3, Buffer.concat([Buffer.from([7]), Buffer.from("of another"), Buffer.alloc(7)])),
  settingsFrame({ 1: 0, 3: 50, 9999: 7 }),
  frame(DATA, 0, 1, Buffer.alloc(0)),
  frame(PING, 0, 0, Buffer.from("pingpong")),
  frame(DATA, 0, 1, Buffer.from("and the last")),
  frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([Buffer.from([0xbe]), field("x-sum", "12")])),
  frame(HEADERS, END_HEADERS, 5, Buffer.concat([STATUS, field(28, "6")])),
  frame(DATA, END_STREAM, 3, Buffer.alloc(0)),
  frame(RST_STREAM, 0, 3, Buffer.alloc(4)),
  frame(DATA, END_STREAM, 5, Buffer.from("six!!!")),
]);

type Opened = Awaited<ReturnType<typeof openSession>>;

async function askThree(): Promise<Opened & { answers: Answer[] }> {
  const opened = await openSession();
  const answers = ["/1", "/3", "/5"].map((path) => ask(opened.session, path));
  await turn();
  opened.peer.take();
  return { ...opened, answers };
}

function checkConversation(answers: Answer[], where: string): void {
  assert.deepEqual(answers.map((answer) => answer.isEnded), [true, true, true], where);
  const texts = answers.map((answer) => answer.text);
  assert.deepEqual(texts, ["the first bytes, and the last", "of another", "six!!!"], where);
  assert.deepEqual(answers[0].informational, [103], where);
  const heads = answers.map((answer) => answer.head?.headers);
  assert.deepEqual(heads, [["x-added", "to the table"], ["x-added", "to the table"], ["content-length", "6"]], where);
  assert.deepEqual(answers[0].trailers, ["x-added", "to the table", "x-sum", "12"], where);
}

test("a conversation with every kind of frame is understood wherever it is cut in two", async () => {
  for (let cut = 0; cut <= CONVERSATION.length; cut++) {
    const { peer, answers } = await askThree();
    peer.send(CONVERSATION.subarray(0, cut), CONVERSATION.subarray(cut));
    checkConversation(answers, `cut at ${cut}`);
    await turn();
    assert.deepEqual(peer.takeOf(PING).map((ping) => ping.payload.toString()), ["pingpong"]);
  }
});

test("a conversation with every kind of frame is understood byte by byte, and in pieces of any size", async () => {
  for (const size of [1, 2, 3, 5, 7, 8, 9, 10, 11, 13, 17, 31, 100, 1000]) {
    const { peer, answers } = await askThree();
    for (let at = 0; at < CONVERSATION.length; at += size) peer.send(CONVERSATION.subarray(at, at + size));
    checkConversation(answers, `pieces of ${size}`);
  }
});

for (const [how, end] of [["ends", "finish"], ["breaks", "lose"]] as const) {
  test(`when the connection ${how} at any byte, what is whole was told, and the rest fails with CONNECTION_LOST`, async () => {
    for (let cut = 0; cut < CONVERSATION.length; cut++) {
      const { peer, answers, owner } = await askThree();
      peer.send(CONVERSATION.subarray(0, cut));
      const ended = answers.map((answer) => answer.isEnded);
      if (end === "lose") peer.lose(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
      else peer.finish();
      await turn();
      answers.forEach((answer, i) => {
        assert.equal(answer.isEnded, ended[i], `cut at ${cut}`);
        if (!answer.isEnded) assert.equal(answer.error?.code, "CONNECTION_LOST", `cut at ${cut}`);
        assert.ok(["the first bytes, and the last", "of another", "six!!!"][i].startsWith(answer.text));
      });
      assert.deepEqual(owner.calls.slice(-2), ["closing", "closed"]);
    }
  });
}

/** Returns the outcome of a conversation cut into chunks of these sizes: of its requests and its connection. */
async function outcome(
  all: Buffer,
  sizes: number[],
): Promise<{ requests: unknown[]; texts: string[]; sent: string[] }> {
  const { peer, answers, owner } = await askThree();
  for (let at = 0, i = 0; at < all.length; i++) {
    const size = sizes.length === 0 ? all.length : sizes[i % sizes.length];
    peer.send(all.subarray(at, at + size));
    at += size;
  }
  await turn();
  const sent = peer.take().filter(({ type }) => type === RST_STREAM || type === GOAWAY || type === PING)
    .map(({ type, stream, payload }) => `${type} ${stream} ${payload.toString("hex")}`);
  // Whatever happened, at the latest the end of the connection ends all: each request and the owner hear of it once.
  peer.finish();
  await turn();
  const requests = answers.map(({ head, informational, trailers, isEnded, error, isUntouched }) => {
    assert.ok(isEnded !== (error !== undefined), "told neither of an end nor of a failure, or of both");
    if (error !== undefined) assert.ok(error instanceof HttpError && error.cause instanceof Error);
    return { status: head?.status, headers: head?.headers, informational, trailers, code: error?.code, isUntouched };
  });
  assert.deepEqual(owner.calls.filter((call) => call.startsWith("clos")), ["closing", "closed"]);
  return { requests, texts: answers.map((answer) => answer.text), sent };
}

test("frames that make no sense end in the same way in whatever pieces they come, and each request is told once", async () => {
  await fc.assert(
    fc.asyncProperty(
      nonsense,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
      async (all, sizes) => {
        const whole = await outcome(all, []);
        const pieces = await outcome(all, sizes);
        assert.deepEqual(pieces.requests, whole.requests);
        assert.deepEqual(pieces.sent, whole.sent);
        // The start of a DATA frame that breaks a rule at its end may have been passed on.
        pieces.texts.forEach((text, i) => assert.ok(text.startsWith(whole.texts[i])));
      },
    ),
    { numRuns: tries(300) },
  );
});

test("random bytes end in a typed error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 9, maxLength: 200 }), async (noise) => {
      await outcome(Buffer.from(noise), []);
    }),
    { numRuns: tries(200) },
  );
});

test("the fuzzed conversations get far enough to mean something", async () => {
  const codes: Record<string, number> = {};
  for (const all of fc.sample(nonsense, { numRuns: 300, seed: 7 })) {
    for (const { code = "ended" } of (await outcome(all, [])).requests as { code?: string }[]) {
      codes[code] = (codes[code] ?? 0) + 1;
    }
  }
  for (const code of ["ended", "PROTOCOL_ERROR", "CONNECTION_LOST", "RESET"]) {
    assert.ok(codes[code] > 10, JSON.stringify(codes));
  }
});
