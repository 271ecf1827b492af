import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../support/runtime.ts";

/** The sources of this repository, except data, generated modules and downloads of benchmarks. */
const SOURCES: readonly string[] = ["mod.ts", "{lib,bench,tests,.ci}/**/*.{ts,cjs}", "wasm/*.mjs", "wasm/src/**/*.rs"];
const OTHERS = /page_assets|^lib\/.*\/wasm\/|\/\.corpus\/|node_modules/;

/** The sources whose doc comments name their subject; a change of `wasm/` has its whole build verified. */
const NAMED: readonly string[] = SOURCES.filter((source) => !source.startsWith("wasm/"));

/** Doc comments that do not name their subject: a class is a noun, a function a verb (see CONTRIBUTING.md). */
const NAMELESS = /^\/\*\*[\s*]*(?:What|Who|Where|Those|One|Some|How|That|It|They|As)\b/;

/** Words that hide the subject of a sentence, with the words to use instead. */
const PRIVATE: readonly { readonly words: RegExp; readonly instead: string }[] = [
  {
    words: /\b(?:nobody|somebody|everybody|anybody|whoever|whomever|someone|anyone|no one)\b/i,
    instead: "the client, caller, reader or process that is meant",
  },
  { words: /\blet(?:s|ting)? go\b/i, instead: "release, close, detach" },
  {
    words: /\b(?:is|are|was|were|be|been|being) told\b(?! apart)|\btells? of\b|\bTold (?:that|of|once)\b/,
    instead: "reports, is called with, throws",
  },
  { words: /\b(?:is|are|was|were|be|been) asked\b(?! to\b)/i, instead: "requests, pulls, checks" },
  {
    words: /^(?:\/\*\*|\/\/)\s*The same(?:[.,]| (?:for|of|as|with|where|after|in|without)\b)/i,
    instead: "what this one is",
  },
  { words: /^(?:\/\*\*|\/\/)\s*As \{@link\}/, instead: "what this one is" },
  {
    words: /^\/\*\*\s*(?:How|When|Where|Whom?|Why|So|As|Else|Not|Of|For|With|From|Behind|Below|Beside)\b/,
    instead: "a noun or a verb: the number, time, reason, size, path",
  },
  {
    words: /^\/\*\*\s*(?:So many|As many|As much|More than|Less than|That many|Fewer|Most|Least|Fewest) \w/,
    instead: "the limit, the number, the size",
  },
  { words: /\bof (?:ours|theirs)\b/i, instead: "of this package, internal, native" },
  {
    words: /\bin vain\b|\bto no end\b|\bof no (?:more )?use\b|\blate news\b|\bfar from\b.*\btop\b/i,
    instead: "without effect, unused, obsolete",
  },
  {
    words: /(?:[:;,] |\b(?:would|could|may|must) )else (?:it|they|a|an|the|each|one|long|what)\b/,
    instead: "otherwise",
  },
  { words: /\b(?:if|once|unless) (?:it|that|he|they) (?:is|are) (?:one|none)\b/i, instead: "if the value is not a …" },
  { words: /\bis none of (?:these|those)\b/, instead: "the values that are allowed" },
  { words: /\bSees (?:that|whether)\b/, instead: "requires, checks" },
  { words: /\bcalled so\b/, instead: "has the name" },
  { words: /\bin the midst of\b/, instead: "during, while" },
  {
    words: /(?<!@param )\btells\b(?! apart| how much)|^\/\/ told\b|\btell which\b/i,
    instead: "reports, shows, prints",
  },
  { words: /\bunder way\b/i, instead: "pending, open, being written, during" },
  { words: /\bbut for\b/i, instead: "except" },
  { words: /\bfor good\b|\ball the same\b|\banew\b/i, instead: "permanently, still, again" },
  { words: /\b(?:is|are) gone\b/i, instead: "was removed, has closed, has ended" },
  { words: /, (?:and some|as it does)\./, instead: "the margin, the second subject" },
];

/** A doc comment, another block comment, a block of line comments, or a comment at the end of a line of code. */
const COMMENT = /\/\*\*[\s\S]*?\*\/|^\/\*\n[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|[;,{})\]] \/\/ .*/gm;

/** Finds the comments of source files, each as one line of text. */
function* commentsOf(...patterns: readonly string[]): Generator<{ readonly at: string; readonly text: string }> {
  for (const path of globSync([...patterns], { cwd: root }).sort()) {
    const source = readFileSync(join(root, path), "utf8");
    for (const { index, 0: comment } of source.matchAll(COMMENT)) {
      const start = index + comment.indexOf("/");
      const text = comment.slice(start - index).replace(/\n[ \t]*(?:\*(?!\/)|\/\/) ?/g, " ");
      yield { at: `${path.replaceAll("\\", "/")}:${source.slice(0, start).split("\n").length}`, text };
    }
  }
}

test("doc comments name their subject first", () => {
  const nameless = [...commentsOf(...NAMED)].filter(({ at, text }) => !OTHERS.test(at) && NAMELESS.test(text));
  assert.deepEqual(nameless, []);
});

test("comments use the words of the field, not private ones", () => {
  const found: string[] = [];
  for (const { at, text } of commentsOf(...SOURCES)) {
    if (OTHERS.test(at)) continue;
    for (const { words, instead } of PRIVATE) {
      const word = words.exec(text)?.[0];
      if (word !== undefined) found.push(`${at}: "${word}", say ${instead}: ${text.slice(0, 170)}`);
    }
  }
  assert.deepEqual(found, []);
});
