import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { Readable } from "node:stream";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { WritableStream as OurWritableStream } from "../../../lib/streams/mod.ts";
import type { BodySource } from "../../../lib/upload/mod.ts";
import { type SavedForm, saveForm } from "../../../lib/upload/form/save_form.ts";
import { noise } from "../../support/bytes.ts";
import { cannotListOpenFiles, openFilesIn } from "../../files/written.ts";
import { inFolder } from "../../support/folders.ts";
import { chunksOf, requestOf, streamOf } from "../bodies.ts";
import { BOUNDARY, form, TYPE } from "./forms.ts";
import { until } from "../../support/waits.ts";

const large = noise(1_000_003, 5);

/** Returns a form with two texts and two files. */
function sample(): FormData {
  const data = new FormData();
  data.append("title", "Größe\r\nzwei");
  data.append("photo", new File([large], "a photo.JPG", { type: "image/jpeg" }));
  data.append("title", "");
  data.append("notes", new File(["one\ntwo"], "../../notes", { type: "text/html" }));
  return data;
}

const encoded = new Response(sample());
const type = encoded.headers.get("content-type")!;
const body = new Uint8Array(await encoded.arrayBuffer());

const request = (): Request => requestOf(chunksOf(body, 10_000), { "content-type": type });

/** Returns the result of `saveForm()` without the folder and the random names. */
function told({ fields, files, bytes }: SavedForm): unknown {
  return { fields: [...fields], bytes, files: files.map(({ path, ...file }) => [path && extname(path), file]) };
}

const sources: Record<string, () => BodySource> = {
  "a Request": () => request(),
  "a Request made with FormData": () => new Request("http://localhost/", { method: "POST", body: sample() }),
  "a Response": () => new Response(sample()),
  "a request of node": () =>
    Object.assign(Readable.from(chunksOf(body, 10_000), { objectMode: false }), {
      headers: { "content-type": type, "content-length": String(body.length) },
    }) as unknown as BodySource,
};

for (const [name, source] of Object.entries(sources)) {
  test(`saveForm() stores the files of ${name} under random names, and gives its fields`, () =>
    inFolder(async (folder) => {
      const saved = await saveForm(source(), folder);
      assert.deepEqual(told(saved), {
        fields: [["title", "Größe\r\nzwei"], ["title", ""]],
        files: [
          [".jpg", { name: "photo", filename: "a photo.JPG", contentType: "image/jpeg", bytes: large.length }],
          [".html", { name: "notes", filename: "../../notes", contentType: saved.files[1].contentType, bytes: 7 }],
        ],
        bytes: large.length + 7,
      });
      assert.match(saved.files[1].contentType, /^text\/html(;\s*charset=utf-8)?$/); // Bun says of text what it is
      assert.deepEqual(
        (await readdir(folder)).sort(),
        saved.files.map(({ path }) => path!.slice(folder.length + 1)).sort(),
      );
      assert.ok((await readFile(saved.files[0].path!)).equals(large));
      assert.equal(await readFile(saved.files[1].path!, "utf8"), "one\ntwo");
    }));
}

test("a bare stream is a form by the option contentType", () =>
  inFolder(async (folder) => {
    const saved = await saveForm(streamOf(chunksOf(body, 77_777)), pathToFileURL(folder), { contentType: type });
    assert.equal(saved.bytes, large.length + 7);
    await assert.rejects(saveForm(streamOf([body]), folder), {
      name: "TypeError",
      message: "A bare stream has no Content-Type: give the form's as the option contentType",
    });
  }));

