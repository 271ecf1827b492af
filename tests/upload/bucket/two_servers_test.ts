import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { S3Bucket, type S3BucketOptions } from "../../../lib/s3/mod.ts";
import { BucketSessions } from "../../../lib/upload/session/bucket_sessions.ts";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { realStores, startStore } from "../../s3/real_stores.ts";
import { bytesOf, digestOf, withStore } from "../../s3/scene.ts";
import { until } from "../../support/waits.ts";
import { begin, offsetAt, send } from "./tus_sender.ts";

/** `MILLRACE_RESUMABLE=1` sends 100 uploads into three nodes of Garage, and kills servers. */
const isFull = process.env.MILLRACE_RESUMABLE === "1";
const MIB = 2 ** 20;

/** Two servers of one bucket in this process. */
async function withServers(bucketOf: () => S3Bucket, use: (ports: readonly number[]) => Promise<void>): Promise<void> {
  const servers = [1, 2].map(() => {
    return createServer(
      createUploadHandler({ storage: bucketOf(), resumable: true, overwrite: true, log: () => {} }).node,
    );
  });
  for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    await use(servers.map((server) => (server.address() as AddressInfo).port));
  } finally {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}

test("an upload that was begun at one server goes on at another over the same bucket", () =>
  withStore((store) =>
    withServers(() => store.bucket(), async (ports) => {
      const bytes = bytesOf(18 * MIB);
      const path = await begin(ports[0], bytes.length, "film.bin");
      let offset = 0;
      for (const [turn, cut] of [3 * MIB, 9 * MIB, 1].entries()) {
        await send(ports[turn % 2], path, bytes, offset, cut);
        let told: number | undefined;
        while ((told = await offsetAt(ports[(turn + 1) % 2], path)) === undefined);
        assert.ok(told >= offset && told <= offset + cut, `${told} after ${offset} and ${cut}`);
        offset = told;
      }
      assert.equal(await send(ports[1], path, bytes, offset), 204);
      const files = [...store.objects].filter(([key]) => !key.startsWith("."));
      assert.deepEqual(files.map(([key]) => key.replace(/^[-0-9a-f]{36}/, "")), [".bin"]);
      assert.equal(digestOf(files[0][1].bytes), digestOf(bytes));
      assert.equal(await offsetAt(ports[0], path), bytes.length);
      assert.equal(store.uploads.size, 0);
    })
  ));

test("who has lost an upload to another server acknowledges nothing more, and changes nothing", () =>
  withStore((store) =>
    withServers(() => store.bucket(), async ([first, second]) => {
      const bytes = bytesOf(5 * MIB);
      const path = await begin(first, bytes.length, "film.bin");
      const claims = (): string[] => [...store.objects.keys()].filter((key) => key.includes("/claims/"));
      const [created] = claims();
      const hung = send(first, path, bytes, 0, 2 * MIB);
      await until(() => claims().some((claim) => claim !== created), "a claim of the first");
      let told: number | undefined;
      while ((told = await offsetAt(second, path)) === undefined);
      assert.equal(await send(second, path, bytes, told), 204);
      await hung;
      const [file] = [...store.objects].filter(([key]) => !key.startsWith("."));
      assert.equal(digestOf(file[1].bytes), digestOf(bytes));
    })
  ));

test("a store that fails in the midst of an upload is told, and the upload goes on later", () =>
  withStore((store) =>
    withServers(() => store.bucket({ retries: 0 }), async ([port]) => {
      const bytes = bytesOf(9 * MIB);
      const path = await begin(port, bytes.length, "film.bin");
      store.fails(({ key }) => /\/\d{8}$/.test(key) ? { status: 503 } : undefined);
      assert.equal(await send(port, path, bytes, 0), 503);
      store.fails(() => undefined);
      assert.equal(await offsetAt(port, path), 0);
      store.fails(({ operation, key }) => operation === "CreateUpload" && !key.startsWith(".") ? "reset" : undefined);
      assert.equal(await send(port, path, bytes, 0), 503); // all is there, but not stored
      store.fails(() => undefined);
      assert.equal(await offsetAt(port, path), bytes.length);
      const [file] = [...store.objects].filter(([key]) => !key.startsWith("."));
      assert.equal(digestOf(file[1].bytes), digestOf(bytes));
    })
  ));

test("a form is stored whole or not at all, and a name that is taken is not replaced", () =>
  withStore(async (store) => {
    const { fetch } = createUploadHandler({
      storage: store.bucket({ retries: 0 }),
      name: ({ filename }) => filename,
      log: () => {},
    });
    const ask = async (): Promise<number> => {
      const body = new FormData();
      for (const name of ["a", "b", "c"]) body.append("file", new File([name], name));
      return (await fetch(new Request("http://localhost/", { method: "POST", body }))).status;
    };
    store.fails(({ operation, key }) => operation === "PutObject" && key === "c" ? { status: 503 } : undefined);
    assert.equal(await ask(), 503);
    assert.equal(store.objects.size, 0);
    store.fails(() => undefined);
    assert.equal(await ask(), 201);
    assert.equal(await ask(), 409);
    assert.deepEqual([...store.objects.keys()], ["a", "b", "c"]);
  }));

