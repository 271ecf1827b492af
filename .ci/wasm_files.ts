import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { transform } from "esbuild";
import { compress } from "../lib/codecs/gzip.ts";
import { BUILD } from "../lib/codecs/module.ts";
import { root } from "./root.ts";
import { inflate } from "./small_inflate.ts";

const source = join(root, "lib/codecs/wasm");

/** The file with the licences of the crates in the codecs, which is copied along with them. */
const NOTICES = "THIRD_PARTY_NOTICES.txt";

/** The function of a text that inflates it: that of each, since pages load few, and later than the rest. */
const INFLATE = `export function inflate(bytes, Inflater = DecompressionStream) {
  const inflated = new Blob([bytes]).stream().pipeThrough(new Inflater("deflate-raw"));
  return new Response(inflated).arrayBuffer();
}`;

/**
 * Writes the codecs' modules with their notices: as text for hosts and bundlers that take no other, deflated, which saves
 * 38% of it; and as `.wasm` files, with a section at the end of each that says by its name which one it is, and of which build. The text of the module that
 * inflates brings a function for that, so that the `DecompressionStream` of `./codecs` takes no other's.
 *
 * @returns the paths of the modules.
 */
export async function writeCodecs(folder: string): Promise<string[]> {
  cpSync(join(source, NOTICES), join(folder, NOTICES));
  writeFileSync(join(folder, "wasm.d.ts"), "declare const module: object;\nexport default module;\n");
  const written = globSync("*.js", { cwd: source }).map(async (name) => {
    const text = readFileSync(join(source, name), "utf8");
    const [declaration, base64] = /^export const wasm = "([^"]+)";$/m.exec(text)!;
    const bytes = Buffer.from(base64, "base64");
    const codec = basename(name, ".js").replace("deflate", "gzip");
    const deflated = Buffer.from(await compress(bytes, { format: "deflate-raw" }));
    const inflates = codec === "gzip_decoder" ? await ownInflate(deflated, bytes) : INFLATE;
    const small = `export const wasm = "${deflated.toString("base64")}", build = "${BUILD}";\n${inflates}`;
    const paths = [join(folder, name), join(folder, `${codec}.wasm`)];
    writeFileSync(paths[0], text.replace(declaration, small));
    writeFileSync(paths[1], Buffer.concat([bytes, section("millrace", `${codec} ${BUILD}`)]));
    return paths;
  });
  return (await Promise.all(written)).flat();
}

/** Returns a custom section: its kind and length, the length of its name, the name, and the content. */
function section(name: string, content: string): Buffer {
  const body = `${String.fromCharCode(name.length)}${name}${content}`;
  return Buffer.from(`\0${String.fromCharCode(body.length)}${body}`);
}

/** Returns a function for a text that inflates it without the host's. */
async function ownInflate(deflated: Uint8Array, bytes: Uint8Array): Promise<string> {
  if (Buffer.compare(inflate(deflated, bytes.length), bytes) !== 0) {
    throw new Error("small_inflate.ts does not inflate the text");
  }
  const source = `export const inflate = (bytes) => Promise.resolve((${inflate})(bytes, ${bytes.length}).buffer);`;
  return (await transform(source, { minify: true, target: "es2022" })).code.trimEnd();
}