test("a function says where each file goes, and which is skipped", () =>
  inFolder(async (folder) => {
    const asked: unknown[] = [];
    const chunks: Uint8Array[] = [];
    let isClosed = false;
    const stream = new OurWritableStream<Uint8Array>({
      write: (chunk) => void chunks.push(chunk),
      close: () => void (isClosed = true),
    });
    const data = sample();
    for (const name of ["skipped", "later", "streamed", "url"]) data.append(name, new File([large], `${name}.bin`));
    const saved = await saveForm(new Response(data), async (part) => {
      asked.push({ ...part });
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (part.name === "skipped" || part.name === "notes") return undefined;
      if (part.name === "streamed") return stream;
      return part.name === "url" ? pathToFileURL(join(folder, "by url")) : join(folder, part.name);
    }, { digest: "sha-512" });
    assert.equal(asked.length, 6);
    assert.deepEqual(asked[2], { name: "skipped", filename: "skipped.bin", contentType: "application/octet-stream" });
    const digest = `sha-512=:${createHash("sha512").update(large).digest("base64")}:`;
    assert.deepEqual(
      saved.files.map((file) => [file.name, file.bytes, file.digest, file.path]),
      [["photo", "photo"], ["later", "later"], ["streamed"], ["url", "by url"]].map((
        [name, path],
      ) => [name, large.length, digest, path && join(folder, path)]),
    );
    assert.deepEqual((await readdir(folder)).sort(), ["by url", "later", "photo"]);
    for (const name of ["photo", "later", "by url"]) assert.ok((await readFile(join(folder, name))).equals(large));
    assert.ok(isClosed && Buffer.concat(chunks).equals(large));
  }));

test("destinations are below the root, which they cannot leave", () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "deep"));
    const saved = await saveForm(request(), ({ name }) => `deep/${name}`, { root: folder });
    assert.deepEqual(saved.files.map(({ path }) => path), [join(folder, "deep/photo"), join(folder, "deep/notes")]);
    assert.equal((await saveForm(request(), "deep", { root: folder })).files.length, 2);
    assert.equal((await readdir(join(folder, "deep"))).length, 4);
    await assert.rejects(
      saveForm(request(), ({ filename }) => filename, { root: join(folder, "deep"), overwrite: true }),
      {
        code: "OUTSIDE_ROOT",
        status: 400,
      },
    );
    assert.equal((await readdir(join(folder, "deep"))).length, 4);
  }));

test("files appear together when the form is complete, and are closed as soon as they are received", () =>
  inFolder(async (folder) => {
    const half = form(`--${BOUNDARY}\nContent-Disposition: form-data; name="a"; filename="a"\n\none\n--${BOUNDARY}`);
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const source = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
    let count = 0;
    const saving = saveForm(source, () => join(folder, `file ${++count}`), { contentType: TYPE });
    controller.enqueue(half);
    controller.enqueue(form(`\nContent-Disposition: form-data; name="b"; filename="b"\n\ntwo\n--${BOUNDARY}`));
    const visible = async () => (await readdir(folder)).filter((name) => name.startsWith("file"));
    await until(
      async () => (await readdir(folder)).length === 2 && openFilesIn(`${folder}/`).length <= 1,
      "two entries, one of them open",
    );
    assert.deepEqual(await visible(), []);
    controller.enqueue(form("--\nand what follows"));
    await until(() => openFilesIn(`${folder}/`).length === 0, "closed files");
    assert.deepEqual([(await readdir(folder)).length, await visible()], [2, []]);
    controller.close();
    assert.equal((await saving).files.length, 2);
    assert.deepEqual((await readdir(folder)).sort(), ["file 1", "file 2"]);
    assert.equal(await readFile(join(folder, "file 2"), "utf8"), "two");
  }));

test("an input where no file was chosen is skipped, an empty file is not", () =>
  inFolder(async (folder) => {
    const nothing = 'Content-Disposition: form-data; name="a"; filename=""\nContent-Type: application/octet-stream\n';
    const empty = 'Content-Disposition: form-data; name="b"; filename="empty.txt"\n';
    const nameless = 'Content-Disposition: form-data; name="c"; filename=""\n';
    const parts = [`${nothing}\n`, `${empty}\n`, `${nameless}\nsome`, `${nothing}\n`];
    const bytes = form(parts.map((part) => `--${BOUNDARY}\n${part}\n`).join("") + `--${BOUNDARY}--`);
    const saved = await saveForm(requestOf([bytes], { "content-type": TYPE }), folder);
    assert.deepEqual(saved.files.map(({ name, bytes }) => [name, bytes]), [["b", 0], ["c", 4]]);
    assert.deepEqual([...saved.fields], []);
    assert.equal((await stat(saved.files[0].path!)).size, 0);
    assert.equal((await readdir(folder)).length, 2);
  }));

