import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { drawPage } from "../../bench/page/page.ts";
import { measured, withFigures } from "../../bench/page/readme_figures.ts";
import { type Section, toJson, toSection } from "../../bench/page/tables.ts";
import { readResults } from "../../bench/page/write_page.ts";
import { root } from "../support/runtime.ts";

const folder = join(root, "bench");
const picture = join(root, "lib/precompress_run.svg");

/** Returns a section of streams with one row. */
function streams(runtime: string, version: string, row: string): Section {
  const notes = `2026-01-02, ${version}, a CPU, 2 cores. Chunks/ms, best of 15 rounds.`;
  const table = "|  | ours | native | to native | to best |\n| --- | --: | --: | --: | --: |";
  return toSection(`streams: ${runtime}`, `${notes}\n\n${table}\n| ${row} |\n`);
}

/** Returns the bars of a plot: their runtime, how long they are in pixels, and where they begin. */
function barsOf(svg: string): { runtime: string; x: number; width: number }[] {
  const bars = svg.matchAll(/<rect class="(\w+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="9"/g);
  return [...bars].map(([, runtime, x, width]) => ({ runtime, x: Number(x), width: Number(width) }));
}

test("the page and the plots that are committed are what the results give", () => {
  const files = drawPage(readResults(folder));
  const kept = ["README.md", ...globSync("plots/*", { cwd: folder }).map((path) => path.replaceAll("\\", "/"))];
  assert.deepEqual([...files.keys()].sort(), kept.sort(), "run node bench/draw.ts");
  for (const [path, text] of files) {
    assert.ok(text === readFileSync(join(folder, path), "utf8"), `bench/${path} is another: run node bench/draw.ts`);
  }
});

test("the figures of the README are those of the results, and none of them is anybody's memory", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  assert.equal(withFigures(readme, readResults(folder)), readme, "run node bench/draw.ts");
  const others = measured.reduce((text, place) => text.replace(place, ""), readme.replace(/^```[^]*?^```$/gm, ""));
  const figures = others.match(/[\d.,]+(?:\s+times\b|\s*(?:%|[kKMG]i?B\b|[mµ]?s\b))|^\|(?:.*\|)? +\d+\.\d+ \|.*$/gm);
  const [, before, brotli] = /: before ([^,]+), brotli ([^,]+),/.exec(readFileSync(picture, "utf8"))!;
  assert.deepEqual(figures, [before, brotli, "16 kB"]); // the last one is held by tests/architecture/size_test.ts
  assert.equal(withFigures(readme, []), readme, "what was not measured again stays");
  assert.throws(() => withFigures(readme.replace(/up to (?=\d)/, "up to about "), []), /README\.md has no .*byte/);
});

test("a bar goes right of the line where ours is ahead and left where it is behind, as far as the logarithm tells", () => {
  const results = [
    streams("Bun", "Bun 9.8.7", "pipeTo, sync sink | 400 | 100 | 4.00 | 4.00"),
    streams("Node", "Node 99.1.0", "pipeTo, sync sink | 50 | 100 | 0.50 | 0.50"),
  ];
  const svg = drawPage(results).get("plots/streams_pipes.svg")!;
  const [node, bun, ...others] = barsOf(svg);
  assert.deepEqual([node.runtime, bun.runtime, others], ["Node", "Bun", []]);
  assert.ok(Math.abs(node.x + node.width - bun.x) <= 0.2, "both meet at the line");
  assert.ok(Math.abs(bun.width / node.width - 2) < 0.01, `${bun.width} to ${node.width}`);
  assert.match(svg, />Node 99\.1\.0<[^]*>Bun 9\.8\.7</);
  assert.doesNotMatch(svg, /class="Deno"/);
  assert.match(svg, />pipeTo, sync sink<[^]*>0\.50<[^]*>4\.0</);
});

test("the page tells where ours is behind, and nothing of what was not measured", () => {
  const page = drawPage([streams("Deno", "Deno 3.2.1", "a row of tomorrow | 30 | 100 | 0.30 | 0.30")]).get(
    "README.md",
  )!;
  assert.match(page, /^\| Chunk by chunk: a row of tomorrow +\| +\| +\| +0\.30 \|$/m);
  assert.match(page, /^\| Web streams +\| +\| +\| +0 \/ 0 \/ 1 \|$/m);
  assert.match(page, /^npm run bench -- streams$/m);
  assert.doesNotMatch(page, /npm run bench -- http|NaN|undefined|Infinity/);
});

test("without any section there is a page without plots", () => {
  const files = drawPage([]);
  assert.deepEqual([...files.keys()], ["README.md"]);
});

test("what an import costs is drawn from the sections of cold starts", () => {
  const section = toSection(
    "cold start: Deno",
    "2026-01-02, Deno 3.2.1, a CPU, 2 cores. Medians.\n\nInstalled by `deno add npm:it`:\n\n" +
      "|  | whole process |\n| --- | --: |\n| an empty module | 40.0 ms |\n\n" +
      "| import | more than that |\n| --- | --: |\n| `@millrace/streams` | 8.0 ms |\n| `undici` | 16.0 ms |\n\n" +
      "| first call in a process | `compress()` | `node:zlib` |\n| --- | --: | --: |\n| brotli | 10.0 ms | 5.0 ms |\n\n" +
      "Installed by `deno add jsr:it`:\n\n" +
      "| import | more than that |\n| --- | --: |\n| `@millrace/streams` | 4.0 ms |\n",
  );
  const files = drawPage([section]);
  const [ours, peer, fromJsr] = barsOf(files.get("plots/cold_start.svg")!).map(({ width }) => width);
  assert.ok(Math.abs(peer / ours - 2) < 0.01, `${peer} to ${ours}`);
  assert.ok(Math.abs(ours / fromJsr - 2) < 0.01, `${ours} to ${fromJsr}`);
  assert.match(files.get("plots/cold_start_codecs.svg")!, />0\.50 \(10 ms\)</);
  assert.match(files.get("README.md")!, /an empty module takes 40 ms/);
});

test("a section is the same when it is read again, with a row a line", () => {
  const body =
    '2026-01-02, Node 3.2.1, a CPU.\n\nOne:\n\n| a | b |\n| --- | --: |\n| x, "y" | 1 |\n| z\\ | 2 |\n\n| c |\n| --- |\n\nAfter.\n';
  const section = toSection("topic: Node", body);
  assert.deepEqual(section.tables.map(({ caption, rows }) => [caption, rows.length]), [["One", 2], ["One", 0]]);
  assert.deepEqual([section.measured, section.notes], ["2026-01-02, Node 3.2.1, a CPU.", ["After."]]);
  assert.deepEqual(JSON.parse(toJson(section)), section);
  assert.match(toJson(section), /^ +\[ "z\\\\", "2" \]$/m);
});
