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
import type { Asked } from "../../s3/fake_store.ts";
import { bytesOf, digestOf, withStore } from "../../s3/scene.ts";
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
      let sent = 0;
      for (const [turn, cut] of [3 * MIB, 9 * MIB, 1].entries()) {
        await send(ports[turn % 2], path, bytes, offset, cut);
        sent = Math.max(sent, offset + cut);
        const told = await offsetAt(ports[(turn + 1) % 2], path) ?? NaN;
        assert.ok(told >= offset && told <= sent, `${told} after ${offset} and ${cut}`);
        offset = told;
      }
      // Bytes that the other server had not stored at the request may be there by now.
      while (await send(ports[1], path, bytes, offset) !== 204) offset = await offsetAt(ports[1], path) ?? offset;
      const files = [...store.objects].filter(([key]) => !key.startsWith("."));
      assert.deepEqual(files.map(([key]) => key.replace(/^[-0-9a-f]{36}/, "")), [".bin"]);
      assert.equal(digestOf(files[0][1].bytes), digestOf(bytes));
      assert.equal(await offsetAt(ports[0], path), bytes.length);
      assert.equal(store.uploads.size, 0);
    })
  ));

/** Two servers that append to one upload at the same time: the first is at a step when the second begins. */
const steps = {
  "stores a piece": ({ operation, key }) => operation === "PutObject" && key.includes("/piece-"),
  "sends a part": ({ operation }) => operation === "PutPart",
  "notes its parts": ({ operation, key }) => operation === "PutObject" && key.includes("/parts-"),
  "removes what counts no more": ({ operation }) => operation === "DeleteObjects",
} satisfies Record<string, (asked: Asked) => boolean>;

for (const [title, isStep] of Object.entries(steps)) {
  test(`a server that ${title} takes nothing away from another that has taken the upload over`, () =>
    withStore((store) =>
      withServers(() => store.bucket(), async ([first, second]) => {
        const bytes = bytesOf(20 * MIB);
        const path = await begin(first, bytes.length, "film.bin");
        for (const offset of [0, MIB]) {
          assert.equal(await send(first, path, bytes.subarray(0, offset + MIB), offset), 204);
        }
        const go = Promise.withResolvers<void>();
        const reached = Promise.withResolvers<void>();
        let isReached = false;
        store.fails((asked) => {
          if (isReached || !isStep(asked)) {
            return undefined;
          }
          isReached = true;
          reached.resolve();
          return { before: go.promise };
        });
        const size = title === "stores a piece" ? 3 * MIB : 11 * MIB;
        const hung = send(first, path, bytes.subarray(0, size), 2 * MIB);
        await reached.promise;
        const told = await offsetAt(second, path) ?? NaN;
        assert.equal(await send(second, path, bytes.subarray(0, 18 * MIB), told), 204);
        go.resolve();
        assert.equal(await hung, 204);
        assert.equal(await offsetAt(first, path), 18 * MIB);
        assert.equal(await send(first, path, bytes, 18 * MIB), 204);
        const [file] = [...store.objects].filter(([key]) => !key.startsWith("."));
        assert.equal(digestOf(file[1].bytes), digestOf(bytes));
        assert.equal(store.objects.size, 2, "the file, and the record");
      })
    ));
}

