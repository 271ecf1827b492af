import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import type { FakeStore } from "../../s3/fake_store.ts";
import { writeTree } from "../../support/folders.ts";
import { type ClientAnswer, RawClient } from "../handler/raw_client.ts";
import { contentsOf, type Serving, serving } from "../handler/serving_handler.ts";

/** A request and its response; `{upload}` is replaced by the path of the last upload that was created. */
export interface Step {
  readonly request: readonly [method: string, target: string, ...lines: string[]];
  /** Sent with Content-Length, unless a line says how it is sent. */
  readonly body?: string;
  /** Whether the connection is cut after the body, rather than the response waited for. */
  readonly isCut?: boolean;
  readonly status?: number;
  /** Fields of the response; undefined for those that must be missing. */
  readonly fields?: Readonly<Record<string, string | RegExp | undefined>>;
  /** Members of the problem. */
  readonly problem?: Readonly<Record<string, unknown>>;
  /** Fields of each interim response, on entries that send some. Default: not looked at. */
  readonly interim?: readonly Readonly<Record<string, string | RegExp | undefined>>[];
}

/** Successive requests, and the files stored at the end. */
export interface ExchangeCase {
  readonly name: string;
  readonly options?: Partial<UploadHandlerOptions>;
  /** The files stored before the first step. */
  readonly files?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
  /** The files stored at the end; default: those before the first step. */
  readonly left?: Readonly<Record<string, string>>;
}

/** The ways to a handler that send interim responses. */
const INFORMING: readonly string[] = ["node:http"];

/**
 * Sends the requests of a case and checks the responses and the stored files.
 *
 * @param store The store with the bucket that files are stored in. Default: a folder.
 */
export async function run(entry: string, expected: ExchangeCase, store?: FakeStore): Promise<void> {
  try {
    await runOnce(entry, expected, store, 100);
  } catch (error) {
    if (!expected.steps.some(({ isCut }) => isCut)) throw error;
    await runOnce(entry, expected, store, 5_000); // on a busy machine a cut may come before the body is read
  }
}

/** @param cutAfter How long a connection that is to be cut stays open after its body was sent, in ms. */
async function runOnce(
  entry: string,
  expected: ExchangeCase,
  store: FakeStore | undefined,
  cutAfter: number,
): Promise<void> {
  const storage = store && { storage: store.bucket() };
  await serving(entry, { resumable: true, ...expected.options, ...storage }, async (server) => {
    for (const [key, text] of Object.entries(expected.files ?? {})) await storage?.storage.put(key, text);
    if (storage === undefined) await writeTree(server.folder, expected.files ?? {});
    let upload = "";
    for (const [index, step] of expected.steps.entries()) {
      const place = (text: string): string => text.replaceAll("{upload}", upload);
      const found = await ask(
        server,
        { ...step, request: step.request.map(place) as unknown as Step["request"] },
        cutAfter,
      );
      if (found === undefined) continue;
      const { answer, interim } = found;
      const what = `step ${index + 1}: ${answer.all}`;
      const location = answer.fields.get("location") ?? "";
      if (/[0-9a-f]{32}$/.test(location)) upload = location;
      assert.equal(answer.status, step.status, what);
      requireFields(answer, step.fields ?? {}, place, what);
      if (step.problem) {
        assert.equal(answer.fields.get("content-type"), "application/problem+json", what);
        const problem = JSON.parse(answer.body);
        for (const [name, value] of Object.entries(step.problem)) assert.deepEqual(problem[name], value, what);
      }
      assert.ok(!answer.all.includes(server.folder), "the response tells a path of the server");
      if (step.interim === undefined || !INFORMING.includes(entry)) continue;
      assert.equal(interim.length, step.interim.length, `${interim.map(({ all }) => all)}${what}`);
      for (const [i, fields] of step.interim.entries()) requireFields(interim[i], fields, place, what);
    }
    const left = store === undefined ? await filesIn(server.folder) : objectsIn(store);
    assert.deepEqual(left, expected.left ?? expected.files ?? {});
  });
}

/** Sends a request; gives its response, with those before it; nothing if it is cut, `cutAfter` ms after its body. */
export async function ask(
  { port }: Pick<Serving, "port">,
  { request: [method, target, ...lines], body, isCut }: Step,
  cutAfter = 0,
): Promise<{ readonly answer: ClientAnswer; readonly interim: readonly ClientAnswer[] } | undefined> {
  const client = await RawClient.open(port);
  try {
    const isLong = body === undefined || lines.some((line) => /^(?:content-length|transfer-encoding):/i.test(line));
    const length = isLong ? [] : [`Content-Length: ${Buffer.byteLength(body, "latin1")}`];
    client.ask(method, target, [...lines, ...length, "Connection: close"]);
    if (body !== undefined) client.send(body);
    if (isCut) {
      await new Promise((resolve) => setTimeout(resolve, cutAfter));
      return undefined;
    }
    const interim: ClientAnswer[] = [];
    for (;;) {
      const answer = await client.answer(method);
      if (answer.status >= 200) return { answer, interim };
      interim.push(answer);
    }
  } finally {
    client.close();
  }
}

/** Returns the files in a folder, without unfinished ones. */
export async function filesIn(folder: string): Promise<Record<string, string>> {
  const all = await contentsOf(folder);
  return Object.fromEntries(Object.entries(all).filter(([path]) => !path.startsWith(".millrace-uploads/")));
}

/** Returns the objects of a store, without unfinished ones. */
export function objectsIn(store: FakeStore): Record<string, string> {
  const objects = [...store.objects].filter(([key]) => !key.startsWith(".millrace-uploads/"));
  return Object.fromEntries(objects.map(([key, { bytes }]) => [key, Buffer.from(bytes).toString("latin1")]).sort());
}

function requireFields(
  { fields }: ClientAnswer,
  expected: Readonly<Record<string, string | RegExp | undefined>>,
  place: (text: string) => string,
  what: string,
): void {
  for (const [name, value] of Object.entries(expected)) {
    const found = fields.get(name);
    if (value instanceof RegExp) assert.match(found ?? "", value, `${name} of ${what}`);
    else assert.equal(found, value && place(value), `${name} of ${what}`);
  }
}
