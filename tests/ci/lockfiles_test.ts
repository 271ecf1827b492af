import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { cargoLockFaults, noticeFaults, npmLockFaults } from "../../.ci/lockfiles.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const integrity = "sha512-AA==";

test("the lockfiles pin every package and crate by a checksum, and users get no other package than meant", () => {
  assert.deepEqual(npmLockFaults(JSON.parse(read("package-lock.json")), JSON.parse(read("package.json"))), []);
  assert.deepEqual(cargoLockFaults(read("wasm/Cargo.lock")), []);
});

test("everything that is compiled into the codecs has its notice beside them, with the copyright of each", () => {
  const text = read("lib/codecs/wasm/THIRD_PARTY_NOTICES.txt");
  const { notices } = JSON.parse(read("lib/codecs/wasm/build.json"));
  const faults = (text: string, lock = read("wasm/Cargo.lock")): string[] =>
    noticeFaults(text, notices, lock, read("wasm/Cargo.toml"));
  assert.deepEqual(faults(text), []);
  for (
    const holder of [
      "Copyright (c) Meta Platforms, Inc. and affiliates.",
      "Copyright (c) 2009, 2010, 2013-2016 by the Brotli Authors.",
      "Copyright 2016 Eric Biggers",
      "(C) 2024 Trifecta Tech Foundation",
      "The Rust Project Developers",
      "Copyright (c) 2014 Alex Crichton",
      "Copyright (c) 2015-2022 Douglas Christopher Wilson",
    ]
  ) assert.ok(text.includes(holder), holder);
  assert.deepEqual(faults(text.replaceAll("zlib-rs", "zlib")), [
    "THIRD_PARTY_NOTICES.txt is not what npm run build:wasm wrote",
    "zlib-rs 0.6.8 has no notice",
  ]);
  assert.deepEqual(faults(text, read("wasm/Cargo.lock").replace(/(name = "cfg-if"\nversion = ").*"/, '$12.0.0"')), [
    "the notices are of cfg-if 1.0.5, which is not in Cargo.lock",
  ]);
});

test("npmLockFaults() tells what comes from elsewhere, runs scripts, or is given to users unasked", () => {
  const packages = {
    "": {},
    "node_modules/good": { integrity, dev: true },
    "node_modules/bare": { dev: true },
    "node_modules/forked": { integrity, dev: true, resolved: "git+ssh://host/forked.git#main" },
    "node_modules/good/node_modules/eager": { integrity, dev: true, hasInstallScript: true },
    "node_modules/allowed": { integrity, dev: true, hasInstallScript: true },
    "node_modules/picomatch": { integrity, license: "GPL-3.0-only" },
    "node_modules/newcomer": { integrity, license: "MIT" },
  };
  const manifest = { dependencies: { picomatch: "^4", absent: "^1" }, allowScripts: { allowed: true } };
  assert.deepEqual(npmLockFaults({ packages }, manifest), [
    "node_modules/bare has no integrity of SHA-512",
    "node_modules/forked is from no registry",
    "node_modules/good/node_modules/eager runs a script when it is installed, which allowScripts of package.json does not name",
    "node_modules/picomatch, which users get, has the licence GPL-3.0-only",
    "node_modules/newcomer is new among what users get: add it to .ci/lockfiles.ts if that is meant",
    "absent is not in package-lock.json",
  ]);
});

test("cargoLockFaults() tells what has no checksum, or is from git, a folder or a second registry", () => {
  const crate = (name: string, ...lines: string[]): string =>
    ["[[package]]", `name = "${name}"`, 'version = "1.0.0"', ...lines, ""].join("\n");
  const checksum = `checksum = "${"0".repeat(64)}"`;
  const lock = [
    crate("millrace-codecs"),
    crate("good", 'source = "registry+https://one.example"', checksum),
    crate("bare", 'source = "registry+https://one.example"'),
    crate("forked", 'source = "git+https://host.example/forked"', checksum),
    crate("near"),
  ].join("\n");
  assert.deepEqual(cargoLockFaults(lock), [
    "bare 1.0.0 has no checksum",
    "forked 1.0.0 is from no registry but git+https://host.example/forked",
    "near 1.0.0 is from a folder",
    "crates come from more than one place: registry+https://one.example, git+https://host.example/forked",
  ]);
});
