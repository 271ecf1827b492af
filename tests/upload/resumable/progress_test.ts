import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, createServer, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { runtime } from "../../support/runtime.ts";
import { pause, until, within } from "../../support/waits.ts";
import { RawClient } from "../handler/raw_client.ts";
import { serving } from "../handler/serving_handler.ts";
import { filesIn } from "./exchange_case.ts";

/** On Deno, what comes after an interim response on HTTP/2 may never be read. */
const isInforming = runtime !== "deno";
/** Longer than between two tidings, which come once a second with data. */
const PAUSE = 1100;

test("node:http: who sends for long is told now and then how much is kept", () =>
  serving("node:http", { resumable: true }, async ({ port, folder }) => {
    const client = await RawClient.open(port);
    try {
      client.ask("PUT", "/note", ["Upload-Complete: ?1", "Upload-Draft-Interop-Version: 8", "Content-Length: 15"]);
      const first = await client.answer("PUT");
      assert.equal(first.status, 104);
      assert.match(first.fields.get("location")!, /^\/[0-9a-f]{32}$/);
      client.send("hello");
      await pause(PAUSE);
      client.send("hello");
      const told = await client.answer("PUT");
      assert.equal(told.status, 104);
      assert.ok(["5", "10"].includes(told.fields.get("upload-offset")!), told.all);
      assert.equal(told.fields.get("location"), undefined);
      client.send("hello");
      const last = await client.answer("PUT");
      assert.deepEqual([last.status, last.fields.get("upload-offset")], [201, "15"]);
      assert.deepEqual(await filesIn(folder), { note: "hellohellohello" });
    } finally {
      client.close();
    }
  }));

test("node:http2: interim responses tell where an upload is, and what is kept", () =>
  inFolder(async (folder) => {
    const { node } = createUploadHandler({ directory: folder, resumable: true, log: () => {} });
    const server = createServer(node as unknown as Parameters<typeof createServer>[1]);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const draft = { "upload-complete": "?1", "upload-draft-interop-version": "8" };
      const stream = session.request({ ":method": "PUT", ":path": "/note", ...draft });
      const interim: IncomingHttpHeaders[] = [];
      stream.on("headers", (fields) => void interim.push(fields));
      const answered = once(stream, "response") as Promise<[IncomingHttpHeaders]>;
      stream.resume();
      stream.write(Buffer.from("hello"));
      if (isInforming) {
        await until(() => interim.length === 1, "the first interim response");
        assert.equal(interim[0]![":status"] as unknown, 104);
        assert.match(interim[0]!.location!, /^\/[0-9a-f]{32}$/);
      }
      await pause(PAUSE);
      stream.write(Buffer.from("hello"));
      if (isInforming) {
        await until(() => interim.length === 2, "the second interim response");
        assert.ok(["5", "10"].includes(interim[1]!["upload-offset"] as string), JSON.stringify(interim[1]));
      }
      stream.end("hello");
      const [fields] = await within(answered, "the response");
      assert.deepEqual([fields[":status"] as unknown, fields["upload-offset"]], [201, "15"]);
      assert.deepEqual(await filesIn(folder), { note: "hellohellohello" });

      if (!isInforming) return void assert.deepEqual(interim, []);
      // A sender that resets the stream during an interim answer disturbs nothing else.
      const cut = session.request({ ":method": "PUT", ":path": "/other", ...draft });
      cut.on("error", () => {});
      cut.write("hello");
      await once(cut, "headers");
      cut.close(8);
      const next = session.request({ ":method": "HEAD", ":path": interim[0]!.location! });
      const [head] = await within(once(next, "response") as Promise<[IncomingHttpHeaders]>, "the next response");
      assert.deepEqual([head[":status"] as unknown, head["upload-offset"]], [204, "15"]);
      next.resume();
    } finally {
      session.destroy();
      server.close();
    }
  }));
