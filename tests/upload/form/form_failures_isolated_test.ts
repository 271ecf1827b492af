import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { RotatingFileWritable } from "../../../lib/files/mod.ts";
import type { FormDestination, SaveFormOptions } from "../../../lib/upload/form/form_options.ts";
import { saveForm } from "../../../lib/upload/form/save_form.ts";
import { noise } from "../../support/bytes.ts";
import { openFilesIn } from "../../files/written.ts";
import { inFolder } from "../../support/folders.ts";
import { requestOf, streamOf } from "../bodies.ts";
import { BOUNDARY, form, TYPE } from "./forms.ts";
import { needs } from "../../support/needs.ts";

const head = (name: string) =>
  form(`--${BOUNDARY}\nContent-Disposition: form-data; name="${name}"; filename="${name}"\n\n`);
const lineEnd = form("\n");
const last = form(`--${BOUNDARY}--\n`);
const bytes = noise(200_000, 3);

/** Returns a form with files of these names, all with the given bytes. */
const filesNamed = (
  ...names: string[]
): Uint8Array[] => [...names.flatMap((name) => [head(name), bytes, lineEnd]), last];
const requestWith = (pieces: Uint8Array[]): Request => requestOf(pieces, { "content-type": TYPE });

/** Returns the names in a folder, with the contents of files. */
async function contentsOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), "latin1").catch(() => "")]);
  return Object.fromEntries(await Promise.all(texts));
}

/** Checks that a form fails in this way and leaves nothing: no file, no descriptor, and a source that is released. */
async function assertNothingLeft(
  folder: string,
  source: Request | ReadableStream<Uint8Array>,
  destination: FormDestination,
  expected: object,
  options: SaveFormOptions = {},
): Promise<void> {
  const before = await contentsOf(folder);
  await assert.rejects(saveForm(source, destination, options), expected);
  assert.deepEqual(await contentsOf(folder), before);
  assert.deepEqual(openFilesIn(`${folder}/`), []);
}

test("of a form that ends anywhere before its end, nothing is left", () =>
  inFolder(async (folder) => {
    const whole = Buffer.concat([head("a"), new Uint8Array(50), lineEnd, head("b"), new Uint8Array(50), lineEnd, last]);
    for (let length = 0; length < whole.length - 2; length += 7) {
      const cut = requestWith([Uint8Array.from(whole.subarray(0, length))]);
      await assertNothingLeft(folder, cut, ({ name }) => join(folder, name), { code: "MALFORMED", status: 400 });
    }
  }));

test("of a form whose sender leaves, nothing is left", () =>
  inFolder(async (folder) => {
    const pieces = filesNamed("a", "b");
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (pieces.length > 1) controller.enqueue(piece!);
        else controller.error(new Error("ECONNRESET"));
      },
    });
    const init = { method: "POST", body: source, duplex: "half", headers: { "content-type": TYPE } };
    const request = new Request("http://localhost/", init as RequestInit);
    await assertNothingLeft(folder, request, ({ name }) => join(folder, name), { code: "ABORTED", status: 499 });
  }));

test("of a form with a file that exists, nothing is left but that", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "b"), "old");
    const source = requestWith(filesNamed("a", "b", "c"));
    await assertNothingLeft(folder, source, ({ name }) => join(folder, name), { code: "EXISTS", status: 409 });
  }));

test("files of a form that would have the same destination are an error", () =>
  inFolder(async (folder) => {
    for (const overwrite of [false, true]) {
      const message = 'The file "c" of the field "c" would have the same destination as another file of the form';
      const same: FormDestination = ({ name }) =>
        name === "b" ? join(folder, "other") : join(folder, "./sub/..", "same");
      await mkdir(join(folder, "sub"), { recursive: true });
      const source = requestWith(filesNamed("a", "b", "c"));
      await assertNothingLeft(folder, source, same, { code: "EXISTS", status: 409, message }, { overwrite });
    }
  }));

test("files of a form whose names reach the same file by links are an error", () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "sub"));
    await writeFile(join(folder, "sub", "file"), "old");
    for (const [to, name] of [["sub", "link"], ["sub/file", "there"], ["sub/new", "dangling"]]) {
      await symlink(to, join(folder, name));
    }
    const pairs = [["sub/x", "link/x"], ["sub/file", "link/file"], ["sub/file", "there"], ["sub/new", "dangling"]];
    for (const [one, other] of pairs) {
      for (const root of [undefined, folder]) {
        if (root !== undefined && !other.includes("/")) continue; // a link is replaced there
        const destine: FormDestination = ({ name }) =>
          join(root === undefined ? folder : "", name === "a" ? one : other);
        const options = { overwrite: true, root };
        await assert.rejects(saveForm(requestWith(filesNamed("a", "b")), destine, options), { code: "EXISTS" });
        assert.deepEqual(await contentsOf(join(folder, "sub")), { file: "old" });
      }
    }
  }));

