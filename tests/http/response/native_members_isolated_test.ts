import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { respond } from "../faults/server_request.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const WASM = Buffer.from([0, 97, 115, 109, 1, 0, 0, 0]);
const FIELDS = { "content-type": "application/wasm", "x-mill": "on" };
/** The runtime's own members, kept by code that reads them at its start. */
const members = Object.getOwnPropertyDescriptors(Response.prototype) as Record<string, PropertyDescriptor>;

const getters = ["status", "statusText", "ok", "headers"] as const;
const readers = ["text", "bytes", "arrayBuffer", "blob"] as const;

const skip = !("Bun" in globalThis) && !("Deno" in globalThis) &&
  "Node keeps them in private members, which would cost each response 0.5 µs: a sixth of a request over HTTP/2";

/** Returns the bytes that were read, in whatever form. */
async function bytesOf(read: unknown): Promise<Buffer> {
  if (typeof read === "string") return Buffer.from(read);
  return Buffer.from(read instanceof Blob ? await read.arrayBuffer() : read as ArrayBuffer);
}

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;
  const answered = (act: (fetch: () => Promise<Response>) => Promise<void>): Promise<void> =>
    scene(protocol, {}, (request) => {
      if (request.path === "/slow") {
        request.head(200, FIELDS);
        setTimeout(() => {
          request.data(WASM);
          request.end();
        }, 5);
      } else respond(request, 200, WASM, FIELDS);
    }, async ({ client, url }) => {
      for (const path of ["/", "/slow"]) await act(() => client.fetch(url + path));
    });

  test(
    name("the getters of the runtime's Response give what a response has, and leave its body alone"),
    { skip },
    () =>
      answered(async (fetch) => {
        const response = await fetch();
        for (const name of getters) {
          const found: unknown = members[name].get!.call(response);
          if (name === "headers") assert.equal((found as Headers).get("x-mill"), "on");
          else assert.equal(found, response[name], name);
        }
        assert.equal(response.bodyUsed, false);
        assert.equal(response.body!.locked, false);
        assert.ok(WASM.equals(await response.bytes()));
      }),
  );

  test(
    name("the methods of the runtime's Response read a response, if it was not read"),
    { skip },
    () =>
      answered(async (fetch) => {
        for (const name of readers) {
          const read = await members[name].value.call(await fetch());
          assert.ok(WASM.equals(await bytesOf(read)), name);
          const used = await fetch();
          await used.text();
          await assert.rejects(async () => await members[name].value.call(used), TypeError, name);
        }
      }),
  );

  test(
    name("WebAssembly compiles a response as it comes"),
    { skip: WebAssembly.compileStreaming === undefined },
    () =>
      answered(async (fetch) => {
        assert.ok(await WebAssembly.compileStreaming(fetch()) instanceof WebAssembly.Module);
        const { instance } = await WebAssembly.instantiateStreaming(fetch());
        assert.ok(instance instanceof WebAssembly.Instance);
      }),
  );
}
