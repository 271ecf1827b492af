import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "./root.ts";

/**
 * Writes the codecs' modules as `.wasm` files, with a section in each that says by its name which one it is.
 *
 * @returns their paths.
 */
export function writeWasm(folder: string): string[] {
  writeFileSync(join(folder, "wasm.d.ts"), "declare const module: object;\nexport default module;\n");
  return globSync("*.js", { cwd: join(root, "lib/codecs/wasm") }).map((name) => {
    const [, base64] = /"([^"]+)";$/m.exec(readFileSync(join(root, "lib/codecs/wasm", name), "utf8"))!;
    const codec = basename(name, ".js").replace("deflate", "gzip");
    const section = Buffer.from(`\x08millrace${codec}`); // the length of its name, the name, and what is in it
    const path = join(folder, `${codec}.wasm`);
    writeFileSync(path, Buffer.concat([Buffer.from(base64, "base64"), Buffer.from([0, section.length]), section]));
    return path;
  });
}
