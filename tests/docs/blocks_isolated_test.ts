import assert from "node:assert/strict";
import process from "node:process";
import { after, before, test } from "node:test";
import { root, runtime } from "../support/runtime.ts";
import {
  type Block,
  checkBlocks,
  denoCheckBlocks,
  makeProject,
  type PeerServer,
  readBlocks,
  runBlock,
  runBlocks,
  startPeerServer,
} from "./blocks.ts";
import { differences, expectedOutput, matches } from "./expected_output.ts";
import { blocksOf, fencesOfFile } from "./read_blocks.ts";
import { installLinesOf, setupOf } from "./setup.ts";
import { withStandIns } from "./stand_ins.ts";

const markdown = (...lines: string[]): Block[] => blocksOf("page.md", lines.join("\n"));
const codes = (...lines: string[]): string[] => markdown(...lines).map(({ code }) => code);

const project = await makeProject(root, true);
let peer: PeerServer;
before(async () => {
  peer = await startPeerServer();
});
after(async () => {
  await peer.close();
  project.remove();
});

/** Runs code as a block of `page.md` that begins at line 10. */
function runCode(code: string, language: "ts" | "js" = "ts"): Promise<string[]> {
  const block: Block = { path: "page.md", line: 10, language, runtimes: [runtime], code };
  return runBlock(block, { runtime, executable: process.execPath, project: project.folder, origin: peer.origin });
}

test("blocks that share a process are told apart, and those beside one that fails pass", async () => {
  const codes = ["console.log(1); // 1", "console.log(1); // 2", "throw new RangeError();", "console.log(3); // 3"];
  const blocks = codes.map((code, i): Block => {
    return { path: "page.md", line: 10 * i, language: "ts", runtimes: [runtime], code };
  });
  const options = { runtime, executable: process.execPath, project: project.folder, origin: peer.origin };
  const problems = await Promise.all(runBlocks(blocks, options));
  assert.deepEqual(problems.map(({ length }) => length), [0, 1, 1, 0]);
  assert.equal(problems[1][0], `page.md:10 (${runtime}): printed "1", expected "2"`);
  assert.match(problems[2][0], /^page\.md:20 .*RangeError/s);
});

test("a page's blocks of ts and js are found with their lines, those of other languages are not", () => {
  const blocks = markdown(
    "# Page",
    "```ts",
    "one();",
    "```",
    "",
    "```sh",
    "two",
    "```",
    "```js",
    "",
    "three();",
    "```",
  );
  assert.deepEqual(blocks.map(({ line, language, code }) => [line, language, code]), [
    [3, "ts", "one();\n"],
    [10, "js", "\nthree();\n"],
  ]);
});

test("a fence ends only by one of its kind that is as long", () => {
  assert.deepEqual(codes("~~~ts", "`", "```", "~~~", "text"), ["`\n```\n"]);
  assert.deepEqual(codes("````md", "```ts", "shown();", "```", "````", "`````ts", "````", "``````"), ["````\n"]);
  assert.deepEqual(codes("```ts``` is code in a line", "``` ts ", "a();", "  ```  "), ["a();\n"]);
});

test("the indentation of a list, and the marks of a quote, are no part of the code", () => {
  assert.deepEqual(
    codes("1. First", "   - Nested", "", "     ```ts", "     if (a) {", "       b();", "", "     }", "     ```"),
    [
      "if (a) {\n  b();\n\n}\n",
    ],
  );
  assert.deepEqual(codes("- ```ts", "  a();", "  ```", "> ```ts", "> b();", "> ```"), ["a();\n", "b();\n"]);
});

test("words after the language name the runtimes, none means all", () => {
  const runtimes = markdown("```ts", "a", "```", "```ts bun deno", "b", "```", "```js node", "c", "```");
  assert.deepEqual(runtimes.map(({ runtimes }) => runtimes), [["node", "deno", "bun"], ["deno", "bun"], ["node"]]);
});

