import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { serve } from "../../../lib/runtime/mod.ts";
import { type BodySource, saveForm } from "../../../lib/upload/mod.ts";
import { noChromium, openBrowser } from "../../e2e/chromium.ts";
import { inFolder } from "../../support/folders.ts";

const page = `<!doctype html><title>form</title><form method="post" enctype="multipart/form-data" action="/">
<input type="hidden" name="_charset_">
<textarea name="text"></textarea>
<input name="n&quot;a;m=e\\ é%">
<input type="file" name="files" multiple>
<input type="file" name="none">
<button>Send</button></form>`;

test(
  "a form that a browser sends is understood as it was filled in",
  { skip: noChromium },
  () =>
    inFolder(async (folder) => {
      for (const name of ["profile", "stored"]) await mkdir(join(folder, name));
      const names = ['a "b"; c=\\é€.txt', "b%22\\", "c"];
      for (const name of names) await writeFile(join(folder, name), name);
      const answer = async (source: BodySource): Promise<string> => {
        const { fields, files } = await saveForm(source, join(folder, "stored"));
        const told = files.map(({ name, filename, contentType, bytes }) => [name, filename, contentType, bytes]);
        return JSON.stringify({ fields: [...fields], files: told });
      };
      const server = await serve({
        fetch: async (request) => {
          const body = request.method === "POST" ? await answer(request).catch(String) : page;
          return new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } });
        },
        node: async (request, response) => {
          response.setHeader("content-type", "text/html; charset=utf-8");
          response.end(request.method === "POST" ? await answer(request).catch(String) : page);
        },
        hostname: "127.0.0.1",
        port: 0,
      });
      const browser = await openBrowser(join(folder, "profile"));
      try {
        await browser.page.goto(server.url);
        await browser.page.fill("textarea", "one\ntwo é€😀");
        await browser.page.fill("input:not([type])", '"quoted"');
        await browser.page.setInputFiles('[name="files"]', names.map((name) => join(folder, name)));
        await browser.page.click("button");
        await browser.page.waitForLoadState();
        assert.deepEqual(JSON.parse(await browser.page.textContent("body") ?? ""), {
          fields: [["_charset_", "UTF-8"], ["text", "one\r\ntwo é€😀"], ['n"a;m=e\\ é%', '"quoted"']],
          files: [
            ["files", names[0], "text/plain", new TextEncoder().encode(names[0]).length],
            // A %22 cannot be distinguished from a quote.
            ["files", 'b"\\', "application/octet-stream", names[1].length],
            ["files", "c", "application/octet-stream", 1],
          ],
        });
      } finally {
        await browser.close();
        await server.stop(0);
      }
    }),
);
