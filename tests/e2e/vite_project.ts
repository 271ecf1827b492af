import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { noise } from "../support/bytes.ts";
import { output } from "../support/processes.ts";
import { root } from "../support/runtime.ts";
import { bin } from "./published.ts";

/** Vite's output by path, for each script: projects with the same script share it. */
const built = new Map<string, ReadonlyMap<string, Uint8Array>>();

/** A Vite application in a consumer's folder, as its template makes it: a page, a script, a style and a photo. */
export class ViteProject {
  readonly folder: string;
  #script = "";

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Creates a project whose script shows `words`. */
  static async make(folder: string, words: string): Promise<ViteProject> {
    const project = new ViteProject(folder);
    await mkdir(join(folder, "node_modules"), { recursive: true }); // Deno may need none
    await symlink(join(root, "node_modules/vite"), join(folder, "node_modules/vite"));
    for (const made of ["src", "public"]) await mkdir(join(folder, made));
    await writeFile(
      join(folder, "index.html"),
      `<!doctype html><title>Mill</title><div id="app"></div>${"<p>water</p>".repeat(300)}` +
        `<script type="module" src="/src/main.js"></script>`,
    );
    const rules = Array.from({ length: 400 }, (_, i) => `.row-${i} { order: ${i * 7 % 400}; }`);
    await writeFile(join(folder, "src/style.css"), rules.join("\n"));
    await writeFile(join(folder, "public/photo-1024x768.jpg"), noise(2000, 1));
    await writeFile(join(folder, "public/robots.txt"), "User-agent: *\n");
    await project.say(words);
    return project;
  }

  /** Changes the text that the script shows. */
  async say(words: string): Promise<void> {
    const table = Array.from({ length: 300 }, (_, i) => `"mill ${i * i}"`);
    const source = `import "./style.css";\nconst mills = [${table.join(", ")}];\n` +
      `document.querySelector("#app").textContent = "${words} " + mills.join();\n`;
    await writeFile(join(this.folder, "src/main.js"), source);
    this.#script = source;
  }

  /** Runs `vite build`, which empties `dist` and writes it again. */
  async build(): Promise<void> {
    const dist = join(this.folder, "dist");
    const known = built.get(this.#script);
    if (known !== undefined) {
      // As Vite does it: the folder itself stays.
      await mkdir(dist, { recursive: true });
      for (const name of await readdir(dist)) await rm(join(dist, name), { recursive: true });
      for (const [path, bytes] of known) {
        await mkdir(dirname(join(dist, path)), { recursive: true });
        await writeFile(join(dist, path), bytes);
      }
      return;
    }
    await output(join(bin, "node"), [join(root, "node_modules/vite/bin/vite.js"), "build"], this.folder);
    const entries = await readdir(dist, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(dist.length + 1));
    built.set(
      this.#script,
      new Map(await Promise.all(paths.map(async (path) => [path, await readFile(join(dist, path))] as const))),
    );
  }

  /** Returns the path of the script that the page names. */
  async script(): Promise<string> {
    return scriptOf(await readFile(join(this.folder, "dist/index.html"), "utf8"));
  }

  /** Copies `dist` as a deploy does. */
  async deploy(name: string): Promise<void> {
    await rm(join(this.folder, name), { recursive: true, force: true });
    await cp(join(this.folder, "dist"), join(this.folder, `${name}.new`), {
      recursive: true,
      preserveTimestamps: true,
    });
    await rename(join(this.folder, `${name}.new`), join(this.folder, name));
  }
}

/** Returns the path of the script that a page names. */
export function scriptOf(page: string): string {
  return /src="\/([^"]+\.js)"/.exec(page)![1];
}
