/** The orders in which two copies of the package are uninstalled, with the one that is left after the first. */
export const orders: readonly (readonly [order: string, left: string])[] = [["[a, b]", "b"], ["[b, a]", "a"]];

/**
 * Returns a module that installs the copies in `a/` and `b/` of a folder, uninstalls them in an order, and records its
 * observations in `seen`.
 */
export function installsCopies(folder: string, order: string): string {
  return `
const native = globalThis.ReadableStream;
const a = await import("${folder}/a/install.js"), ofA = globalThis.ReadableStream;
const b = await import("${folder}/b/install.js"), ofB = globalThis.ReadableStream;
const is = (Class) => [native, ofA, ofB].map((Class) => new Class()).concat(new Blob().stream(), new Response("x").body)
  .map((stream) => stream instanceof Class);
const name = () => ({ [true]: "another", [ReadableStream === native]: "native", [ReadableStream === ofA]: "a", [ReadableStream === ofB]: "b" }).true;
const seen = [name(), is(ReadableStream), {} instanceof ReadableStream, ofA.isPrototypeOf(ofB)];
const body = new ReadableStream({ start: (controller) => (controller.enqueue(new Uint8Array([65])), controller.close()) });
seen.push(await new Response(body.pipeThrough(new TransformStream())).text());
for (const copy of ${order}) {
  copy.uninstall();
  seen.push(name(), is(ReadableStream));
}
for (const copy of ${order}) copy.uninstall();
seen.push(name(), Object.getOwnPropertySymbols(globalThis).filter((key) => String(key).includes("millrace/streams.installed")).length);
`;
}

/** Returns the value of `seen` that the module must have. */
export function seenOfCopies(left: string): unknown[] {
  const all = [true, true, true, true, true];
  return ["b", all, false, false, "A", left, all, "native", all, "native", 0];
}
