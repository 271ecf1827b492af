import assert from "node:assert/strict";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { makeSite, output, root, siteVariants } from "./consumer.ts";
import { type JsrRegistry, startJsrRegistry } from "./jsr_registry.ts";

// Deno is the runtime that imports from JSR, whichever runs this test.
const deno = join(root, "node_modules/.bin/deno");
let folder = "";
let app = "";
let registry: JsrRegistry;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-jsr-"));
  app = join(folder, "app");
  await mkdir(app);
  await writeFile(join(app, "deno.json"), "{}\n");
  registry = await startJsrRegistry();
});

after(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Runs Deno with a cache of its own, so that every module comes from the registry of this test. */
function runDeno(...args: string[]): Promise<string> {
  return output(deno, args, app, { JSR_URL: registry.url, DENO_DIR: join(folder, "cache"), DENO_NO_PROMPT: "1" });
}

test("the codecs of the JSR package need no permission", async () => {
  await writeFile(
    join(app, "codecs.ts"),
    `import { compress, decompress, type Format } from "jsr:@millrace/streams@^${registry.version}";
     const bytes = new TextEncoder().encode("round and round ".repeat(500));
     for (const format of ["zstd", "brotli", "gzip"] satisfies Format[]) {
       const back = await decompress(await compress(bytes, { format }), { format });
       console.log(back.length);
     }`,
  );
  assert.equal(await runDeno("run", "--check", "codecs.ts"), "8000\n8000\n8000\n");
});

test("every subpath of the JSR package loads and type checks", async () => {
  await writeFile(
    join(app, "subpaths.ts"),
    `import { compress } from "jsr:@millrace/streams@^${registry.version}";
     import { BatchedWritableStream } from "jsr:@millrace/streams@^${registry.version}/batch";
     import { decompress } from "jsr:@millrace/streams@^${registry.version}/codecs";
     import * as files from "jsr:@millrace/streams@^${registry.version}/files";
     import { HttpClient, type HttpClientOptions } from "jsr:@millrace/streams@^${registry.version}/http";
     import { fromNodeWritable } from "jsr:@millrace/streams@^${registry.version}/node";
     import { precompress } from "jsr:@millrace/streams@^${registry.version}/precompress";
     import { createStaticHandler } from "jsr:@millrace/streams@^${registry.version}/static";
     import { ReadableStream } from "jsr:@millrace/streams@^${registry.version}/streams";
     import { LineStream } from "jsr:@millrace/streams@^${registry.version}/text";
     import { createUploadHandler, saveForm } from "jsr:@millrace/streams@^${registry.version}/upload";
     import { uninstall } from "jsr:@millrace/streams@^${registry.version}/install";
     console.log(typeof compress, typeof decompress, Object.keys(files).length > 0, typeof precompress);
     console.log(typeof BatchedWritableStream, typeof createStaticHandler, typeof fromNodeWritable, typeof LineStream);
     console.log(globalThis.ReadableStream === ReadableStream, typeof uninstall);
     const options: HttpClientOptions = { connections: 1 };
     console.log(typeof createUploadHandler, typeof saveForm, new HttpClient(options).stats().connections);`,
  );
  const printed = await runDeno("run", "-A", "--check", "subpaths.ts");
  const functions = "function function true function\nfunction function function function\n";
  assert.equal(printed, `${functions}true function\nfunction function 0\n`);
});

test("the JSR package's precompress() starts its workers", async () => {
  const site = await makeSite(join(folder, "site-api"));
  await writeFile(
    join(app, "precompress.ts"),
    `import { precompress } from "jsr:@millrace/streams@^${registry.version}/precompress";
     await precompress(${JSON.stringify(site)}, { jobs: 2, include: ["**"] });`,
  );
  await runDeno("run", "-A", "precompress.ts");
  for (const path of siteVariants) await access(join(site, path));
});

test("the JSR package's command precompresses a folder", async () => {
  const site = await makeSite(join(folder, "site-command"));
  await runDeno("run", "-A", `jsr:@millrace/streams@^${registry.version}/cli`, "precompress", site);
  for (const path of siteVariants) await access(join(site, path));
});
