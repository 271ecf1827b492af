import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { openAsBlob, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import type { HttpRequestInit } from "../../../lib/http/mod.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { PROTOCOLS, scene } from "../scene.ts";

/** Returns a Blob of size 0 that can't be read. */
async function gone(folder: string): Promise<Blob> {
  const path = join(folder, "gone");
  const { Bun } = globalThis as { Bun?: { file(path: string): Blob } };
  if (Bun !== undefined) return Bun.file(path);
  if (!("Deno" in globalThis)) {
    writeFileSync(path, "");
    const blob = await openAsBlob(path);
    rmSync(path);
    return blob;
  }
  const blob = new Blob([]);
  return Object.assign(blob, { arrayBuffer: () => Promise.reject(new Error("no such file")) });
}

function formOf(blob: Blob): FormData {
  const form = new FormData();
  form.append("file", blob);
  return form;
}

const sent: Record<string, (blob: Blob) => HttpRequestInit> = {
  "as it is": (body) => ({ body }),
  "by an interceptor": (body) => ({ body, intercept: [(request, next) => next(request)] }),
};
if (!("Deno" in globalThis)) sent["in a form"] = (blob) => ({ body: formOf(blob) });

function echo(request: ServerRequest): void {
  whenWhole(
    request,
    () => respond(request, 200, Buffer.from(`${request.received} ${request.fields.get("content-length")}`)),
  );
}

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a file of the size 0 that cannot be read fails its request, of which the server sees nothing`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "unread-"));
    try {
      await scene(protocol, {}, echo, async ({ client, url, requests }) => {
        for (const [how, init] of Object.entries(sent)) {
          const call = client.fetch(url, { method: "PUT", ...init(await gone(folder)) });
          await assert.rejects(call, { code: "BODY_FAILED" }, how);
          assert.equal(requests.length, 0, how);
        }
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test(`${protocol}: an empty Blob is sent with its length, alone and in a form, again after a redirect`, async () => {
    const onRequest = (request: ServerRequest): void => {
      if (request.path !== "/away") return echo(request);
      whenWhole(request, () => respond(request, 307, Buffer.from(""), { location: "/there" }));
    };
    await scene(protocol, {}, onRequest, async ({ client, url }) => {
      for (const path of ["/", "/away"]) {
        for (const body of [new Blob([]), new Blob(["abc"]).slice(1, 1)]) {
          assert.equal(await (await client.fetch(url + path, { method: "PUT", body })).text(), "0 0");
        }
        const [received, length] =
          (await (await client.fetch(url + path, { method: "PUT", body: formOf(new Blob([])) })).text()).split(" ");
        assert.ok(Number(received) > 0);
        assert.equal(received, length);
      }
    });
  });

  test(`${protocol}: a file of the system has the size 0 and content, which is sent`, {
    skip: !("Bun" in globalThis && process.platform === "linux"),
  }, async () => {
    const { Bun } = globalThis as unknown as { Bun: { file(path: string): Blob } };
    const { length } = await Bun.file("/proc/version").text();
    await scene(protocol, {}, echo, async ({ client, url }) => {
      const ask = async (init: HttpRequestInit) => await (await client.fetch(url, { method: "PUT", ...init })).text();
      assert.equal(await ask({ body: Bun.file("/proc/version") }), `${length} ${length}`);
      const empty = Number((await ask({ body: formOf(new Blob([])) })).split(" ")[0]);
      const filled = Number((await ask({ body: formOf(Bun.file("/proc/version")) })).split(" ")[0]);
      assert.ok(filled >= empty + length);
    });
  });
}