test("entity tags of objects are those of preconditions", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    const { fetch } = createUploadHandler({ storage: bucket, overwrite: true, log: () => {} });
    const { etag } = await bucket.put("a", "first");
    const ask = async (field: string, value: string): Promise<number> => {
      const init = { method: "PUT", headers: { [field]: value }, body: "next" };
      return (await fetch(new Request("http://localhost/a", init))).status;
    };
    assert.equal(await ask("if-match", '"other"'), 412);
    assert.equal(await ask("if-none-match", etag), 412);
    assert.equal(await ask("if-none-match", "*"), 412);
    assert.equal(await ask("if-match", etag), 200);
  }));

test("expired uploads are removed from the bucket, by the time that their servers noted, whatever the store's clock", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    const handler = createUploadHandler({ storage: bucket, resumable: { maxAge: 1000 }, log: () => {} });
    const headers = { "tus-resumable": "1.0.0", "upload-length": "9" };
    await handler.fetch(new Request("http://localhost/", { method: "POST", headers }));
    assert.ok(store.objects.size > 0);
    for (const [key, object] of store.objects) store.objects.set(key, { ...object, modified: new Date(0) });
    const sessions = new BucketSessions(bucket);
    assert.equal(await sessions.removeExpired(3_600_000), 0);
    while (store.objects.size > 0) {
      createUploadHandler({ storage: bucket, resumable: { maxAge: 1000 } }); // looks for them when it is made
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }));

/** A server in a process of its own. */
async function startServer(options: S3BucketOptions): Promise<{ port: number; child: ChildProcess }> {
  const server = fileURLToPath(new URL("./bucket_server.ts", import.meta.url));
  const args = "Deno" in globalThis ? ["run", "-A", "--no-check", server] : [server];
  const child = spawn(process.execPath, [...args, JSON.stringify(options)], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(child.stdout!, "data");
  return { port: Number(String(line)), child };
}

const skip = !isFull ? "MILLRACE_RESUMABLE=1 runs it" : realStores.garage.skip;
test("100 uploads go on at the other of two servers, which are killed", { skip, timeout: 1_200_000 }, async () => {
  const store = await startStore("garage", 3);
  const servers = [
    await startServer({ ...store.options, endpoint: store.endpoints[0] }),
    await startServer({ ...store.options, endpoint: store.endpoints[1] }),
  ];
  let kills = 0;
  let resent = 0;
  const bucket = new S3Bucket(store.options);
  try {
    for (let round = 0; round < 100; round++) {
      const bytes = bytesOf(Math.floor(Math.random() * 24 * MIB) + 1000, round);
      let at = round % 2;
      const path = await begin(servers[at].port, bytes.length, "film.bin");
      let offset = 0;
      for (let part = 0; part < 2 && offset < bytes.length - 1; part++) {
        const cut = Math.floor(Math.random() * (bytes.length - offset - 1));
        const sending = send(servers[at].port, path, bytes, offset, cut);
        if (Math.random() < 0.5) {
          setTimeout(() => servers[killed].child.kill("SIGKILL"), Math.random() * 100);
          const killed = at;
          await sending;
          await once(servers[at].child, "exit").catch(() => {});
          servers[at] = await startServer({ ...store.options, endpoint: store.endpoints[at] });
          kills++;
        } else await sending;
        at = 1 - at;
        let told: number | undefined;
        while ((told = await offsetAt(servers[at].port, path)) === undefined);
        resent += offset + cut - told;
        offset = told;
      }
      for (let status = 0; status !== 204;) {
        status = await send(servers[at].port, path, bytes, offset);
        if (status !== 204) offset = await offsetAt(servers[at].port, path) ?? offset;
      }
      const files: string[] = [];
      for await (const { key } of bucket.list()) if (!key.startsWith(".")) files.push(key);
      assert.equal(files.length, 1);
      assert.equal(digestOf(await new Response(bucket.readable(files[0])).bytes()), digestOf(bytes), `round ${round}`);
      await bucket.delete(files[0]);
    }
    console.log(`100 uploads, ${kills} kills, ${(resent / 100 / MIB).toFixed(1)} MiB sent again for each`);
    assert.equal(await bucket.removeAbandoned({ olderThan: 0 }) >= 0, true);
  } finally {
    for (const { child } of servers) child.kill("SIGKILL");
    await bucket.close();
    await store.stop();
  }
});
