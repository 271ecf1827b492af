import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTemporaryName } from "../../../lib/files/mod.ts";
import { createUploadHandler, UploadError } from "../../../lib/upload/mod.ts";
import { noise } from "../../support/bytes.ts";
import type { Scene } from "../scene.ts";

const body = noise(300_000);

/** Sends half of what it announces, and leaves. */
async function leave(port: number): Promise<void> {
  const asked = request({ port, host: "127.0.0.1", method: "PUT", path: "/left", headers: { "content-length": 1e6 } });
  asked.on("error", () => {});
  asked.write(body);
  await new Promise((resolve) => setTimeout(resolve, 20));
  asked.destroy();
}

export const upload: Scene = {
  name: "upload",
  what: "20 bodies and forms to disk, some too large, some of senders who leave; nothing of those may stay",
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-soak-"));
    const log = ({ error }: { error?: unknown }): void => {
      if (error !== undefined && !(error instanceof UploadError)) throw error;
    };
    const handler = createUploadHandler({ directory: folder, maxBytes: 2_000_000, overwrite: true, log });
    const server = createServer(handler.node).listen(0, "127.0.0.1");
    await once(server, "listening");
    server.keepAliveTimeout = 60_000; // no connection is closed while a request comes on it, however slow the machine is
    const { port } = server.address() as AddressInfo;
    const send = async (i: number): Promise<void> => {
      if (i % 5 === 4) return await leave(port);
      const form = new FormData();
      form.append("file", new File([body], `form-${i}.bin`));
      const isForm = i % 5 === 3;
      const init = isForm
        ? { method: "POST", body: form }
        : { method: "PUT", body: i % 5 === 2 ? noise(2_100_000) : body };
      const sent = fetch(`http://127.0.0.1:${port}/${isForm ? "" : `put-${i}`}`, init);
      // One who is refused early may not hear it.
      if (i % 5 === 2) return void await sent.then((response) => response.arrayBuffer()).catch(() => {});
      const response = await sent;
      await response.arrayBuffer();
      assert.ok(response.ok, `status ${response.status}`);
    };
    return {
      async round(): Promise<void> {
        await Promise.all(Array.from({ length: 20 }, (_, i) => send(i)));
        await new Promise((resolve) => setTimeout(resolve, 100));
        const names = await readdir(folder);
        assert.deepEqual(names.filter(isTemporaryName), [], "what did not come whole is left");
        assert.equal(names.length, 12);
        for (const name of names) await rm(join(folder, name));
      },
      async close(): Promise<void> {
        server.closeAllConnections();
        server.close();
        await rm(folder, { recursive: true });
      },
    };
  },
};
