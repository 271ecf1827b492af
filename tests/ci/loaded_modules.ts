/**
 * Prints which of the runtime's own modules an import loads, as JSON: what is asked of `process.getBuiltinModule()`,
 * `process` and `Buffer` where these globals are looked up, and Node's streams and `Response`. Run by
 * `server_build_test.ts` on each runtime.
 */
const [module] = (globalThis as { Deno?: { args: string[] } }).Deno?.args ?? globalThis.process.argv.slice(2);

const host = globalThis as unknown as { process: NodeJS.Process; Buffer: unknown };
const loaded = new Set<string>();
const { process, Buffer } = host;
const { getBuiltinModule } = process;
process.getBuiltinModule = ((name: string) => {
  loaded.add(name);
  return getBuiltinModule.call(process, name);
}) as typeof getBuiltinModule;

/** Whether the caller is a module of the package: runtimes look globals up, too. */
function isOurs(): boolean {
  return new Error().stack!.includes("/server-build-");
}

for (const [name, value] of Object.entries({ process, Buffer })) {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get() {
      if (isOurs()) loaded.add(name);
      return value;
    },
  });
}

/** Of Node's globals that are loaded at the first look: the module that holds one. */
const late = { ReadableStream: "internal/webstreams/readablestream", Response: "internal/deps/undici/undici" };

await import(module);
const list = (process as { moduleLoadList?: string[] }).moduleLoadList ?? [];
for (const [name, source] of Object.entries(late)) if (list.includes(`NativeModule ${source}`)) loaded.add(name);
console.log(JSON.stringify([...loaded].sort()));
