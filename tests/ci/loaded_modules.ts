/**
 * Prints which of the runtime's own modules imports load, as JSON. These are the arguments of
 * `process.getBuiltinModule()`, and the globals `process`, `Buffer`, `Response` and streams that it looks up. Meanwhile
 * nothing may be done that workerd refuses while modules load. Run by `server_build_test.ts` on each runtime.
 */
const modules = (globalThis as { Deno?: { args: string[] } }).Deno?.args ?? globalThis.process.argv.slice(2);

const host = globalThis as unknown as { process: NodeJS.Process; Buffer: unknown };
const loaded = new Set<string>();
const { process, Buffer } = host;
const { getBuiltinModule } = process;
process.getBuiltinModule = ((name: string) => {
  loaded.add(name);
  return getBuiltinModule.call(process, name);
}) as typeof getBuiltinModule;

/** Whether the caller is a module of the package, or named as its source: runtimes look globals up, too. */
function isOurs(): boolean {
  return /\/server-build-|\/@millrace\/streams\//.test(new Error().stack!);
}

/** Functions that must not be called on import: streams, slow ones, and those that compile. */
const refused: readonly (readonly [holder: object, names: readonly string[]])[] = [
  [globalThis, ["ReadableStream", "WritableStream", "TransformStream", "fetch", "setTimeout", "setInterval"]],
  [crypto, ["getRandomValues", "randomUUID"]],
  [WebAssembly, ["compile", "instantiate", "Module", "Instance"]],
];
const refuse = (): never => {
  throw new Error("Disallowed operation called within global scope");
};
for (const [holder, names] of refused) {
  for (const name of names) {
    const { value } = Object.getOwnPropertyDescriptor(holder, name) ?? {};
    if (value === undefined) continue; // Deno's timers load Node's modules when they are looked at
    Object.defineProperty(holder, name, { value: new Proxy(value, { apply: refuse, construct: refuse }) });
  }
}

/** Node loads these at the first look. */
const late = process.release?.name === "node" && !process.versions.bun && !process.versions.deno
  ? { ReadableStream: globalThis.ReadableStream, Response: globalThis.Response }
  : {};
for (const [name, value] of Object.entries({ process, Buffer, ...late })) {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get() {
      if (isOurs()) loaded.add(name);
      return value;
    },
  });
}

for (const module of modules) await import(module);
console.log(JSON.stringify([...loaded].sort()));
