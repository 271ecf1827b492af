/**
 * Checks that a tag, the manifests and the changelog speak of the same version, and prints that version's changes.
 *
 *   node .ci/release_check.ts v1.2.3
 *
 * Exits with 1 if they do not, each difference named, and with 2 without a tag.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The texts that name the version. */
export interface VersionedFiles {
  readonly "package.json": string;
  readonly "package-lock.json": string;
  readonly "deno.json": string;
  readonly "lib/cli/version.ts": string;
  readonly "CHANGELOG.md": string;
}

/** The verdict on a release: its notes, and the problems that prevent it. */
export interface ReleaseCheck {
  readonly notes: string;
  readonly problems: readonly string[];
}

const TAG = /^v((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*))$/;
const UNRELEASED = "Unreleased";

/** Compares a tag with the files of the commit it is on. */
export function checkRelease(tag: string, files: VersionedFiles): ReleaseCheck {
  const version = TAG.exec(tag)?.[1];
  if (version === undefined) return { notes: "", problems: [`the tag is ${tag}, not vX.Y.Z`] };
  const problems: string[] = [];
  for (const name of ["package.json", "package-lock.json", "deno.json"] as const) {
    const stated = JSON.parse(files[name]).version;
    if (stated !== version) problems.push(`${name} has version ${stated}, the tag ${version}`);
  }
  if (!files["lib/cli/version.ts"].includes(`"${version}"`)) {
    problems.push(`lib/cli/version.ts, what millrace --version prints, does not say "${version}"`);
  }
  const section = changelogSection(files["CHANGELOG.md"], version);
  if (section === undefined) problems.push(`CHANGELOG.md has no heading "## [${version}] - YYYY-MM-DD"`);
  else if (section === "") problems.push(`CHANGELOG.md says nothing below [${version}]`);
  if (changelogSection(files["CHANGELOG.md"], UNRELEASED)) {
    problems.push(`CHANGELOG.md still has changes below [Unreleased]: move them below [${version}]`);
  }
  return { notes: section ?? "", problems };
}

/** Returns the trimmed text below a heading; undefined if that heading is missing or lacks the version's date. */
function changelogSection(changelog: string, name: string): string | undefined {
  const heading = name === UNRELEASED ? `## [${name}]` : `## [${name}] - DATE`;
  const sections = changelog.split(/^(?=## \[)/m).map((section) => section.split("\n"));
  const found = sections.find(([first]) => first.trim().replace(/\d{4}-\d{2}-\d{2}$/, "DATE") === heading);
  return found?.slice(1).join("\n").trim();
}

// import.meta.main would be Node 24's.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tag] = process.argv.slice(2);
  if (tag === undefined) {
    console.error("usage: node .ci/release_check.ts vX.Y.Z");
    process.exit(2);
  }
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const { notes, problems } = checkRelease(tag, {
    "package.json": read("package.json"),
    "package-lock.json": read("package-lock.json"),
    "deno.json": read("deno.json"),
    "lib/cli/version.ts": read("lib/cli/version.ts"),
    "CHANGELOG.md": read("CHANGELOG.md"),
  });
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(notes);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
