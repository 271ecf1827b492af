import assert from "node:assert/strict";
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { createCompression, createEventChannel } from "../../lib/compression/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { createUploadHandler } from "../../lib/upload/mod.ts";

type Listener = (req: Http2ServerRequest, res: Http2ServerResponse) => void;

test("all functions for node:http are listeners of node:http2, by their types, too", async () => {
  const directory = await mkdtemp(join(tmpdir(), "millrace-listeners-"));
  const site = await createStaticHandler(directory);
  const uploads = createUploadHandler({ directory, maxBytes: 10 });
  const listeners: Listener[] = [
    createCompression().node,
    createEventChannel().node,
    site.node,
    uploads.node,
    uploads.checkContinue,
  ];
  for (const listener of listeners) assert.equal(createServer(listener).listenerCount("request"), 1);
  await site.close();
  await rm(directory, { recursive: true });
});