test("a stream for two files of a form is an error", () =>
  inFolder(async (folder) => {
    let reason: unknown;
    const stream = new WritableStream<Uint8Array>({ abort: (given) => void (reason = given) });
    await assertNothingLeft(folder, requestWith(filesNamed("a", "b")), () => stream, { code: "EXISTS" });
    assert.equal((reason as { code?: unknown }).code, "EXISTS");
    const rotating = new RotatingFileWritable({ directory: folder, maxFileSize: 1000 });
    await assert.rejects(saveForm(requestWith(filesNamed("a", "b")), () => rotating), { code: "EXISTS" });
  }));

test("of a form whose destination cannot be told, nothing is left", () =>
  inFolder(async (folder) => {
    const failure = new Error("no place");
    const fail = () => {
      throw failure;
    };
    for (const wrong of [fail, () => Promise.reject(failure)]) {
      let isCancelled: unknown;
      const pieces = filesNamed("a", "b", "c");
      const source = new ReadableStream<Uint8Array>({
        pull: (controller) => pieces.length > 0 ? controller.enqueue(pieces.shift()!) : controller.close(),
        cancel: (reason) => void (isCancelled = reason),
      }, { highWaterMark: 0 });
      const destination: FormDestination = ({ name }) => name === "b" ? wrong() : join(folder, name);
      const given = await saveForm(source, destination, { contentType: TYPE }).catch((error) => error);
      assert.equal(given, failure);
      assert.ok(isCancelled === failure || pieces.length === 0);
      assert.deepEqual([await readdir(folder), openFilesIn(`${folder}/`)], [[], []]);
    }
    for (const wrong of [1, null, {}]) {
      const destination = (({ name }) => name === "b" ? wrong : join(folder, name)) as FormDestination;
      await assertNothingLeft(folder, requestWith(filesNamed("a", "b")), destination, { name: "TypeError" });
    }
  }));

test("of a form with a file whose folder is missing, nothing is left", () =>
  inFolder(async (folder) => {
    const destination: FormDestination = ({ name }) =>
      name === "b" ? join(folder, "missing", name) : join(folder, name);
    await assertNothingLeft(folder, requestWith(filesNamed("a", "b")), destination, { code: "ENOENT" });
  }));

test("of a form whose stream fails, nothing is left", () =>
  inFolder(async (folder) => {
    const failure = new Error("full");
    for (const sink of [{ write: () => Promise.reject(failure) }, { close: () => Promise.reject(failure) }]) {
      const destination: FormDestination = ({ name }) => name === "b" ? new WritableStream(sink) : join(folder, name);
      await assertNothingLeft(folder, requestWith(filesNamed("a", "b", "c")), destination, failure);
    }
  }));

/** Stores the files of a form, and does something when they are received, before they get their names. */
async function interfere(
  folder: string,
  names: string[],
  act: () => Promise<unknown>,
  overwrite = false,
): Promise<unknown> {
  let isClosed = false;
  const acting = new WritableStream<Uint8Array>({
    write: async () => void await act(),
    close: () => void (isClosed = true),
  });
  const destination: FormDestination = ({ name }) => name === "last" ? acting : join(folder, name);
  const source = requestWith(filesNamed(...names, "last"));
  const outcome = await saveForm(source, destination, { overwrite }).catch((error) => error);
  assert.deepEqual(openFilesIn(`${folder}/`), []);
  assert.equal(isClosed, false, "the stream is aborted");
  return outcome;
}

test("if a file cannot have its name, those before it are removed again", () =>
  inFolder(async (folder) => {
    const take = async () => {
      assert.deepEqual((await readdir(folder)).filter((name) => !name.startsWith(".")), []);
      await writeFile(join(folder, "c"), "taken");
    };
    const error = await interfere(folder, ["a", "b", "c", "d"], take) as { code?: unknown; status?: unknown };
    assert.deepEqual([error.code, error.status], ["EXISTS", 409]);
    assert.deepEqual(await contentsOf(folder), { c: "taken" });
  }));

test("if a file cannot have its name, those that have replaced another stay", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "a"), "old");
    const error = await interfere(folder, ["a", "b", "c", "d"], () => mkdir(join(folder, "c")), true);
    assert.ok(error instanceof Error);
    assert.deepEqual((await readdir(folder)).sort(), ["a", "c"]);
    assert.ok((await readFile(join(folder, "a"))).equals(bytes));
  }));

test(
  "a link that a file is written through is not removed",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, "elsewhere"));
      await writeFile(join(folder, "elsewhere", "file"), "old");
      await symlink(join(folder, "elsewhere", "file"), join(folder, "a"));
      await interfere(folder, ["a", "b"], () => mkdir(join(folder, "b")), true);
      assert.deepEqual((await readdir(folder)).sort(), ["a", "b", "elsewhere"]);
      assert.ok((await readFile(join(folder, "elsewhere", "file"))).equals(bytes));
    }),
);