test("what would not be run unnoticed is refused with its place", () => {
  assert.throws(() => markdown("", "```ts", "a();"), {
    name: "TypeError",
    message: "page.md:2: this fence is not closed",
  });
  assert.throws(() => markdown("```ts browser", "a", "```"), /^TypeError: page\.md:1: browser: use node, deno or bun/);
  assert.throws(() => markdown("```ts ignore", "a", "```"), /page\.md:1: ignore/);
  assert.throws(() => markdown("```typescript", "a", "```"), /page\.md:1: a block of typescript is not run/);
  assert.throws(() => markdown("```ts", " ", "```"), /page\.md:1: this block is empty/);
  assert.throws(() => readBlocks(["LICENSE"], root), /^TypeError: LICENSE: no block of ts or js$/);
});

test("the blocks of doc comments are found without stars, those of strings and other comments are not", () => {
  const source = [
    'const glob = "lib/**";',
    "/*",
    " * ```ts",
    " * no();",
    " * ```",
    " */",
    "export class A {",
    "  /**",
    "   * Says.",
    "   *",
    "   * @example Title",
    "   * ```ts node",
    "   * if (a) {",
    "   *   b();",
    "   *",
    "   * }",
    "   * ```",
    "   */",
    "  say(): void {}",
    "  /** A single line. */",
    "}",
    "/** @example Short",
    "```ts",
    "c();",
    "``` */",
  ].join("\r\n").replace("``` */", "```\r\n*/");
  assert.deepEqual(blocksOf("a.ts", source).map(({ line, runtimes, code }) => [line, runtimes.length, code]), [
    [13, 1, "if (a) {\n  b();\n\n}\n"],
    [24, 3, "c();\n"],
  ]);
});

test("a comment where a call of console.log() ends is what it prints", () => {
  const expected = expectedOutput([
    'console.log("// no"); // one // two',
    'console.log(`${a(`)`)} // ${{}}`); console.log(/[/)]"/.test(b)) // three',
    "console.log(",
    "  4, // not this",
    "); // four",
    "for (const x of y) { console.error(x); } // five",
    "console.log(6);",
    "other(); // not this",
    "// console.log(7); // nor this",
    "console.log(8); /* nor this */",
    "console.log(9).then(a); // nor this",
  ].join("\n"));
  assert.deepEqual(expected, [
    { from: 1, to: 1, text: "one // two" },
    { from: 2, to: 2, text: "three" },
    { from: 3, to: 5, text: "four" },
    { from: 6, to: 6, text: "five" },
  ]);
});

test("prints of one line are joined, and compared as a whole", () => {
  const expected = [{ from: 3, to: 4, text: "a, b" }];
  const print = (...texts: string[]): { line: number; text: string }[] => texts.map((text) => ({ line: 3, text }));
  assert.deepEqual(differences(expected, [{ line: 2, text: "z" }, ...print("a", "b")]), []);
  assert.deepEqual(differences(expected, print("a")), [{ line: 3, text: 'printed "a", expected "a, b"' }]);
  assert.deepEqual(differences(expected, print("a", "b", "c")).length, 1);
  assert.deepEqual(differences(expected, []), [{ line: 3, text: 'printed nothing, expected "a, b"' }]);
});

test("… stands for anything, and nothing else does", () => {
  assert.ok(matches("CERTIFICATE_EXPIRED https://a", "CERTIFICATE_EXPIRED …"));
  assert.ok(matches("1 a 2", "1 … 2"));
  assert.ok(!matches("1 a 3", "1 … 2"));
  assert.ok(!matches("1 a 2 b", "1 … 2"));
  assert.ok(!matches("abc", "a.c"));
  assert.ok(!matches("true", "true: by …"));
});

test("objects that runtimes show in their own ways are the same", () => {
  assert.ok(matches('{\n  id: 1,\n  name: "Ada",\n}', "{ id: 1, name: 'Ada' }"));
  assert.ok(matches("{ id: 1, name: 'Ada' }", '{ id: 1, name: "Ada" }'));
  assert.ok(!matches("{ id: 1 }", "{ id: 2 }"));
});

