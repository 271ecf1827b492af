import assert from "node:assert/strict";
import test from "node:test";
import { suggestionFor } from "../../lib/cli/suggestion.ts";
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

test("without any words the usage is printed, and the exit status is 2", async () => {
  const { status, stdout, stderr } = await mainHere([]);
  assert.deepEqual([status, stdout], [2, ""]);
  assert.match(stderr, /^usage: millrace precompress DIR/);
});
