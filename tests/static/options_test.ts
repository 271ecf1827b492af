import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";

/** Invalid options that a caller without types could pass. */
const wrong: readonly [options: object, message: RegExp][] = [
  [{ memorylimit: 0 }, /^createStaticHandler\(\): unknown option "memorylimit": did you mean "memoryLimit"\?$/],
  [{ memoryLimit: "64M" }, /^memoryLimit must be a number of bytes from 0, not "64M"$/],
  [{ memoryLimit: NaN }, /^memoryLimit NaN is out of range: use a number of bytes from 0$/],
  [{ precompressed: ["brotli"] }, /^precompressed\[0\] must be "br", "zstd" or "gzip", not "brotli"$/],
  [{ precompressed: "br" }, /^precompressed must be a list of codings, not "br"$/],
  [{ dotfiles: "false" }, /^dotfiles must be true or false, not "false"$/],
  [{ immutable: true }, /^immutable must be a regular expression, a glob or false, not true$/],
  [{ immutable: ["assets/**"] }, /^immutable must be a regular expression, a glob or false, not an Array$/],
  [{ immutable: "a[b" }, /^immutable "a\[b" is no pattern/],
  [{ index: true }, /^index must be a file name such as index\.html or false, not true$/],
  [{ index: "a/b.html" }, /^index must be a file name such as index\.html or false, not "a\/b\.html"$/],
  [{ notFound: 404 }, /^notFound must be a path below the folder, not 404$/],
  [{ notFound: "././/" }, /^notFound must be a path below the folder, not "\.\/\.\/\/"$/],
  [{ fallback: "../page.html" }, /^fallback must be a path below the folder or a function, not "\.\.\/page\.html"$/],
  [{ fallback: true }, /^fallback must be a path below the folder or a function, not true$/],
  [{ fallback: "none.html" }, /^fallback "none\.html" is not among the files/],
  [{ basePath: "/a?b" }, /^basePath must be a path such as \/docs\/, not "\/a\?b"$/],
  [{ cors: "*" }, /^cors must be true, false, a list of origins or a function, not "\*"$/],
  [
    { cors: ["*"] },
    /^cors "\*" is not an origin as browsers send it: use one such as https:\/\/app\.example, or true for any$/,
  ],
  [{ cors: ["https://app.example/"] }, /^cors "https:\/\/app\.example\/" is not an origin as browsers send it/],
  [{ cors: ["https://App.example"] }, /^cors "https:\/\/App\.example" is not an origin as browsers send it/],
  [{ cors: ["https://app.example:443"] }, /^cors "https:\/\/app\.example:443" is not an origin as browsers send it/],
  [{ cors: ["app.example"] }, /^cors "app\.example" is not an origin as browsers send it/],
  [{ cors: [5] }, /^cors\[0\] must be a string, not 5$/],
  [{ cacheControl: 60 }, /^cacheControl must be the value of a header field or a function, not 60$/],
  [
    { cacheControl: "no-cache\r\nx: y" },
    /^cacheControl must be the value of a header field or a function, not "no-cache\\r\\nx: y"$/,
  ],
  [{ cacheControl: "3600" }, /^cacheControl gives "3600", and 3600 is no directive: use max-age=3600$/],
  [{ cacheControl: () => "public, 60" }, /^cacheControl, for page\.html, gives "public, 60", and 60 is no directive/],
  [{ headers: () => ({ "Cache-Control": "3600" }) }, /for page\.html: "cache-control" gives "3600", and 3600 is no/],
  [{ cacheControl: () => "\u0001" }, /^cacheControl, for page\.html, gives "\\u0001", which is no value/],
  [{ headers: () => ({ x: "a\u0001" }) }, /^headers\(\) gives what cannot be sent for page\.html: "x" gives/],
  [{ headers: () => ({ ETag: "x" }) }, /^headers\(\) gives what cannot be sent for page\.html: only .* know "etag"$/],
  [{ headers: () => ({ x: "a\nb" }) }, /^headers\(\) gives what cannot be sent for page\.html/],
];

for (const [options, message] of wrong) {
  test(`createStaticHandler() refuses what it cannot use before it serves anything: ${message.source}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-options-"));
    try {
      await writeFile(join(folder, "page.html"), "<p>The mill turns.</p>");
      await assert.rejects(createStaticHandler(folder, options as StaticHandlerOptions), { message });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

for (const directory of [undefined, 5, null]) {
  test(`createStaticHandler() says that ${directory} is no folder`, async () => {
    const message = `cannot serve ${directory}: name the folder by its path`;
    await assert.rejects(createStaticHandler(directory as unknown as string), { name: "TypeError", message });
  });
}

test("pages may be named with ./ and more slashes than one", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "errors/404.html": "gone", "app.html": "app" });
    for (const notFound of ["./errors/404.html", "errors//404.html", "/.//errors/././404.html"]) {
      const { fetch } = await createStaticHandler(folder, { notFound });
      assert.equal(await (await fetch(new Request("http://localhost/none"))).text(), "gone", notFound);
    }
    const { fetch } = await createStaticHandler(folder, { fallback: "././app.html" });
    assert.equal(await (await fetch(new Request("http://localhost/none"))).text(), "app");
  }));

test("an onWarning that throws fails neither the handler nor a response, and files are scanned again", {
  skip: needs("links"),
}, () =>
  inFolder(async (folder) => {
    const former = "a".repeat(300_000);
    await writeTree(folder, { "page.html": "<p>", "large.txt": former });
    await symlink("/dev/null", join(folder, "outside.txt"));
    const { error } = console;
    const told: unknown[] = [];
    console.error = (...given) => void told.push(...given);
    let site: StaticHandler | undefined;
    try {
      site = await createStaticHandler(folder, {
        memoryLimit: 0,
        fallback: () => {
          throw new Error("no such page");
        },
        onWarning: ({ message }) => {
          throw new Error(`told that ${message}`);
        },
      });
      const { fetch } = site;
      const ask = async (path: string) => await fetch(new Request(`http://localhost${path}`));
      assert.equal((await ask("/none")).status, 500);
      await writeFile(join(folder, "large.txt"), former.slice(1));
      assert.equal((await ask("/large.txt")).status, 200);
    } finally {
      console.error = error;
      await site?.close();
    }
    assert.match(told.join(), /this symbolic link is left out.*fallback\(\) failed.*is not what was scanned/);
  }));