test("a form without parts is stored as nothing", () =>
  inFolder(async (folder) => {
    const saved = await saveForm(requestOf([form(`--${BOUNDARY}--\n`)], { "content-type": TYPE }), folder);
    assert.deepEqual(told(saved), { fields: [], files: [], bytes: 0 });
  }));

test("texts are UTF-8 with all they begin with, whatever _charset_ and charset say", async () => {
  const header = (name: string) => `--${BOUNDARY}\nContent-Disposition: form-data; name="${name}"\n`;
  const bytes = form(
    `${header("_charset_")}\niso-8859-1\n${header("a")}Content-Type: text/plain; charset=iso-8859-1\n\né\n` +
      `${header("b")}\n\ufeffé\0\n--${BOUNDARY}--`,
  );
  const { fields } = await saveForm(requestOf([bytes], { "content-type": TYPE }), () => undefined);
  assert.deepEqual([...fields], [["_charset_", "iso-8859-1"], ["a", "é"], ["b", "\ufeffé\0"]]);
});

test("bytes of a text that are no UTF-8 are replaced as formData() does it, also where pieces end", async () => {
  const text = [0xff, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f];
  const bytes = Buffer.concat([
    form(`--${BOUNDARY}\nContent-Disposition: form-data; name="a"\n\n`),
    Uint8Array.from(text),
    form(`\n--${BOUNDARY}--`),
  ]);
  const native = await new Response(bytes, { headers: { "content-type": TYPE } }).formData();
  const single = requestOf([...bytes].map((byte) => Uint8Array.of(byte)), { "content-type": TYPE });
  assert.equal((await saveForm(single, () => undefined)).fields.get("a"), native.get("a"));
  assert.equal(native.get("a"), "\ufffdé€\ufffd");
});

test("a compressed form is stored with decode, and not accepted without", () =>
  inFolder(async (folder) => {
    const headers = { "content-type": type, "content-encoding": "gzip" };
    const compressed = () => requestOf(chunksOf(Uint8Array.from(gzipSync(body)), 5000), headers);
    assert.equal((await saveForm(compressed(), folder, { decode: true })).bytes, large.length + 7);
    await assert.rejects(saveForm(compressed(), folder), {
      code: "UNSUPPORTED",
      status: 415,
      message: 'A form with the Content-Encoding "gzip" is not accepted',
    });
    const identity = requestOf([body], { "content-type": type, "content-encoding": "identity" });
    assert.equal((await saveForm(identity, folder)).files.length, 2);
  }));

