import assert from "node:assert/strict";
import process from "node:process";
import { after, before, test } from "node:test";
import { root, runtime } from "../support/runtime.ts";
import { noCurl } from "../e2e/same_tree/curl.ts";
import { makeProject, type PeerServer, runShellBlock, startPeerServer } from "./blocks.ts";
import { shellBlocksOf } from "./shell_block.ts";

const project = await makeProject(root);
let peer: PeerServer;
before(async () => {
  peer = await startPeerServer();
});
after(async () => {
  await peer.close();
  project.remove();
});

const serving = (status: number): string[] => [
  "```ts",
  'import { createServer } from "node:http";',
  "createServer((request, response) => {",
  "  request.resume();",
  `  response.writeHead(request.method === "GET" ? 200 : ${status}).end('{"bytes":12}');`,
  "}).listen(8000);",
  "```",
];

/** Runs the only block of sh of a page, whose setup makes a file. */
function run(...lines: string[]): Promise<string[]> {
  const setup = ["```sh", "mkdir films && echo film > film.mp4", "```"];
  const [block] = shellBlocksOf("page.md", [...lines, ...setup].join("\n"));
  const { folder } = project;
  return runShellBlock(block, { runtime, executable: process.execPath, project: folder, origin: peer.origin, root });
}

test("commands are found with their comments, lines that go on are one", () => {
  const page = ["```sh", "one --a '#1'   # said", "", "# nothing", "two \\", "  three", "```"];
  const [{ line, commands, server }] = shellBlocksOf("page.md", page.join("\n"));
  assert.deepEqual([line, commands, server], [2, [
    { line: 2, words: "one --a '#1'", comment: "said" },
    { line: 6, words: "two   three", comment: "" },
  ], undefined]);
});

test("the server of a block is the last before it that listens on its port", () => {
  const other = ["```ts", "listen(3000);", "```"];
  const page = [...serving(201), ...other, "```sh", "curl http://127.0.0.1:8000/", "```", ...serving(500)];
  assert.match(shellBlocksOf("page.md", page.join("\n"))[0].server!.code, /writeHead\(.* 201\)/);
});

test("what would not be run unnoticed is refused with its place", () => {
  assert.throws(
    () => shellBlocksOf("page.md", "```bash\nls\n```"),
    /^TypeError: page\.md:1: a block of bash is not run/,
  );
  assert.throws(() => shellBlocksOf("page.md", "```sh ignore\nls\n```"), /page\.md:1: sh ignore: use sh alone/);
});

test("a command that fails is told with its line, and none runs after it", async () => {
  assert.deepEqual(await run("```sh", "ls film.mp4", "ls none 2> none.txt", "exit 3", "```"), [
    `page.md:3 (${runtime}): it ended with 2; it printed:\n`,
  ]);
});

test("a response to curl has to be a success, or what the comment says", { skip: noCurl }, async () => {
  const put = "curl -T film.mp4 http://127.0.0.1:8000/film.mp4";
  const upload = (status: number, comment = ""): Promise<string[]> => {
    return run(...serving(status), "```sh", `${put} ${comment}`, "```");
  };
  assert.deepEqual(await upload(201), []);
  assert.deepEqual(await upload(415, "# 415"), []);
  assert.deepEqual(await upload(201, '# 201, {"bytes":…}'), []);
  const [wrong] = await upload(415);
  assert.equal(wrong, `page.md:9 (${runtime}): the response is 415 {"bytes":12}, expected a success`);
  assert.equal((await upload(201, "# 200")).length, 1);
  assert.equal((await upload(201, '# 201, {"bytes":13}')).length, 1);
  assert.equal((await run("```sh", `${put} # 201`, "```")).length, 1, "no server");
});
