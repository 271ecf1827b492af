import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { suggestionFor } from "../../lib/cli/usage.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { run } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";
import { mainHere } from "./main_here.ts";

const flags = ["port", "host", "cors", "cors-origin", "fallback", "memory-limit", "no-dictionaries", "min-size"];

const suggestions: readonly [word: string, suggested: string | undefined][] = [
  ["prot", "port"],
  ["ports", "port"],
  ["por", "port"],
  ["Port", "port"],
  ["hots", "host"],
  ["cor", "cors"],
  ["cors-orgin", "cors-origin"],
  ["falback", "fallback"],
  ["memorylimit", "memory-limit"],
  ["memory_limit", "memory-limit"],
  ["dictionaries", "no-dictionaries"],
  ["minsize", "min-size"],
  ["colour", undefined],
  ["p", undefined],
  ["", undefined],
  ["open", undefined],
  ["constructor", undefined],
];

for (const [word, suggested] of suggestions) {
  test(`suggestionFor() ${word ? `"${word}"` : "nothing"} is ${suggested}`, () => {
    const expected = suggested === undefined ? "" : `: did you mean --${suggested}?`;
    assert.equal(suggestionFor(word, flags, "--"), expected);
  });
}

test("a misspelt option is refused with the one that is meant, before what stands for its value", async () => {
  const cases: [words: string[], message: string][] = [
    [["serve", "dist", "--prot", "80"], "unknown option --prot: did you mean --port?"],
    [["serve", "dist", "--prot=80"], "unknown option --prot: did you mean --port?"],
    [["serve", "dist", "--quite"], "unknown option --quite: did you mean --quiet?"],
    [["serve", "dist", "--frob"], "unknown option --frob"],
    [["serve", "dist", "-x"], "unknown option -x"],
    [["serve", "dist", "-xp"], "unknown option -x"],
    [["serve", "dist", "--constructor"], "unknown option --constructor"],
    [["serve", "dist", "--__proto__"], "unknown option --__proto__"],
    [["precompress", "dist", "--inclde", "*.html"], "unknown option --inclde: did you mean --include?"],
    [["./dist", "--formts", "brotli"], "unknown option --formts: did you mean --formats?"],
  ];
  for (const [words, message] of cases) {
    const { status, stdout, stderr } = await mainHere(words);
    const see = words[0] === "serve" ? "see serve --help" : "see --help";
    assert.deepEqual([status, stdout, stderr], [2, "", `millrace: ${message}\n${see}\n`]);
  }
});

test("help and version are commands and options, long and short", async () => {
  const text = async (...words: string[]): Promise<string> => {
    const { status, stdout, stderr } = await mainHere(words);
    assert.deepEqual([status, stderr], [0, ""], words.join(" "));
    return stdout;
  };
  const version = await text("version");
  assert.match(version, /^millrace \d+\.\d+\.\d+\n$/);
  for (const words of [["--version"], ["-v"], ["serve", "-v"], ["precompress", "--version"]]) {
    assert.equal(await text(...words), version);
  }
  const help = await text("help");
  for (const part of ["millrace serve DIR", "millrace help [command]", "millrace version", "--formats"]) {
    assert.ok(help.includes(part), part);
  }
  for (const words of [["--help"], ["-h"]]) assert.equal(await text(...words), help);
  const serve = await text("help", "serve");
  assert.match(serve, /--cors-origin/);
  for (const words of [["serve", "--help"], ["serve", "-h"]]) assert.equal(await text(...words), serve);
  assert.equal(await text("help", "precompress"), await text("precompress", "-h"));
});

test("help of what is no command is wrong usage", async () => {
  const cases: [words: string[], message: string][] = [
    [["help", "serv"], '"serv" is not a command: did you mean serve?'],
    [["help", "frobnicate"], '"frobnicate" is not a command'],
    [["help", "constructor"], '"constructor" is not a command'],
    [["help", "serve", "precompress"], "help is of one command, not 2"],
  ];
  for (const [words, message] of cases) {
    const { status, stdout, stderr } = await mainHere(words);
    assert.deepEqual([status, stdout, stderr], [2, "", `millrace: ${message}\nsee --help\n`]);
  }
});