test("the digest, the length and the limit of the whole body hold, and its progress is told", () =>
  inFolder(async (folder) => {
    const digest = (bytes: Uint8Array) => `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
    const withFields = (fields: Record<string, string>) =>
      requestOf(chunksOf(body, 50_000), { "content-type": type, ...fields });
    let last = 0;
    const good = withFields({ "content-digest": digest(body), "content-length": String(body.length) });
    await saveForm(good, folder, { maxBytes: body.length, onProgress: ({ bytes }) => last = bytes });
    assert.equal(last, body.length);
    const before = await readdir(folder);
    const wrong = withFields({ "content-digest": digest(large) });
    await assert.rejects(saveForm(wrong, folder), { code: "DIGEST_MISMATCH", status: 422 });
    await assert.rejects(saveForm(request(), folder, { maxBytes: body.length - 1 }), {
      code: "TOO_LARGE",
      status: 413,
    });
    await assert.rejects(saveForm(request(), folder, { expectedBytes: body.length + 1 }), { code: "BAD_LENGTH" });
    assert.deepEqual(await readdir(folder), before);
  }));

test("a body that is no form is not accepted", async () => {
  const wrong = [undefined, "text/plain", "multipart/mixed; boundary=a", "multipart/form-dataX; boundary=a", ""];
  for (const contentType of wrong) {
    const bare = new Request("http://localhost/", { method: "POST", body: new Uint8Array(1) });
    const given = contentType === undefined ? bare : requestOf(["x"], { "content-type": contentType });
    await assert.rejects(saveForm(given, "nowhere"), { code: "UNSUPPORTED", status: 415 }, contentType);
    assert.equal(given.bodyUsed, false, "it is not read, so that it can be taken for something else");
  }
});

test("a form whose type does not tell its boundary is malformed", async () => {
  const parameters = ["", "; boundary", "; boundary=", '; boundary=""', '; boundary="a', "; boundary=a; boundary=b"];
  const wrong = [...parameters, `; boundary=${"x".repeat(71)}`, '; boundary="a\tb"', '; boundary="a "', "; boundary=é"];
  for (const parameter of wrong) {
    const contentType = `multipart/form-data${parameter}`;
    await assert.rejects(saveForm(streamOf(["x"]), "nowhere", { contentType }), { code: "MALFORMED" }, contentType);
  }
});

test("a boundary that would take too long to look for is malformed", async () => {
  for (const boundary of ["-".repeat(70), `b${"a".repeat(60)}`, "-".repeat(31), "ab".repeat(35)]) {
    const contentType = `multipart/form-data; boundary=${boundary}`;
    await assert.rejects(saveForm(streamOf(["x"]), "nowhere", { contentType }), {
      message: `The form is malformed: its boundary "${boundary}" repeats itself more than 32 times`,
    });
  }
  for (const boundary of ["-".repeat(30), `${"-".repeat(69)}1`, "abc".repeat(23)]) {
    const contentType = `multipart/form-data; boundary=${boundary}`;
    await saveForm(streamOf([`--${boundary}--`]), "nowhere", { contentType });
  }
});

test("the boundary may be written in every way that senders have", () =>
  inFolder(async (folder) => {
    const bytes = (boundary: string) =>
      form(`--${boundary}\nContent-Disposition: form-data; name="a"\n\nv\n--${boundary}--`);
    const ways = [
      ["multipart/form-data; boundary=abc", "abc"],
      ['Multipart/Form-Data;BOUNDARY="a b\\"c" ; charset=utf-8', 'a b"c'],
      ["multipart/form-data; charset=utf-8; boundary=----=_Part_1:2/3 ", "----=_Part_1:2/3"],
    ];
    for (const [contentType, boundary] of ways) {
      const { fields } = await saveForm(streamOf([bytes(boundary)]), folder, { contentType });
      assert.deepEqual([...fields], [["a", "v"]], contentType);
    }
  }));

test("arguments that are not what they have to be are told, and nothing is read", async () => {
  const given = request();
  const wrong: [unknown, unknown, RegExp][] = [
    ["folder", { maxParts: -1 }, /^RangeError: maxParts -1 is out of range: use a whole number from 0$/],
    ["folder", { maxFieldBytes: "1" }, /^TypeError: maxFieldBytes must be a whole number from 0, not "1"$/],
    [
      "folder",
      { maxHeaderBytes: 16_385 },
      /^RangeError: maxHeaderBytes 16385 is out of range: use a whole number from 1 to 16384$/,
    ],
    ["folder", { maxHeaderBytes: 0 }, /^RangeError: maxHeaderBytes 0 is out of range/],
    ["folder", { maxBytes: NaN }, /^RangeError: maxBytes/],
    ["folder", { contentType: 1 }, /^TypeError: contentType must be a string, not 1$/],
    [undefined, {}, /^TypeError: The destination of a form must be a folder's path or file: URL, or a function/],
    [new WritableStream(), {}, /^TypeError: The destination of a form must be/],
  ];
  for (const [destination, options, message] of wrong) {
    await assert.rejects(
      saveForm(given, destination as string, options as object),
      (error) => message.test(String(error)),
    );
  }
  await assert.rejects(saveForm(null as unknown as Request, "folder"), TypeError);
  await assert.rejects(saveForm({} as unknown as Request, "folder", { contentType: TYPE }), TypeError);
  assert.equal(given.bodyUsed, false);
});

test("no file is open after a form", { skip: cannotListOpenFiles }, () =>
  inFolder(async (folder) => {
    await saveForm(request(), folder);
    assert.deepEqual(openFilesIn(`${folder}/`), []);
  }));