test("hosts and ports for examples are replaced, in comments too, other numbers and hosts are not", () => {
  const standIns = {
    origin: "http://127.0.0.1:1",
    isOfPage: false,
    ports: { "8000": 2, "8080": 3, "3000": 4, "7070": 5 },
  };
  const replaced = (code: string): string => withStandIns(code, standIns);
  assert.equal(
    replaced('fetch("https://api.example.com/users") // https://db.example'),
    'fetch("http://127.0.0.1:1/users") // http://127.0.0.1:1',
  );
  assert.equal(replaced('"https://example.com:8443/"'), '"http://127.0.0.1:1/"');
  assert.equal(
    replaced('"https://example.community/ https://notexample.com"'),
    '"https://example.community/ https://notexample.com"',
  );
  assert.equal(
    replaced('listen(8000); "http://127.0.0.1:8000/a"; { port: 3000 }'),
    'listen(2); "http://127.0.0.1:2/a"; { port: 4 }',
  );
  assert.equal(replaced("const port = 8080; { maxBytes: 8000 }"), "const port = 3; { maxBytes: 8000 }");
  const ofPage =
    'fetch("https://example.com/") "https://example.com/?a" "https://example.com/a" "https://a.example.com/"';
  const [one, two, ...same] = withStandIns(ofPage, { ...standIns, isOfPage: true }).split(" ");
  assert.deepEqual([one, two], ['fetch("http://127.0.0.1:1/")', '"http://127.0.0.1:1/?a"']);
  assert.deepEqual(same, ofPage.split(" ").slice(2));
});

test("a block that prints what it says passes", async () => {
  const code = [
    'import { ReadableStream } from "@millrace/streams/streams";',
    'import { createServer } from "node:http";',
    "interface User { readonly id: number }",
    'const server = createServer((_, response) => response.end("served"));',
    "await new Promise<void>((listening) => server.listen(8000, listening));",
    'console.log(await (await fetch("http://127.0.0.1:8000/")).text()); // served',
    'const { id } = await (await fetch("https://api.example.com/users/7")).json() as User;',
    "console.log(",
    "  id,",
    "  /\\/example\\.[jt]s$/.test(import.meta.url),",
    "); // 7 true",
    "[1, 2].forEach((n) => console.log(n)); // 1, 2",
    "for await (const chunk of ReadableStream.from([1, 2])) console.log({ chunk }); // { chunk: 1 }, { … }",
  ];
  assert.deepEqual(await runCode(code.join("\n")), []);
});

test("a block has a copy of the fixture of its own, whatever others did to theirs", async () => {
  const code = [
    'import { readdir, rm } from "node:fs/promises";',
    'console.log((await readdir("dist/assets")).length, await readdir("uploads")); // 2 []',
    'await rm("dist", { recursive: true });',
  ].join("\n");
  assert.deepEqual(await runCode(code, "js"), []);
  assert.deepEqual(await runCode(code, "js"), []);
});

test("a page's setup is what it installs by npm and what it makes, wherever that stands", () => {
  const page = [
    "```sh",
    "npm i -D @millrace/streams express@5   # Node",
    "deno add jsr:@millrace/streams npm:express",
    "```",
    "```sh",
    "npm i @tus/server && mkdir -p a",
    "mkdir b && echo c > b/c   # or yours",
    "ls b",
    "```",
  ];
  const fences = fencesOfFile("page.md", page.join("\n"));
  assert.deepEqual(setupOf(fences), {
    packages: ["@millrace/streams", "express", "@tus/server"],
    commands: ["mkdir -p a", "mkdir b && echo c > b/c"],
  });
  const lines = installLinesOf(fences).map(({ line, by, packages }) => [line, by, ...packages]);
  assert.deepEqual(lines, [
    [2, "npm i", "@millrace/streams", "express"],
    [3, "deno add", "@millrace/streams", "express"],
    [6, "npm i", "@tus/server"],
  ]);
});

