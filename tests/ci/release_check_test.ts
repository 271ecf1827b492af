import assert from "node:assert/strict";
import test from "node:test";
import { checkRelease, type VersionedFiles } from "../../.ci/release_check.ts";

const files: VersionedFiles = {
  "package.json": `{ "version": "1.2.3" }`,
  "package-lock.json": `{ "version": "1.2.3" }`,
  "deno.json": `{ "version": "1.2.3" }`,
  "lib/cli/version.ts": `export const version = "1.2.3";`,
  "CHANGELOG.md":
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-22\n\n### Fixed\n\n- It.\n\n## [1.2.2] - 2026-01-01\n",
};

test("checkRelease() gives a version's changes when all files name it", () => {
  assert.deepEqual(checkRelease("v1.2.3", files), { notes: "### Fixed\n\n- It.", problems: [] });
});

test("checkRelease() names each file that has another version", () => {
  const others = {
    ...files,
    "deno.json": `{ "version": "1.2.2" }`,
    "lib/cli/version.ts": `export const version = "1.2.30";`,
  };
  assert.deepEqual(checkRelease("v1.2.3", others).problems, [
    "deno.json has version 1.2.2, the tag 1.2.3",
    `lib/cli/version.ts, what millrace --version prints, does not say "1.2.3"`,
  ]);
});

test("checkRelease() asks for the changelog's entry with its date", () => {
  const changelog = (text: string): readonly string[] => {
    return checkRelease("v1.2.3", { ...files, "CHANGELOG.md": `# Changelog\n\n${text}` }).problems;
  };
  const missing = [`CHANGELOG.md has no heading "## [1.2.3] - YYYY-MM-DD"`];
  assert.deepEqual(changelog("## [1.2.2] - 2026-01-01\n\n- It.\n"), missing);
  assert.deepEqual(changelog("## [1.2.3]\n\n- It.\n"), missing);
  assert.deepEqual(changelog("## [1.2.3] - 2026-11-22\n\n"), ["CHANGELOG.md says nothing below [1.2.3]"]);
  assert.deepEqual(changelog("## [Unreleased]\n\n- More.\n\n## [1.2.3] - 2026-11-22\n\n- It.\n"), [
    "CHANGELOG.md still has changes below [Unreleased]: move them below [1.2.3]",
  ]);
});

test("checkRelease() takes no other tags than vX.Y.Z", () => {
  for (const tag of ["1.2.3", "v1.2", "v1.2.3-rc.1", "v01.2.3", "release"]) {
    assert.deepEqual(checkRelease(tag, files).problems, [`the tag is ${tag}, not vX.Y.Z`]);
  }
});
