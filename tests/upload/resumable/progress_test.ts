import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, createServer, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { runtime } from "../../support/runtime.ts";
import { until, within } from "../../support/waits.ts";
import { filesIn } from "./exchange_case.ts";

/** Whether interim responses are tested: on Deno, data after one on HTTP/2 may never be read. */
const isInforming = runtime !== "deno";
test("node:http2: interim responses tell where an upload is", () =>
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
      stream.end("hello");
      const [fields] = await within(answered, "the response");
      assert.deepEqual([fields[":status"] as unknown, fields["upload-offset"]], [201, "10"]);
      assert.deepEqual(await filesIn(folder), { note: "hellohello" });

      if (!isInforming) return void assert.deepEqual(interim, []);
      // A sender that resets the stream during an interim answer disturbs nothing else.
      const cut = session.request({ ":method": "PUT", ":path": "/other", ...draft });
      cut.on("error", () => {});
      cut.write("hello");
      await once(cut, "headers");
      cut.close(8);
      const next = session.request({ ":method": "HEAD", ":path": interim[0]!.location! });
      const [head] = await within(once(next, "response") as Promise<[IncomingHttpHeaders]>, "the next response");
      assert.deepEqual([head[":status"] as unknown, head["upload-offset"]], [204, "10"]);
      next.resume();
    } finally {
      session.destroy();
      server.close();
    }
  }));
