#!/usr/bin/env node
// Builds the codecs from scratch: crate ▸ wasm-pack ▸ lib/codecs/wasm/.
//
//   npm run build:wasm                 build all artefacts and write them with a record of what they were built from
//   npm run build:wasm -- --check      build nothing; exit 1 if the sources differ from that record
//   npm run build:wasm -- --verify     build, compare with the committed artefacts and with the unpatched C; write nothing
//
// What is missing on the machine is installed where that is possible (rustup target, wasm-pack; Debian packages as root)
// and named where it is not.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { notices } from "./notices.mjs";

const crate = dirname(fileURLToPath(import.meta.url));
const out = join(crate, "../lib/codecs/wasm");
/** The folder of crates with patches: within the workspace, where paths are no part of cargo's hashes. */
const patchedCrates = join(crate, "target/patched");
const NOTICES = "THIRD_PARTY_NOTICES.txt";
/** The features that encode or decode, in the order of Cargo.toml. */
const artefacts = [...readFileSync(join(crate, "Cargo.toml"), "utf8").matchAll(/^(\w+)-(encoder|decoder) =/gm)]
  .map(([, family, direction]) => `${family}_${direction}`);
const FUZZED_INPUTS = 10_000;
/** What engines must have: the names are binaryen's. */
const FEATURES = ["simd", "bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "multivalue"];

const { values: flags } = parseArgs({ options: { check: { type: "boolean" }, verify: { type: "boolean" } } });
const sources = sourceHash();
if (flags.check) check();
else {
  requireTools();
  if (flags.verify) verify();
  else write();
}

/** SHA-256 over the names and contents of everything the artefacts are built from. */
function sourceHash() {
  const hash = createHash("sha256");
  for (const file of [...filesBelow(crate)].sort()) {
    hash.update(`${relative(crate, file)}\0`).update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

function* filesBelow(folder) {
  for (const name of readdirSync(folder)) {
    if (["target", "build.mjs", "notices.mjs", "licences", "deny.toml"].includes(name)) continue; // none of them is built from
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

function check() {
  if (record().sources === sources) return console.log("lib/codecs/wasm is built from these sources");
  console.error("lib/codecs/wasm is not built from these sources: run `npm run build:wasm`");
  process.exit(1);
}

function record() {
  return JSON.parse(readFileSync(join(out, "build.json"), "utf8"));
}

function write() {
  const sizes = {};
  for (const name of artefacts) {
    const bytes = build(name);
    writeFileSync(join(out, `${name}.js`), embed(name, bytes));
    writeFileSync(join(out, `${name}.d.ts`), declaration(name));
    sizes[name] = { bytes: bytes.length, sha256: sha256(bytes) };
    console.log(`${name}: ${bytes.length} bytes`);
  }
  const { text: noticed, crates } = notices(crate);
  writeFileSync(join(out, NOTICES), noticed);
  writeFileSync(
    join(out, "build.json"),
    `${
      JSON.stringify(
        { sources, tools: versions(), artefacts: sizes, notices: { sha256: sha256(noticed), crates } },
        null,
        2,
      )
    }\n`,
  );
  const versionsFile = join(out, "../by_hand.ts");
  const text = readFileSync(versionsFile, "utf8");
  writeFileSync(
    versionsFile,
    text.replace(
      /^ {2}(\w+): "[0-9a-f]{64}",$/gm,
      (_, family) => `  ${family}: "${sizes[`${family}_encoder`].sha256}",`,
    ),
  );
}

function verify() {
  let failed = false;
  for (const name of artefacts) {
    // The file itself, not what build.json says of it: megabytes of base64 are not reviewed.
    const same = embed(name, build(name)) === readFileSync(join(out, `${name}.js`), "utf8");
    failed ||= !same;
    console.log(`${name}: ${same ? "reproduces the committed artefact" : "DIFFERS from the committed artefact"}`);
  }
  const noticed = notices(crate).text === readFileSync(join(out, NOTICES), "utf8");
  failed ||= !noticed;
  console.log(`${NOTICES}: ${noticed ? "is" : "is NOT"} what the licences of the sources say`);
  const folder = mkdtempSync(join(tmpdir(), "millrace-verify-"));
  try {
    for (const family of ["brotli", "zstd"]) { // libdeflate's patch gives other bytes
      const paths = ["unpatched", ""].map((variant) => {
        const path = join(folder, `${family}_encoder_${variant || "patched"}.wasm`);
        writeFileSync(path, build(`${family}_encoder`, variant));
        return path;
      });
      const script = join(crate, "../tests/codecs/bit_exact.ts");
      const seed = String(Date.now() % 1e6);
      const { status } = spawnSync(process.execPath, [script, family, ...paths, seed, String(FUZZED_INPUTS)], {
        stdio: "inherit",
      });
      failed ||= status !== 0;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  process.exit(failed ? 1 : 0);
}

/**
 * Builds one artefact with wasm-pack and returns its bytes. Binaryen saves 8% of deflate's, which bundles have; it would
 * cost brotli and zstd up to 15% of their speed.
 */
function build(name, variant = "") {
  const folder = mkdtempSync(join(tmpdir(), "millrace-wasm-"));
  try {
    const features = [name.replace("_", "-"), variant].filter(Boolean).join(",");
    const args = ["build", "--release", "--target", "web", "--no-typescript", "--no-pack"];
    const cargo = [
      "--locked",
      "--config",
      `paths=[${JSON.stringify(patchedCrate("zlib-rs"))}]`,
      "--features",
      features,
    ];
    const result = spawnSync(
      "wasm-pack",
      [...args, "--out-dir", folder, "--out-name", name, crate, "--", ...cargo],
      { encoding: "utf8", env: { ...process.env, CARGO_TERM_COLOR: "never", ...rustFlags() } },
    );
    if (result.status !== 0) throw new Error(`wasm-pack could not build ${name}:\n${result.stdout}${result.stderr}`);
    const [built, small] = [`${name}_bg.wasm`, `${name}_small.wasm`].map((file) => join(folder, file));
    if (!name.startsWith("deflate")) return readFileSync(built);
    const enabled = FEATURES.map((feature) => `--enable-${feature}`);
    execFileSync("wasm-opt", [...enabled, "-O2", "--strip-producers", built, "-o", small]);
    return readFileSync(small);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Copies a crate of Rust from cargo's registry and patches the copy, which cargo takes in its place. */
function patchedCrate(name) {
  const args = ["metadata", "--format-version", "1", "--locked", "--all-features"];
  const output = execFileSync("cargo", args, { cwd: crate, maxBuffer: 2 ** 28 });
  const { manifest_path: manifest } = JSON.parse(output).packages.find((one) => one.name === name);
  const copy = join(patchedCrates, name);
  rmSync(copy, { recursive: true, force: true });
  cpSync(dirname(manifest), copy, { recursive: true });
  const options = ["--strip=1", "--silent", "--batch", "--fuzz=0", "--directory", copy];
  execFileSync("patch", [...options, "--input", join(crate, "patches", `${name}.patch`)]);
  return copy;
}

/**
 * The flags for all Rust: SIMD, which C is compiled with, too; and without the builder's folders in the places that panics
 * name, so that every machine builds the same bytes.
 */
function rustFlags() {
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const registry = join(cargoHome, "registry/src");
  const indexes = existsSync(registry) ? readdirSync(registry).map((index) => join(registry, index)) : [];
  const remap = [...indexes, patchedCrates].map((path) => `--remap-path-prefix=${path}=crates`);
  return { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: ["-Ctarget-feature=+simd128", ...remap].join(" ") };
}

/**
 * The module as text: base64, so that one artefact works from https URLs, npm, bundlers and browsers without file or
 * network permission. Compressed inside the text it would be 8% smaller after transport compression and 10 to 40 ms
 * slower to start.
 */
function embed(name, bytes) {
  const comment = `Generated by build:wasm; licences of what is compiled in: ${NOTICES} of @millrace/streams.`;
  return `/* @ts-self-types="./${name}.d.ts" */\n/*! ${comment} */\n` +
    `export const wasm = "${bytes.toString("base64")}";\n`;
}

function declaration(name) {
  return `/** The WebAssembly module ${name} in base64. */\nexport declare const wasm: string;\n`;
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

function versions() {
  const first = (command, ...args) => execFileSync(command, args, { encoding: "utf8" }).split("\n")[0].trim();
  return {
    rustc: first("rustc", "--version"),
    clang: first("clang-19", "--version"),
    binaryen: first("wasm-opt", "--version"),
    wasmPack: first("wasm-pack", "--version"),
  };
}

function requireTools() {
  const has = (command, ...args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
  const run = (command, ...args) => execFileSync(command, args, { stdio: "inherit" });
  if (!has("cargo", "--version") || !has("rustup", "--version")) {
    console.error("build:wasm needs Rust: install rustup (https://rustup.rs), then run it again");
    process.exit(1);
  }
  const debian = { "clang-19": "clang-19", "llvm-ar-19": "llvm-19", "wasm-opt": "binaryen", patch: "patch" };
  const missing = Object.keys(debian).filter((command) => !has(command, "--version")).map((command) => debian[command]);
  if (missing.length > 0) {
    if (process.getuid?.() !== 0 || !has("apt-get", "--version")) {
      console.error(`build:wasm needs ${missing.join(", ")}: install them (apt-get install ${missing.join(" ")})`);
      process.exit(1);
    }
    run("apt-get", "-qq", "update");
    run("apt-get", "-qq", "-y", "install", ...missing);
  }
  const targets = execFileSync("rustup", ["target", "list", "--installed"], { encoding: "utf8", cwd: crate });
  if (!targets.includes("wasm32-unknown-unknown")) run("rustup", "target", "add", "wasm32-unknown-unknown");
  run("cargo", "fetch", "--locked", "--quiet", "--manifest-path", join(crate, "Cargo.toml"));
  if (!has("wasm-pack", "--version")) run("cargo", "install", "wasm-pack", "--locked", "--version", "0.15.1");
}
