/**
 * Gives Bun's tests our {@link file://./node_test.ts} as `node:test`, since Bun 1.2 finds its own modules before any
 * plugin does.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// deno-lint-ignore no-explicit-any -- the types of Bun are not installed
const bun = (globalThis as any).Bun;
const transpiler = new bun.Transpiler({ loader: "ts", target: "bun" });
const nodeTest = JSON.stringify(join(dirname(fileURLToPath(import.meta.url)), "node_test.ts"));

bun.plugin({
  name: "node:test",
  // deno-lint-ignore no-explicit-any
  setup(build: any): void {
    build.onLoad({ filter: /\/tests\/.*\.ts$/ }, async ({ path }: { path: string }) => {
      const source = await bun.file(path).text();
      const contents = transpiler.transformSync(source.replaceAll('from "node:test"', `from ${nodeTest}`));
      return { contents, loader: "js" }; // Bun 1.2 reads a plugin's "ts" as JavaScript
    });
  },
});
