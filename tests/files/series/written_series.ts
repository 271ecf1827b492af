import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decompress, type Format } from "../../../lib/codecs/mod.ts";

const formats: Readonly<Record<string, Format>> = { zst: "zstd", gz: "gzip", br: "brotli" };

/** Returns the names in a folder that are not hidden, sorted. */
export function shown(directory: string): string[] {
  return readdirSync(directory).filter((name) => !name.startsWith(".")).sort();
}

/** Returns the text of each file of the series `app.log`, by name and in order. */
export async function textsOf(directory: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const name of shown(directory)) {
    const [, extension] = /^app-\d{5,}\.log(?:\.(zst|gz|br))?$/.exec(name) ?? [];
    if (!/^app-\d{5,}\.log(?:\.(?:zst|gz|br))?$/.test(name)) continue;
    const bytes = readFileSync(join(directory, name));
    const plain = extension === undefined ? bytes : await decompress(bytes, { format: formats[extension] });
    texts.set(name, new TextDecoder().decode(plain));
  }
  return texts;
}
