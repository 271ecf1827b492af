import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { HttpError } from "../../../lib/http/mod.ts";
import { tries } from "../../support/long_run.ts";
import { pause, until } from "../../support/waits.ts";
import { chosenSeed, SeededRandom } from "../faults/seeded_random.ts";
import { respond } from "../faults/server_request.ts";
import { PROTOCOLS, scene } from "../scene.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/** Ways for a program to take the memory of a chunk back that it has given away. */
const WAYS: Record<string, (chunk: Chunk) => void> = {
  "transferred by structuredClone()": ({ buffer }) => void structuredClone(buffer, { transfer: [buffer] }),
  "transferred by transfer()": ({ buffer }) => void buffer.transfer(),
  "resized to nothing": ({ buffer }) => buffer.resize(0),
  "resized to half of it": ({ buffer }) => buffer.resize(buffer.byteLength >> 1),
};

/** Moments after it was given. A runtime's own reading of the chunk's length has to come first where that may shrink. */
const MOMENTS: Record<string, (act: () => void) => void> = {
  "at once": (act) => act(),
  "in a microtask": (act) => queueMicrotask(act),
  "in the next turn": (act) => void setImmediate(act),
  "a while later": (act) => void setTimeout(act, 2),
};

function chunkOf(size: number, random: SeededRandom): Chunk {
  const chunk = new Uint8Array(new ArrayBuffer(size, { maxByteLength: size }));
  return chunk.fill(1 + random.below(255));
}

/** Returns a stream of chunks, one of which is taken back. */
function streamOf(chunks: Chunk[], takeBack: (given: number) => void): ReadableStream<Chunk> {
  let given = 0;
  return new ReadableStream({
    async pull(controller) {
      if (given === chunks.length) return controller.close();
      await pause(0);
      controller.enqueue(chunks[given]);
      takeBack(given++);
    },
  }, { highWaterMark: 0 });
}

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a request whose chunk is taken back while it is sent fails, or had arrived whole`, async () => {
    const first = chosenSeed();
    for (let seed = first; seed < first + tries(160); seed++) {
      const random = new SeededRandom(seed);
      const way = random.pick(Object.keys(WAYS));
      const shrinks = way.startsWith("resized");
      const moment = random.pick(Object.keys(MOMENTS).slice(shrinks ? 2 : 0));
      const sizes = Array.from({ length: 1 + random.below(3) }, () => 1 + random.below(random.pick([10, 70_000, 2e6])));
      const chunks = sizes.map((size) => chunkOf(size, random));
      const size = sizes.reduce((sum, each) => sum + each);
      const sum = chunks.reduce((all, chunk) => all + chunk[0] * chunk.length, 0);
      const victim = random.below(chunks.length);
      let holds = random.chance(0.8);
      const words = `MILLRACE_SEED=${seed}: chunk ${victim} of ${sizes.join(", ")} bytes, ${way} ${moment}`;
      await scene(protocol, {}, (request) => {
        request.isHolding = holds;
        request.onWhole = () => respond(request, 200, Buffer.from("whole"));
      }, async ({ client, url, requests }) => {
        const body = streamOf(chunks, (given) => {
          if (given === victim) MOMENTS[moment](() => WAYS[way](chunks[victim]));
        });
        const headers: Record<string, string> = random.chance(0.5) ? { "content-length": String(size) } : {};
        const sent = client.fetch(url, { method: "POST", body, headers, duplex: "half" })
          .then((response) => response.text(), (error: unknown) => error);
        await pause(8);
        holds = false;
        for (const request of requests) request.isHolding = false;
        const outcome = await sent;
        if (outcome === "whole") {
          assert.deepEqual([requests[0].received, requests[0].sum], [size, sum], words);
          return;
        }
        assert.ok(outcome instanceof HttpError && outcome.code === "BODY_FAILED", `${words}: ${outcome}`);
        assert.match(outcome.message, /detached|resized/, words);
        await until(() => requests.every(({ isGone }) => isGone), "the end of the request");
        assert.ok(requests.every(({ isWhole }) => !isWhole), `${words}: the server had a whole body`);
      });
    }
  });
}
