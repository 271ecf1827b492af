// Makes the notices of what is compiled into the codecs: lib/codecs/wasm/THIRD_PARTY_NOTICES.txt.
//
// Cargo and rustc tell what that is; texts and copyright lines are those of its sources.
// deno-lint-ignore-file explicit-module-boundary-types -- JavaScript
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const TARGET = "wasm32-unknown-unknown";

/** The crates of Rust's library that one without `std` is linked with. */
const WITHOUT_STD = new Set(["alloc", "compiler_builtins", "core"]);

/** C libraries by the crate that bundles them: the licence, and the sources that build.rs compiles. */
const LIBRARIES = {
  "compu-brotli-sys": {
    name: "brotli",
    licence: (crate) => join(crate, "licences/brotli.txt"), // the package has no copy
    sources: "brotli/c/{common,enc,dec,include}/**/*.{c,h}",
  },
  "zstd-sys": {
    name: "zstd",
    licence: (_, folder) => join(folder, "zstd/LICENSE"),
    sources: "zstd/lib/{common,compress,decompress,.}/*.{c,h}",
  },
  "libdeflate-sys": {
    name: "libdeflate",
    licence: (_, folder) => join(folder, "libdeflate/COPYING"),
    sources: "libdeflate/{.,lib}/**/*.{c,h}",
  },
};

/** The notices, and the crates of Cargo.lock that they are of. */
export function notices(crate) {
  const { packages, resolve } = metadata(crate);
  const parts = [];
  const crates = [];
  const byId = new Map(packages.map((one) => [one.id, one]));
  for (const one of compiled(resolve, byId)) {
    const folder = dirname(one.manifest_path);
    const library = LIBRARIES[one.name];
    crates.push(`${one.name} ${one.version}`);
    const isPatched = library !== undefined || existsSync(join(crate, `patches/${one.name}.patch`));
    const title = isPatched
      ? `${library?.name ?? one.name}, of ${one.name} ${one.version}, changed by the patches in wasm/patches/`
      : `${one.name} ${one.version}`;
    if (library === undefined) parts.push({ title, texts: licenceTexts(one, folder) });
    else {
      const licence = readFileSync(library.licence(crate, folder), "utf8").trim();
      parts.push({ title, texts: [licence, copyrightLines(folder, library.sources)] });
    }
  }
  const tables = readFileSync(join(crate, "../node_modules/mime-db/LICENSE"), "utf8").trim();
  parts.push(...rustLibrary(), { title: "mime-db, of which tables of media types are made", texts: [tables] });
  const rule = "=".repeat(80);
  const text = [
    "The WebAssembly modules of @millrace/streams are compiled from its own sources and from the following; the last is\n" +
    "in other modules. `npm run build:wasm` made this file of the licences that these have.",
    ...[...byText(parts)].map(([text, titles]) => `${rule}\n${titles.join("\n")}\n${rule}\n\n${text}`),
  ].join("\n\n");
  return { text: `${text}\n`, crates: crates.sort() };
}

/** The titles by texts, of which many are the same to the letter. */
function byText(parts) {
  const titles = new Map();
  for (const { title, texts } of parts) {
    const text = texts.map((each) => each.replaceAll("\r\n", "\n").replace(/[ \t]+$/gm, "")).join("\n\n");
    titles.set(text, [...titles.get(text) ?? [], title]);
  }
  return titles;
}

function metadata(crate) {
  const args = ["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", TARGET];
  const output = execFileSync("cargo", [...args, "--manifest-path", join(crate, "Cargo.toml")], { maxBuffer: 2 ** 28 });
  return JSON.parse(output);
}

/** The packages whose code is in the modules: not what runs while they are built, nor the crates around C sources. */
function compiled({ nodes, root }, byId) {
  const found = new Set();
  const visit = (id) => {
    for (const { pkg, dep_kinds: kinds } of nodes.find((node) => node.id === id).deps) {
      const { targets } = byId.get(pkg);
      const runs = targets.some(({ kind }) => kind.includes("proc-macro")) || !kinds.some(({ kind }) => kind === null);
      if (runs || found.has(pkg)) continue;
      found.add(pkg);
      if (LIBRARIES[byId.get(pkg).name] === undefined) visit(pkg);
    }
  };
  visit(root);
  return [...found].map((id) => byId.get(id)).sort((a, b) => a.name < b.name ? -1 : 1);
}

/** The licence that is chosen where there are several, and each that stands beside it for a part. */
function licenceTexts({ name, license }, folder) {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
  const chosen = files.includes("LICENSE-MIT") ? files.filter((file) => !/^LICENSE(-APACHE)?$/.test(file)) : files;
  if (chosen.length === 0) throw new Error(`${name} (${license}) has no licence text: add it to wasm/licences/`);
  return chosen.map((file) => readFileSync(join(folder, file), "utf8").trim());
}

function copyrightLines(folder, pattern) {
  const lines = new Set();
  for (const path of globSync(pattern, { cwd: folder })) {
    for (const [, line] of readFileSync(join(folder, path), "latin1").matchAll(/^[\s/*]*(Copyright .*?)[\s*/]*$/gm)) {
      lines.add(line);
    }
  }
  return `In its sources:\n${[...lines].sort().map((line) => `  ${line}`).join("\n")}`;
}

/** What rustc says of the library that it has for the target: of its own files, and of the crates in it. */
function rustLibrary() {
  const output = (...args) => execFileSync("rustc", args, { encoding: "utf8" }).trim();
  const sysroot = output("--print", "sysroot");
  const documents = join(sysroot, "share/doc/rust");
  if (!existsSync(join(documents, "COPYRIGHT-library.html"))) {
    throw new Error(`${documents} has no COPYRIGHT-library.html: install rustc's documents (rustup toolchain install)`);
  }
  const [own, foreign] = readFileSync(join(documents, "COPYRIGHT-library.html"), "utf8")
    .split('id="in-tree-files"')[1].split('id="out-of-tree-dependencies"');
  const holders = [...new Set([...own.matchAll(/<b>Copyright:<\/b>(.*?)<\/p>/g)].map(([, holder]) => plain(holder)))];
  const licence = (name) => readFileSync(join(documents, "licenses", `${name}.txt`), "utf8").trim();
  const parts = [{
    title: `Rust's standard library, ${output("--version")}`,
    texts: [holders.map((holder) => `Copyright: ${holder}`).join("\n"), licence("MIT"), licence("Unicode-3.0")],
  }];
  for (const [, name, version, body] of foreign.matchAll(/<h3>\S+ ([\w-]+?)-(\d\S*)<\/h3>(.*?)(?=<h3>|$)/gs)) {
    if (!WITHOUT_STD.has(name.replaceAll("-", "_"))) continue;
    const texts = new Map(
      [...body.matchAll(/<code>([^<]*)<\/code><\/summary>\s*<pre>(.*?)<\/pre>/gs)]
        .map(([, file, text]) => [file, plain(text)]),
    );
    const chosen = texts.has("LICENSE-MIT") ? [texts.get("LICENSE-MIT")] : [...texts.values()];
    parts.push({ title: `${name} ${version}, of Rust's standard library`, texts: chosen });
  }
  return parts;
}

function plain(html) {
  return html.replace(/<[^>]*>/g, "").replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(code))
    .replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&").trim();
}