test("a store that fails in the midst of an upload is told, and the upload goes on later", () =>
  withStore((store) =>
    withServers(() => store.bucket({ retries: 0 }), async ([port]) => {
      const bytes = bytesOf(9 * MIB);
      const path = await begin(port, bytes.length, "film.bin");
      store.fails(({ operation }) => operation === "PutPart" ? { status: 503 } : undefined);
      assert.equal(await send(port, path, bytes, 0), 503);
      store.fails(() => undefined);
      assert.equal(await offsetAt(port, path), 0);
      store.fails(({ operation, key }) => operation === "CopyObject" && !key.startsWith(".") ? "reset" : undefined);
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

test("a store that hides what is missing stores files, and replaces none that must stay", () =>
  withStore(async (store) => {
    store.rules = { hidesMissing: true };
    const { fetch } = createUploadHandler({
      storage: store.bucket(),
      name: ({ filename = "a" }) => filename,
      log: () => {},
    });
    const put = (): Promise<Response> => fetch(new Request("http://localhost/a", { method: "PUT", body: "text" }));
    assert.equal((await put()).status, 201);
    assert.equal((await put()).status, 409);
    const body = new FormData();
    for (const name of ["b", "c"]) body.append("file", new File([name], name));
    assert.equal((await fetch(new Request("http://localhost/", { method: "POST", body }))).status, 201);
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
    const sessions = new BucketSessions(bucket, HOUR);
    await sessions.removeExpired(3_600_000);
    assert.ok(store.objects.size > 0);
    while (store.objects.size > 0) {
      createUploadHandler({ storage: bucket, resumable: { maxAge: 1000 } }); // looks for them when it is made
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }));

const HOUR = 3_600_000;

/** Requests of tus to a handler over a bucket. */
function askerOf(storage: S3Bucket) {
  const handler = createUploadHandler({ storage, resumable: true, log: () => {} });
  return (method: string, path: string, given: Record<string, string>, body?: BodyInit): Promise<Response> => {
    const type = { "content-type": "application/offset+octet-stream" };
    const headers = { "tus-resumable": "1.0.0", ...(body !== undefined && type), ...given };
    const init = { method, headers, ...(body !== undefined && { body }) };
    return handler.fetch(new Request(new URL(path, "http://localhost"), init));
  };
}

test("a session that is continued while another server lists the expired ones stays", () =>
  withStore(async (store) => {
    const ask = askerOf(store.bucket());
    const created = await ask("POST", "/", { "upload-length": "10" }, "hello");
    const [upload, age] = [created.headers.get("location")!, 500];
    await new Promise((resolve) => setTimeout(resolve, age));
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: listed, resolve: onListed } = Promise.withResolvers<void>();
    store.fails(({ operation, key }) => {
      if (operation !== "ListObjects" || key !== "") return undefined;
      store.fails(() => undefined);
      onListed();
      return { until };
    });
    const removing = new BucketSessions(store.bucket(), HOUR).removeExpired(age);
    await listed;
    assert.equal((await ask("PATCH", upload, { "upload-offset": "5" }, " ")).status, 204);
    goOn();
    await removing;
    assert.equal((await ask("PATCH", upload, { "upload-offset": "6" }, "you!")).status, 204);
  }));

test("a session stays while a request is at work with it, whatever time that takes", () =>
  withStore(async (store) => {
    const ask = askerOf(store.bucket());
    for (const act of ["gets bytes", "waits"]) {
      const created = await ask("POST", "/", { "upload-length": "10" });
      const id = created.headers.get("location")!.slice(1);
      for (const [key, object] of [...store.objects]) {
        const [, begin, time] = /^(.*-)(\d{13})$/.exec(key)!;
        store.objects.delete(key);
        store.objects.set(`${begin}${Number(time) - HOUR + 60_000}`, object);
      }
      const isWaiting = act === "waits";
      const session = (await new BucketSessions(store.bucket(), isWaiting ? 40 : HOUR).session(id))!;
      if (!isWaiting) await session.append([new Uint8Array(5)]);
      const isTouched = (): boolean => [...store.objects.keys()].some((key) => key.includes("/touch-"));
      while (!isTouched()) await new Promise((resolve) => setTimeout(resolve, 5));
      const before = store.objects.size;
      await new BucketSessions(store.bucket(), HOUR).removeExpired(HOUR / 2);
      assert.ok(store.objects.size >= before); // it may be touched meanwhile
      if (isWaiting) await session.append([new Uint8Array(5)]);
      await session.settle();
      await session.release();
      assert.equal((await ask("PATCH", `/${id}`, { "upload-offset": "5" }, "hello")).status, 204);
      assert.ok(isWaiting || !isTouched());
      store.objects.clear();
    }
  }));

test("removeAbandoned() leaves uploads that can be continued, and one whose parts the store drops is begun anew", () =>
  withStore(async (store) => {
    const bucket = store.bucket();
    const ask = askerOf(bucket);
    const bytes = bytesOf(20 * MIB);
    const created = await ask("POST", "/", { "upload-length": String(bytes.length) });
    const upload = created.headers.get("location")!;
    const append = async (start: number, end: number): Promise<number> => {
      return (await ask("PATCH", upload, { "upload-offset": String(start) }, bytes.subarray(start, end))).status;
    };
    assert.equal(await append(0, 9 * MIB), 204);
    await bucket.writable("film").getWriter().write(bytes.subarray(0, 9 * MIB));
    while (store.uploads.size < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(await bucket.removeAbandoned({ olderThan: 0 }), 1);
    assert.equal(await append(9 * MIB, 17 * MIB), 204);
    store.uploads.clear(); // by a rule of the store
    assert.equal(await append(17 * MIB, 20 * MIB), 404);
    assert.equal((await ask("HEAD", upload, {})).status, 404);
    assert.deepEqual([...store.objects.keys()], []);
  }));

/** Returns a server in a process of its own. */
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
