import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { analyzeOptions } from "../../lib/analyze/mod.ts";
import { analyzeFlags } from "../../lib/cli/analyze_command.ts";
import { type Flag, Flags, nameOf, optionsByPath } from "../../lib/cli/flags.ts";
import { precompressFlags } from "../../lib/cli/precompress_arguments.ts";
import { serveFlags } from "../../lib/cli/serve_arguments.ts";
import { levelOptions, precompressOptions } from "../../lib/precompress/internal.ts";
import { staticHandlerOptions } from "../../lib/static/internal.ts";
import { bool, bytes, integer, listOf, type Member, schema, text } from "../../lib/streams/internal.ts";
import { root } from "../support/runtime.ts";

interface Described {
  readonly flags: Flags;
  readonly options: Readonly<Record<string, Member<unknown>>>;
  /** The options without a flag, and the reason. */
  readonly without: Readonly<Record<string, string>>;
  /** The pages that list the flags. */
  readonly pages: readonly string[];
}

const commands: Readonly<Record<string, Described>> = {
  precompress: {
    flags: precompressFlags,
    options: optionsByPath(precompressOptions, { levels: levelOptions }),
    without: { signal: "SIGINT and SIGTERM stop a run", onProgress: "a terminal shows the progress" },
    pages: ["lib/precompress/README.md", "lib/cli/README.md"],
  },
  serve: {
    flags: serveFlags,
    options: optionsByPath(staticHandlerOptions),
    without: {
      headers: "--header names fields of every response",
      precompressed: "the variants that are there are meant to be sent",
      onWarning: "warnings are printed",
    },
    pages: ["lib/static/README.md", "lib/cli/README.md"],
  },
  analyze: {
    flags: analyzeFlags,
    options: optionsByPath(analyzeOptions),
    without: { signal: "SIGINT and SIGTERM stop it", onProgress: "a terminal shows the progress" },
    pages: ["lib/analyze/README.md"],
  },
};

/** Returns a flag table's problems: each option needs a flag or a reason, each flag an existing option. */
function faultsOf({ flags, options, without }: Omit<Described, "pages">): string[] {
  const set = flags.rows.flatMap(({ option }) => option ?? []);
  return [
    ...Object.keys(options).filter((name) => !set.includes(name) && !without[name]).map((name) => `${name}: no flag`),
    ...set.filter((name) => options[name] === undefined).map((name) => `${name}: no such option`),
    ...Object.keys(without).filter((name) => options[name] === undefined || set.includes(name))
      .map((name) => `${name}: a reason for nothing`),
  ];
}

for (const [command, described] of Object.entries(commands)) {
  test(`each option of ${command} has a flag, or a reason to have none`, () => {
    assert.deepEqual(faultsOf(described), []);
  });

  test(`each flag of ${command} is in its help and in its page`, () => {
    const help = described.flags.help();
    const pages = described.pages.map((page) => readFileSync(join(root, page), "utf8")).join("\n");
    for (const row of described.flags.rows) {
      if (row.help === undefined) continue;
      assert.match(help, new RegExp(`^  (?:-\\w, )?--${nameOf(row)}(?: |$)`, "m"));
      assert.ok(pages.includes(`--${nameOf(row)}`), `a page tells of --${nameOf(row)}`);
    }
  });
}

const sizes = schema("a test", () => ({
  isLarge: bool(false),
  isRound: bool(true),
  maxSize: bytes(1536),
  count: integer(1, 9, 4),
  names: listOf(text(), "a list of names"),
}));

const table = (...rows: readonly Flag[]): Flags => new Flags(() => optionsByPath(sizes), rows);

test("an option without a flag, and a flag without an option, are found", () => {
  const flags = table({ option: "isLarge", help: "" }, { option: "isSmall", help: "" });
  const faults = faultsOf({ flags, options: sizes.members, without: { isRound: "it always is", isLarge: "" } });
  assert.deepEqual(faults, [
    "maxSize: no flag",
    "count: no flag",
    "names: no flag",
    "isSmall: no such option",
    "isLarge: a reason for nothing",
  ]);
});

const all = table(
  { option: "isLarge", help: "much" },
  { option: "isRound", name: "no-round", help: "with corners" },
  { option: "maxSize", short: "m", value: "BYTES", help: "no more" },
  { option: "count", value: "N", help: "how many, {range},\nall together" },
  { option: "names", name: "name", value: "NAME", help: "can be repeated", otherwise: "any" },
  { name: "own", value: "TEXT", help: "of the command", mayBeEmpty: true },
);

test("the help tells of ranges and defaults as the schema has them", () => {
  assert.equal(
    all.help(),
    `  --is-large             much
  --no-round             with corners
  -m, --max-size BYTES   no more (default 1536)
  --count N              how many, 1 to 9,
                         all together (default 4)
  --name NAME            can be repeated (default: any)
  --own TEXT             of the command
  -h, --help; -v, --version
`,
  );
});

test("flags set the options of their schema, and nothing where none is given", () => {
  assert.deepEqual(all.parse([]).options(), {});
  const given = all.parse(["a", "--is-large", "--no-round", "-m", "2k", "--count=5", "--name", "x", "--name=y", "b"]);
  assert.deepEqual(given.options(), { isLarge: true, isRound: false, maxSize: 2048, count: 5, names: ["x", "y"] });
  assert.deepEqual(given.words, ["a", "b"]);
  assert.equal(all.parse(["--own", ""]).text("own"), "");
});

test("a flag is a switch or has a value, once or several times, as its option says", () => {
  for (
    const [words, message] of [
      [["--is-large=false"], "--is-large takes no value"],
      [["--count"], "--count needs a value"],
      [["--count", "two"], "--count two is not a whole number"],
      [["--name", ""], "--name has an empty value"],
      [["--nam", "x"], "unknown option --nam: did you mean --name?"],
    ] as const
  ) {
    assert.throws(() => all.parse(words).options(), { name: "UsageError", message });
  }
  assert.equal(all.parse(["--count", "3", "--count", "5"]).options().count, 5);
});

test("an error about an option names its flag", () => {
  const given = all.parse(["--count", "10", "--name", "x"]);
  const told = (message: string): string => given.explained(new RangeError(message)).message;
  assert.equal(told("count 10 is out of range"), "--count 10 is out of range");
  assert.equal(told("names[0] must be short"), "--name must be short");
  assert.equal(told("maxSize must be a number"), "maxSize must be a number"); // no flag is to blame
  assert.equal(told("countless"), "countless");
});