test("a page's block runs where nothing is but its setup, with the page of example.com, and has to end", async () => {
  const { folder, pages } = project;
  const options = { runtime, executable: process.execPath, project: folder, pages, origin: peer.origin };
  const page = [
    "```sh",
    "mkdir made",
    "npm i express",
    "```",
    "```ts",
    'import "express";',
    'import { compress } from "@millrace/streams/codecs";',
    'import { readdir } from "node:fs/promises";',
    "console.log((await readdir(\".\")).filter((name) => !/^example|^node_modules$/.test(name)), typeof compress); // [ 'made' ] function",
    'console.log((await fetch("https://example.com/")).status); // 200',
    "```",
    "```ts",
    'import "koa";',
    "```",
    "```ts",
    'await fetch("https://api.example.com/");',
    "```",
    "```ts",
    "setInterval(() => {}, 1000);",
    "```",
  ];
  const [whole, ...others] = blocksOf("page.md", page.join("\n"));
  assert.deepEqual(await runBlock(whole, options), []);
  const said = [/koa/, /exit code 1/, /did not end within 3 s/];
  for (const [i, block] of others.entries()) {
    assert.match((await runBlock(block, i === 2 ? { ...options, limit: 3000 } : options)).join("\n"), said[i]);
  }
});

test("a wrong output is told with its line and what was printed", async () => {
  assert.deepEqual(await runCode('console.log(1); // 1\nconsole.log("two"); // three\n'), [
    `page.md:11 (${runtime}): printed "two", expected "three"`,
  ]);
});

test("an error is told with the line that threw it and all that was printed", async () => {
  const [problem, ...rest] = await runCode('console.log("before");\n\nif (true) throw new RangeError("went wrong");\n');
  assert.deepEqual(rest, []);
  assert.ok(problem.startsWith(`page.md:12 (${runtime}): it ended with exit code 1; it printed:\n`), problem);
  assert.match(problem, /before/);
  assert.match(problem, /went wrong/);
});

test("an unhandled rejection fails a block, also a moment after its end and while a server runs", async () => {
  const code = [
    'import { createServer } from "node:http";',
    "createServer().listen(8080);",
    'setTimeout(() => Promise.reject(new Error("lost")), 20);',
  ];
  const [problem] = await runCode(code.join("\n"));
  assert.match(problem ?? "", /exit code 1; it printed:\n[^]*lost/);
});

test("a block that ends before its last line, or by an exit code, fails", async () => {
  const early = await runCode('import process from "node:process";\nprocess.exit(0);\n');
  assert.deepEqual(early, [`page.md:10 (${runtime}): it ended before its last line; it printed nothing`]);
  const [failed] = await runCode('import process from "node:process";\nprocess.exitCode = 3;\n');
  assert.equal(failed, `page.md:10 (${runtime}): it ended with exit code 3; it printed nothing`);
});

const block = (line: number, code: string, ...runtimes: Block["runtimes"]): Block => {
  return { path: "page.md", line, language: "ts", runtimes, code };
};

test("types are checked strictly, with the globals of the runtimes a block names and no others", {
  skip: runtime === "bun" && "Bun checks no types",
}, () => {
  const blocks = [
    block(
      10,
      'import { compress } from "@millrace/streams/codecs";\nconst a: string = await compress(1);\n',
      "node",
      "deno",
    ),
    block(20, 'import { none } from "@millrace/streams/codecs";\n', "node", "deno", "bun"),
    block(30, "Deno.serve(() => new Response());\n", "node", "deno"),
    block(40, "Deno.serve(() => new Response());\n", "deno"),
    block(50, "const a = (b) => b;\n", "bun"),
    block(60, "Bun.serve({ fetch: () => new Response() });\n", "bun"),
    block(70, "Bun.serve({ fetch: () => new Response() });\n", "deno", "bun"),
  ];
  const said = runtime === "deno"
    ? denoCheckBlocks(blocks, project.folder, process.execPath)
    : checkBlocks(blocks, project.folder);
  const places = [...new Set(said.map((complaint) => complaint.split(" (types", 1)[0]))];
  // The TypeScript compiler looks at all, Deno at those that run on it.
  const wrong = runtime === "deno" ? ["11", "20", "70"] : ["11", "20", "30", "50"];
  assert.deepEqual(places, wrong.map((line) => `page.md:${line}`));
});