test("a signal ends a form with its reason, whatever is being waited for", () =>
  inFolder(async (folder) => {
    const never = new Promise<never>(() => {});
    const stuck = (pieces: Uint8Array[]) =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => pieces.length > 0 ? controller.enqueue(pieces.shift()!) : never,
      });
    const here: FormDestination = ({ name }) => join(folder, name);
    const waits: [ReadableStream<Uint8Array>, FormDestination][] = [
      [stuck([]), here],
      [stuck([head("a"), bytes]), here],
      [stuck(filesNamed("a", "b").slice(0, -1)), here],
      [streamOf(filesNamed("a", "b")), ({ name }) => name === "b" ? never : join(folder, name)],
      [streamOf(filesNamed("a", "b")), ({ name }) =>
        name === "b" ? new WritableStream({ write: () => never }) : join(folder, name)],
      [streamOf(filesNamed("a", "b")), ({ name }) =>
        name === "b"
          ? new WritableStream({ close: () => never })
          : join(folder, name)],
    ];
    for (const [source, destination] of waits) {
      const reason = new Error("enough");
      const controller = new AbortController();
      const saving = saveForm(source, destination, { contentType: TYPE, signal: controller.signal });
      setTimeout(() =>
        controller.abort(reason), 30);
      assert.equal(await saving.catch((error) => error), reason);
      assert.deepEqual([await readdir(folder), openFilesIn(`${folder}/`)], [[], []]);
    }
    await assertNothingLeft(folder, streamOf(filesNamed("a")), here, { name: "AbortError" }, {
      contentType: TYPE,
      signal: AbortSignal.abort(),
    });
  }));

test("a sender that is too slow ends a form", () =>
  inFolder(async (folder) => {
    const pieces = [head("a"), bytes];
    const slow = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => pieces[0] ? controller.enqueue(pieces.shift()!) : new Promise(() => {}),
      });
    for (const limit of [{ idleTimeout: 30 }, { timeout: 50 }]) {
      await assertNothingLeft(folder, slow(), folder, { code: "TIMEOUT", status: 408 }, {
        contentType: TYPE,
        ...limit,
      });
    }
  }));

test("a destination that waits for nothing ends with the sender", () =>
  inFolder(async (folder) => {
    let fail!: (error: Error) => void;
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of [head("a"), bytes, lineEnd, head("b"), bytes]) controller.enqueue(piece);
        fail = (error) => controller.error(error);
      },
    });
    const gone = new Error("gone");
    const destination: FormDestination = ({ name }) => {
      if (name === "a") return join(folder, "a");
      setTimeout(() => fail(gone), 20);
      return new Promise(() => {});
    };
    await assertNothingLeft(folder, source, destination, gone, { contentType: TYPE });
  }));

test("a stream that takes nothing ends with the sender", () =>
  inFolder(async (folder) => {
    const gone = new Error("gone");
    let reason: unknown;
    let fail!: () => void;
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of [head("a"), bytes, lineEnd, head("b"), bytes]) controller.enqueue(piece);
        fail = () => controller.error(gone);
      },
    });
    const stalled = new WritableStream<Uint8Array>({
      write: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => reason = signal.reason);
          setTimeout(fail, 20);
        }),
    });
    const destination: FormDestination = ({ name }) => name === "b" ? stalled : join(folder, name);
    await assertNothingLeft(folder, source, destination, gone, { contentType: TYPE });
    assert.equal(reason, gone);
  }));

test("a destination that is told too late is not opened", () =>
  inFolder(async (folder) => {
    let tell!: (path: string) => void;
    let fail!: (error: Error) => void;
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of [head("a"), bytes]) controller.enqueue(piece);
        fail = (error) => controller.error(error);
      },
    });
    const destination: FormDestination = () =>
      new Promise((resolve) => {
        tell = resolve;
        setTimeout(() => fail(new Error("gone")), 20);
      });
    await assertNothingLeft(folder, source, destination, { message: "gone" }, { contentType: TYPE });
    tell(join(folder, "late"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.deepEqual([await readdir(folder), openFilesIn(`${folder}/`)], [[], []]);
  }));

test("forms that go on at the same time do not disturb each other", () =>
  inFolder(async (folder) => {
    const forms = Array.from({ length: 20 }, (_, index) => index);
    const outcomes = await Promise.allSettled(forms.map((index) => {
      const pieces = filesNamed("a", "b", "c");
      if (index % 2) pieces.pop();
      return saveForm(requestWith(pieces), ({ name }) => join(folder, `${name}${index}`));
    }));
    assert.deepEqual(outcomes.map(({ status }) => status === "fulfilled"), forms.map((index) => index % 2 === 0));
    const names = forms.filter((index) => index % 2 === 0).flatMap((index) => [`a${index}`, `b${index}`, `c${index}`]);
    assert.deepEqual((await readdir(folder)).sort(), names.sort());
    for (const name of names) assert.ok((await readFile(join(folder, name))).equals(bytes));
    await rm(folder, { recursive: true });
    await mkdir(folder);
  }));