test("a bad value of any option is named in plain words, and nothing is done", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "site/app.js": "1" });
    const site = join(folder, "site");
    const brackets = "is no pattern: one of its brackets lacks the other; put a backslash before one that stands for ";
    const glob = '"a[b" ' + brackets;
    const cases: Record<string, readonly (readonly [words: string[], message: string])[]> = {
      precompress: [
        [["--jobs", "-1"], "--jobs needs a value: -1 looks like an option, write --jobs=-1 if it is one"],
        [["--out", "--quiet"], "--out needs a value: --quiet looks like an option, write --out=--quiet if it is one"],
        [["--out"], "--out needs a value"],
        [["--quiet=yes"], "--quiet takes no value"],
        [["--out", ""], "--out has an empty value"],
        [["--previous="], "--previous has an empty value"],
        [["--immutable", "a[b"], `--immutable ${glob}`],
        [["--include", "a[b"], `--include ${glob}`],
        [["--exclude", "a[b"], `--exclude ${glob}`],
        [["--exclude", "a)"], `--exclude "a)" ${brackets}`],
        [["--immutable", "a{1,2"], `--immutable "a{1,2" ${brackets}`],
        [["--exclude", "[z-a]"], '--exclude "[z-a]" is no pattern: nothing can match it'],
        [["--cache", "s3://"], "cannot use s3:// as a cache: name a folder, or s3://BUCKET/PREFIX"],
        [["--cache", "http://a/b"], "cannot use http://a/b as a cache: name a folder, or s3://BUCKET/PREFIX"],
      ],
      serve: [
        [["-p", "-1"], "-p needs a value: -1 looks like an option, write --port=-1 if it is one"],
        [["--host", ""], "--host has an empty value"],
        [["--immutable", "a[b"], `--immutable ${glob}`],
        [["--index", ".."], '--index must be a file name such as index.html or false, not ".."'],
        [["--base", "/a/../b"], '--base must be a path such as /docs/, not "/a/../b"'],
        [["--cert=", "--key=k"], "--cert has an empty value"],
        [["--watch", "--no-watch"], "--watch and --no-watch exclude each other"],
      ],
      analyze: [
        [["--origin", "https://a.example/b"], "--origin https://a.example/b is no origin: use one such as https://"],
        [["--origin", "https://u@a.example"], "--origin https://u@a.example is no origin: use one such as"],
        [["--ca", join(folder, "none")], `--ca ${join(folder, "none")} cannot be read: `],
        [["--ca", join(site, "app.js")], `--ca ${join(site, "app.js")} holds no certificate in PEM format`],
        [["--max-files", "-1"], "--max-files needs a value: -1 looks like an option"],
      ],
    };
    for (const [command, rows] of Object.entries(cases)) {
      for (const [words, message] of rows) {
        for (const more of command === "precompress" ? [[], ["--dry-run"]] : [[]]) {
          const { status, stdout, stderr } = await mainHere([command, site, ...words, ...more]);
          assert.deepEqual([status, stdout], [2, ""], `${words.join(" ")}: ${stdout}${stderr}`);
          assert.ok(stderr.startsWith(`millrace: ${message}`), stderr);
        }
      }
      const { status, stderr } = await mainHere([command, ""]);
      assert.deepEqual([status, /^millrace: (the folder is ""|name the page)/.test(stderr)], [2, true], stderr);
    }
    assert.deepEqual(await readdir(site), ["app.js"]);
  }));

test("nobody is told to remove what is in the way of a cache, a copy or a report", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "site/app.js": "1", "note.txt": "mine" });
    const note = join(folder, "note.txt");
    for (const option of ["--cache", "--out"]) {
      const { status, stderr } = await mainHere([join(folder, "site"), option, note]);
      assert.equal(status, 1);
      assert.match(stderr, /note\.txt.*: a file is in the way of a folder: name another place\n/);
    }
  }));

test("a list that is given several times is one", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "a.txt": "1".repeat(2000) });
    const { status } = await mainHere([folder, "--formats", "gzip", "--formats", "zstd"]);
    assert.equal(status, 0);
    const names = await readdir(folder);
    assert.deepEqual(names.filter((name) => name.startsWith("a.")).sort(), ["a.txt", "a.txt.gz", "a.txt.zst"]);
  }));

test("names that hold controls, ends of lines or marks of direction are printed as text", () =>
  inFolder(async (folder) => {
    const name = "a\u001b[31m\n\u202egpj.js";
    await writeTree(folder, { [`site/${name}`]: "1".repeat(2000), [`site/${name}.gz`]: "somebody's" });
    for (const more of [["--dry-run"], []]) {
      const { stdout, stderr } = await mainHere([join(folder, "site"), "--formats", "gzip", ...more]);
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(stdout + stderr, /[\x1b\u202e]|^gpj/m);
      assert.match(stdout + stderr, /a\\u001b\[31m\\u000a\\u202egpj\.js/);
    }
  }));

test("without any words the usage is printed, and the exit status is 2", async () => {
  const { status, stdout, stderr } = await mainHere([]);
  assert.deepEqual([status, stdout], [2, ""]);
  assert.match(stderr, /^usage: millrace precompress DIR/);
});

test(
  "an old Node is refused, and bunx that took it is told of the flag for Bun",
  { skip: runtime !== "node" },
  async () => {
    const args = ["--import", "data:text/javascript,delete ArrayBuffer.prototype.detached", "lib/cli/cli.ts", "--help"];
    const needs = `millrace needs Node 22.18, Deno 2.4, Bun 1.2.23 or newer; this is ${process.version}`;
    for (
      const [agent, hint] of [["npm/11.6.0 node/v20.0.0", ""], ["bun/1.4.5 npm/? node/v26.3.0", ": try bunx --bun"]]
    ) {
      const { code, stderr } = await run(process.execPath, args, root, { npm_config_user_agent: agent });
      assert.deepEqual([code, stderr], [1, `${needs}${hint}\n`]);
    }
  },
);
