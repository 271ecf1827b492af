import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { connect, type Socket } from "node:net";
import { HttpClient, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { Listener } from "../faults/listener.ts";
import { turn, until, within } from "../../support/waits.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { failureOf } from "../faults/trial.ts";
import { PROTOCOLS, scene } from "../scene.ts";

type Progress = Parameters<NonNullable<HttpRequestInit["onUploadProgress"]>>[0];

const LARGE = Buffer.alloc(4 << 20, "grist ");

function answer(request: ServerRequest): void {
  if (request.path === "/slow") request.isHolding = true;
  whenWhole(request, () => {
    if (request.path === "/moved") respond(request, 307, Buffer.from("moved"), { location: "/there" });
    else respond(request, 200, Buffer.from("fine"));
  });
}

const form = new FormData();
form.append("file", new Blob([LARGE]), "x.bin");

const bodies: Record<string, [() => HttpRequestInit["body"], isSized: boolean]> = {
  "a text": [() => "grist", true],
  "bytes": [() => LARGE, true],
  "a Blob": [() => new Blob([LARGE]), true],
  "a form": [() => form, true],
  "a stream": [() => new Blob([LARGE]).stream(), false],
  "an iterable": [() => [LARGE, LARGE], false],
};

test("onUploadProgress is told of nothing that a lost connection drops", async () => {
  const { promise: isReset, resolve: onReset } = Promise.withResolvers<void>();
  const { promise: isOver, resolve: onEvent } = Promise.withResolvers<void>();
  const listener = await new Listener({}, (socket) => {
    socket.once("data", () => {
      socket.on("data", () => {});
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      void isReset.then(() => socket.resetAndDestroy());
    });
  }).start();
  let socket: Socket | undefined;
  const client = new HttpClient({
    connect: ({ hostname, port }) => socket = connect(port, hostname),
    onEvent: ({ type }) => type === "disconnect" && onEvent(),
  });
  async function* body(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1000);
    await isReset;
    while (!socket!.destroyed) await turn();
    yield new Uint8Array(1000);
  }
  let sent = 0;
  const init = { method: "POST", body: body(), onUploadProgress: (progress: Progress) => void (sent = progress.sent) };
  await (await client.fetch(listener.origin, init)).text();
  onReset();
  await within(isOver, "the end of the connection");
  await turn();
  assert.equal(sent, 1000);
  await client.close();
  await listener.stop();
});

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  for (const [what, [make, isSized]] of Object.entries(bodies)) {
    test(
      name(`onUploadProgress is told of ${what} as it is sent, up to the last byte`),
      () =>
        scene(protocol, {}, answer, async ({ client, url, requests }) => {
          const told: Progress[] = [];
          const onUploadProgress = (progress: Progress): void => void told.push(progress);
          await (await client.fetch(url, { method: "POST", body: make(), onUploadProgress })).text();
          const { received } = requests[0];
          assert.equal(told.at(-1)!.sent, received);
          if (received > 1e6) assert.ok(told.length >= received / (64 * 1024), `${told.length}`);
          for (const [at, { sent, total }] of told.entries()) {
            assert.ok(sent > (told[at - 1]?.sent ?? 0));
            assert.equal(total, isSized ? received : undefined);
          }
          assert.equal(requests[0].fields.get("content-length"), isSized ? String(received) : undefined);
        }),
    );
  }

  test(
    name("onUploadProgress waits for the server: no more is told than what was taken, and a window or two"),
    () =>
      scene(protocol, {}, answer, async ({ client, url, requests }) => {
        let sent = 0;
        const init: HttpRequestInit = {
          method: "POST",
          body: Buffer.alloc(64 << 20),
          onUploadProgress: (progress) => void (sent = progress.sent),
        };
        const controller = new AbortController();
        const response = client.fetch(`${url}/slow`, { ...init, signal: controller.signal });
        await until(() => requests.length === 1 && sent > 0, "the request");
        let before = -1;
        await until(async () => {
          const isStill = before === sent;
          before = sent;
          await new Promise((resolve) => setTimeout(resolve, 50));
          return isStill;
        }, "standstill");
        assert.ok(sent < 32 << 20, `${sent} bytes were told`);
        controller.abort("enough");
        await assert.rejects(response, (reason) => reason === "enough");
        requests[0].isHolding = false;
      }),
  );

  test(
    name("each attempt is told from its beginning, and what the function throws is an uncaught exception"),
    () =>
      scene(protocol, {}, answer, async ({ client, url }) => {
        const told: number[] = [];
        const init: HttpRequestInit = {
          method: "PUT",
          body: "grist",
          onUploadProgress: ({ sent }) => void told.push(sent),
        };
        await (await client.fetch(`${url}/moved`, init)).text();
        assert.deepEqual(told, [5, 5]);
        await (await client.fetch(url, { onUploadProgress: () => assert.fail("there is no body") })).text();
        const wrong = { onUploadProgress: 5 } as unknown as HttpRequestInit;
        assert.equal(await failureOf(client.fetch(url, wrong)), "INVALID_OPTION");
      }),
  );
}
