import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { serve } from "../../../lib/runtime/mod.ts";
import type { SaveFormOptions } from "../../../lib/upload/form/form_options.ts";
import { saveForm } from "../../../lib/upload/form/save_form.ts";
import { noise } from "../../support/bytes.ts";
import { run } from "../../support/processes.ts";
import { noCurl } from "../../e2e/same_tree/curl.ts";
import { withHttpServer } from "../../node/loopback.ts";
import { inFolder } from "../../support/folders.ts";

const bytes = noise(3_000_001, 11);
const text = "line\nline\r\n--\r\n";
const digestOf = (given: Uint8Array | string): string =>
  `sha-256=:${createHash("sha256").update(given).digest("base64")}:`;

type Told = { fields: [string, string][]; files: [name: string, filename: string, type: string, digest: string][] };

async function answer(
  source: Request | IncomingMessage,
  folder: string,
  options: SaveFormOptions = {},
): Promise<string> {
  const { fields, files } = await saveForm(source, folder, { digest: "sha-256", ...options });
  const told = files.map(({ name, filename, contentType, digest }) => [name, filename, contentType, digest]);
  return JSON.stringify({ fields: [...fields], files: told });
}

/** Returns a form as a server of the runtime, and one of `node:http`, receive it from a sender. */
async function understood(send: (url: string) => Promise<string>): Promise<Told[]> {
  const told: Told[] = [];
  await inFolder(async (folder) => {
    const failed = (error: unknown): string => JSON.stringify({ error: String(error) });
    const server = await serve({
      fetch: async (request) => new Response(await answer(request, folder).catch(failed)),
      node: async (request, response) => void response.end(await answer(request, folder).catch(failed)),
      hostname: "127.0.0.1",
      port: 0,
    });
    try {
      told.push(JSON.parse(await send(server.url)));
    } finally {
      await server.stop(0);
    }
    const onNode = async (response: ServerResponse, request: IncomingMessage): Promise<void> =>
      void response.end(await answer(request, folder).catch(failed));
    await withHttpServer(onNode, async (port) => void told.push(JSON.parse(await send(`http://127.0.0.1:${port}/`))));
  });
  return told;
}

test("a form sent by fetch() is understood as it was meant", async () => {
  const data = new FormData();
  data.append('a "b" c\\ é€😀\r\n;=%22', text);
  data.append("file", new File([bytes], 'a "b"; c=\\é€😀.bin', { type: "application/x-thing" }));
  data.append("file", new File([], "empty", { type: "image/png" }));
  data.append("", "");
  const told = await understood(async (url) => await (await fetch(url, { method: "POST", body: data })).text());
  const expected: Told = {
    // A %22 cannot be distinguished from a quote.
    fields: [['a "b" c\\ é€😀\r\n;="', text.replace(/\r?\n/g, "\r\n")], ["", ""]],
    files: [
      ["file", 'a "b"; c=\\é€😀.bin', "application/x-thing", digestOf(bytes)],
      ["file", "empty", "image/png", digestOf("")],
    ],
  };
  assert.deepEqual(told, [expected, expected]);
});

test("a form sent by curl is understood as it was meant", { skip: noCurl }, () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, 'q"u\\o;é.bin'), bytes);
    await writeFile(join(folder, "text"), text);
    const words = [
      "-F",
      "plain=é x",
      "-F",
      "fromfile=<text",
      "-F",
      "a=@text;type=text/csv",
      "-F",
      "b=@text;filename=../n%22",
    ];
    const quoted = ["-F", 'd=@"q\\"u\\\\o;é.bin"', "-F", "typed=x;type=text/html"];
    for (const escaping of [[], ["--form-escape"]]) {
      const told = await understood(async (url) => {
        const { code, stdout, stderr } = await run("curl", [
          "-sS",
          "--max-time",
          "20",
          ...escaping,
          ...words,
          ...quoted,
          url,
        ], folder);
        assert.equal(code, 0, stderr);
        return stdout;
      });
      const expected: Told = {
        fields: [["plain", "é x"], ["fromfile", text], ["typed", "x"]],
        files: [
          ["a", "text", "text/csv", digestOf(text)],
          ["b", '../n"', "application/octet-stream", digestOf(text)],
          ["d", 'q"u\\o;é.bin', "application/octet-stream", digestOf(bytes)],
        ],
      };
      assert.deepEqual(told, [expected, expected], escaping.join());
    }
  }));

test("a form sent in chunks by node:http is understood as it was meant", async () => {
  const { request } = await import("node:http");
  const boundary = "-".repeat(30);
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="f"; filename="g"\r\n\r\n`;
  const whole = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const told = await understood((url) =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
      const sending = request(url, { method: "POST", headers }, async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        resolve(text);
      }).on("error", reject);
      for (let start = 0; start < whole.length; start += 7919) sending.write(whole.subarray(start, start + 7919));
      sending.end();
    })
  );
  const expected: Told = { fields: [], files: [["f", "g", "text/plain", digestOf(bytes)]] };
  assert.deepEqual(told, [expected, expected]);
});
