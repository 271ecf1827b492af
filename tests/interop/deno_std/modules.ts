/** Modules that use Deno's std with this package, by file name: each is type checked, and its tests run. */
export const modules: Readonly<Record<string, string>> = {
  "streams_test.ts": `
import { assertEquals, assertRejects } from "@std/assert";
import { concatReadableStreams, DelimiterStream, LimitedBytesTransformStream, mergeReadableStreams, TextLineStream,
  toBytes, toJson, toText, toTransformStream, zipReadableStreams } from "@std/streams";
import { BatchedWritableStream } from "@millrace/streams/batch";
import { openFileReadable, openFileWritable } from "@millrace/streams/files";
import { ReadableStream } from "@millrace/streams/streams";
import { LineStream } from "@millrace/streams/text";

const text = "one\\r\\ntwo\\n\\nfür €\\nlast";
const bytes = () => ReadableStream.from(text.match(/.{1,3}/gs)!).pipeThrough(new TextEncoderStream());

Deno.test("TextLineStream takes our streams, and LineStream gives the same lines", async () => {
  const theirs = await Array.fromAsync(bytes().pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream()));
  assertEquals(theirs, ["one", "two", "", "für €", "last"]);
  assertEquals(await Array.fromAsync(bytes().pipeThrough(new LineStream())), theirs);
});

Deno.test("LineStream reads what Deno.open() gives, and a file stream of ours goes through TextLineStream", async () => {
  const path = await Deno.makeTempFile();
  await bytes().pipeTo(await openFileWritable(path));
  const theirs = (await Deno.open(path)).readable.pipeThrough(new LineStream());
  const ours = (await openFileReadable(path)).pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  assertEquals(await Array.fromAsync(theirs), await Array.fromAsync(ours));
});

Deno.test("zip, merge and concat take our streams", async () => {
  const numbers = () => ReadableStream.from([1, 2, 3]);
  assertEquals(await Array.fromAsync(zipReadableStreams(numbers(), ReadableStream.from([10, 20, 30]))), [1, 10, 2, 20, 3, 30]);
  assertEquals((await Array.fromAsync(mergeReadableStreams(numbers(), numbers()))).sort(), [1, 1, 2, 2, 3, 3]);
  assertEquals(await Array.fromAsync(concatReadableStreams(numbers(), numbers())), [1, 2, 3, 1, 2, 3]);
});

Deno.test("toText(), toBytes() and toJson() read our streams", async () => {
  assertEquals(await toText(bytes()), text);
  assertEquals((await toBytes(bytes())).length, new TextEncoder().encode(text).length);
  assertEquals(await toJson(ReadableStream.from(['{"a":', "[1]}"])), { a: [1] });
});

Deno.test("their transforms are in the middle of our pipes, and end in our writers", async () => {
  const batches: number[] = [];
  const sink = new BatchedWritableStream<string>({ writev: (chunks) => void batches.push(chunks.length) });
  const doubled = toTransformStream(async function* (source: globalThis.ReadableStream<string>) {
    for await (const line of source) yield line + line;
  });
  await bytes().pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream()).pipeThrough(doubled).pipeTo(sink);
  assertEquals(batches.reduce((sum, count) => sum + count), 5);
});

Deno.test("DelimiterStream cuts our bytes", async () => {
  const parts = bytes().pipeThrough(new DelimiterStream(new TextEncoder().encode("\\n")));
  assertEquals((await Array.fromAsync(parts)).length, 5);
});

Deno.test("an error of their transform ends our pipe, and reaches our source", async () => {
  let reason: unknown;
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(8)),
    cancel: (why) => void (reason = why),
  });
  const limited = source.pipeThrough(new LimitedBytesTransformStream(20, { error: true }));
  await assertRejects(() => Array.fromAsync(limited), RangeError);
  assertEquals(reason instanceof RangeError, true);
});
`,
  "tar_test.ts": `
import { assertEquals } from "@std/assert";
import { TarStream, type TarStreamInput, UntarStream } from "@std/tar";
import { CompressionStream, DecompressionStream } from "@millrace/streams/codecs";
import { openFileReadable, openFileWritable } from "@millrace/streams/files";
import { ReadableStream } from "@millrace/streams/streams";

Deno.test("tar of file streams through our codecs, and back to files", async () => {
  const folder = await Deno.makeTempDir();
  const contents: Record<string, string> = { "a.txt": "water ".repeat(50_000), "empty": "", "b/c.txt": "mill" };
  await Deno.mkdir(folder + "/b");
  const entries: TarStreamInput[] = [{ type: "directory", path: "b" }];
  for (const [path, text] of Object.entries(contents)) {
    await Deno.writeTextFile(folder + "/" + path, text);
    entries.push({ type: "file", path, size: text.length, readable: await openFileReadable(folder + "/" + path) });
  }
  const archive = folder + "/all.tar.zst";
  await ReadableStream.from(entries).pipeThrough(new TarStream())
    .pipeThrough(new CompressionStream("zstd", { level: 3 })).pipeTo(await openFileWritable(archive));
  const found: Record<string, string> = {};
  const unpacked = (await openFileReadable(archive)).pipeThrough(new DecompressionStream("zstd"))
    .pipeThrough(new UntarStream());
  for await (const { path, readable } of unpacked) {
    if (!readable) continue;
    const copy = folder + "/copy";
    await readable.pipeTo(await openFileWritable(copy));
    found[path] = await Deno.readTextFile(copy);
  }
  assertEquals(found, contents);
});

Deno.test("an entry that is cancelled does not keep the next one of our archive stream", async () => {
  const entry = (path: string): TarStreamInput => ({
    type: "file", path, size: 100_000, readable: ReadableStream.from([new Uint8Array(60_000), new Uint8Array(40_000)]),
  });
  const names: string[] = [];
  const archive = ReadableStream.from([entry("one"), entry("two")]).pipeThrough(new TarStream());
  for await (const { path, readable } of archive.pipeThrough(new UntarStream())) {
    names.push(path);
    await readable?.cancel();
  }
  assertEquals(names, ["one", "two"]);
});
`,
  "http_test.ts": `
import { assertEquals, assertMatch } from "@std/assert";
import { serveDir, serveFile } from "@std/http/file-server";
import { ServerSentEventStream } from "@std/http/server-sent-event-stream";
import { openFileReadable } from "@millrace/streams/files";
import { createStaticHandler } from "@millrace/streams/static";
import { ReadableStream } from "@millrace/streams/streams";
import { LineStream } from "@millrace/streams/text";

const folder = await Deno.makeTempDir();
const large = "the mill turns\\n".repeat(20_000);
await Deno.writeTextFile(folder + "/large.txt", large);
await Deno.writeTextFile(folder + "/small.txt", "water");

async function serving(handle: (request: Request) => Response | Promise<Response>, use: (url: string) => Promise<void>) {
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, handle);
  await use("http://127.0.0.1:" + server.addr.port);
}

Deno.test("our static handler and serveDir() give the same files and ranges, side by side", async () => {
  const handler = await createStaticHandler(folder, { basePath: "/ours/" });
  await serving((request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/ours/")) return handler.fetch(request);
    if (pathname === "/one") return serveFile(request, folder + "/small.txt");
    return serveDir(request, { fsRoot: folder, urlRoot: "theirs", quiet: true });
  }, async (url) => {
    for (const [path, init] of [["large.txt", {}], ["small.txt", {}], ["large.txt", { headers: { range: "bytes=5-99" } }],
      ["large.txt", { headers: { range: "bytes=999999999-" } }], ["large.txt", { method: "HEAD" }], ["missing", {}]] as const) {
      const [ours, theirs] = await Promise.all(["ours", "theirs"].map((side) => fetch(url + "/" + side + "/" + path, init)));
      assertEquals(ours.status, theirs.status, path);
      const isFile = ours.status === 200 || ours.status === 206;
      for (const name of isFile ? ["content-length", "content-range", "content-type"] : []) {
        assertEquals(ours.headers.get(name)?.toLowerCase(), theirs.headers.get(name)?.toLowerCase(), name + " of " + path);
      }
      const [one, other] = await Promise.all([ours.text(), theirs.text()]);
      if (isFile) assertEquals(one, other);
    }
    assertEquals(await (await fetch(url + "/one")).text(), "water");
  });
  await handler.close();
});

Deno.test("what our handler has not falls through to serveDir()", async () => {
  const site = await Deno.makeTempDir();
  await Deno.writeTextFile(site + "/index.html", "<title>Mill</title>");
  const handler = await createStaticHandler(site);
  await serving(async (request) => {
    const answer = await handler.fetch(request);
    return answer.status === 404 ? serveDir(request, { fsRoot: folder, quiet: true }) : answer;
  }, async (url) => {
    assertMatch(await (await fetch(url)).text(), /Mill/);
    assertEquals(await (await fetch(url + "/small.txt")).text(), "water");
    const missing = await fetch(url + "/neither");
    assertEquals(missing.status, 404);
    await missing.body?.cancel();
  });
  await handler.close();
});

Deno.test("a server answers with our streams, and visitors may leave", async () => {
  let cancelled = 0;
  await serving(async (request) => {
    if (new URL(request.url).pathname === "/file") return new Response(await openFileReadable(folder + "/large.txt"));
    return new Response(new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        controller.enqueue(new Uint8Array(1000));
      },
      cancel: () => void cancelled++,
    }));
  }, async (url) => {
    assertEquals(await (await fetch(url + "/file")).text(), large);
    const lines = (await fetch(url + "/file")).body!.pipeThrough(new LineStream());
    assertEquals((await Array.fromAsync(lines)).length, 20_000);
    const abort = new AbortController();
    const endless = await fetch(url + "/endless", { signal: abort.signal });
    await endless.body!.getReader().read();
    abort.abort();
    for (let tries = 0; cancelled === 0 && tries < 500; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
    assertEquals(cancelled, 1);
  });
});

Deno.test("server-sent events of our stream", async () => {
  const events = ReadableStream.from([{ data: "one" }, { event: "turn", data: "two" }]);
  const answer = new Response(events.pipeThrough(new ServerSentEventStream()));
  assertEquals(await answer.text(), "data:one\\n\\nevent:turn\\ndata:two\\n\\n");
});
`,
  "csv_json_test.ts": `
import { assertEquals } from "@std/assert";
import { CsvParseStream, CsvStringifyStream } from "@std/csv";
import { JsonParseStream, JsonStringifyStream } from "@std/json";
import { toText } from "@std/streams";
import { ReadableStream } from "@millrace/streams/streams";
import { LineStream } from "@millrace/streams/text";

Deno.test("CSV is read from our stream of bytes, and written into ours", async () => {
  const bytes = ReadableStream.from(["name,size\\nmi", "ll,3\\n\\"a, b\\",4\\n"]).pipeThrough(new TextEncoderStream());
  const rows = bytes.pipeThrough(new TextDecoderStream()).pipeThrough(new CsvParseStream({ skipFirstRow: true }));
  const found = await Array.fromAsync(rows);
  assertEquals(found, [{ name: "mill", size: "3" }, { name: "a, b", size: "4" }]);
  const written = ReadableStream.from(found).pipeThrough(new CsvStringifyStream({ columns: ["name", "size"] }));
  assertEquals(await toText(written), 'name,size\\r\\nmill,3\\r\\n"a, b",4\\r\\n');
});

Deno.test("lines of JSON are cut by LineStream and parsed by JsonParseStream", async () => {
  const lines = ReadableStream.from([{ a: 1 }, { b: [2] }]).pipeThrough(new JsonStringifyStream());
  const bytes = lines.pipeThrough(new TextEncoderStream());
  const parsed = bytes.pipeThrough(new LineStream()).pipeThrough(new JsonParseStream());
  assertEquals(await Array.fromAsync(parsed), [{ a: 1 }, { b: [2] }]);
});
`,
};
