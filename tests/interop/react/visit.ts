import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { DecompressionStream, type Format } from "../../../lib/codecs/mod.ts";
import { fromNodeReadable } from "../../../lib/node/mod.ts";
import { within } from "../../support/waits.ts";

/** Requests a page. */
export function ask(port: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", agent: false }, resolve).on("error", reject);
  });
}

const formats: Readonly<Record<string, Format>> = { br: "brotli", gzip: "gzip", zstd: "zstd" };

/** Returns the text of a page as it comes, out of its coding. */
export function textOf(response: IncomingMessage): AsyncIterator<string> {
  const coding = response.headers["content-encoding"];
  const bytes = fromNodeReadable<Uint8Array<ArrayBuffer>>(response);
  const plain = coding === undefined ? bytes : bytes.pipeThrough(new DecompressionStream(formats[coding]));
  return plain.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
}

/** Reads on until `text` holds `wanted`. */
export async function readUntil(wanted: string, text: AsyncIterator<string>, before = ""): Promise<string> {
  let all = before;
  while (!all.includes(wanted)) {
    const { done, value } = await within(text.next(), `"${wanted}"`);
    assert.ok(!done, `the page ended without "${wanted}": ${all}`);
    all += value;
  }
  return all;
}

/** Checks that the shell of a page comes before what it waits for, and then all of it. */
export async function visitWhileItWaits(port: number, release: () => void): Promise<void> {
  const text = textOf(await ask(port));
  const shell = await readUntil("it waits", text);
  assert.match(shell, /item 49.*shell/s);
  assert.ok(!shell.includes("it came late"), "the shell did not come first");
  release();
  const all = await readUntil("it came late", text, shell);
  assert.match(all, /^<!DOCTYPE html><html>/);
  for (let rest = await text.next(); !rest.done; rest = await text.next());
}
