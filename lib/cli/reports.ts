import { access, constants, lstat, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { holds, realPathOf, writeAtomically } from "../files/internal.ts";
import { explainPlace, type Folder, manifestAt, originalsIn, type RunDetails, walk } from "../precompress/internal.ts";
import { extensions, type FileRecord, manifestName } from "../precompress/mod.ts";
import type { Former } from "../report/mod.ts";
import { printable } from "../static/internal.ts";
import { UsageError } from "./usage.ts";

/** The ends of names of reports that are pages; the others are summaries. */
const PAGE = /[^/\\]\.html?$/i;

/** Requires, before a run, that its reports can be written outside of deployed folders. */
export async function requireReportPlaces(paths: readonly string[], deployed: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (!PAGE.test(path) && !/[^/\\]\.md$/i.test(path)) {
      throw new UsageError(`--report ${path}: name a page, report.html, or a summary in Markdown, report.md`);
    }
    const place = await placeOf(path);
    for (const folder of deployed) {
      const real = await realPathOf(folder).catch(() => resolve(folder));
      if (!holds(real, place)) continue;
      throw new UsageError(`--report ${path} is in ${folder}, which is deployed: write it elsewhere`);
    }
  }
}

/** Returns the real path of an output file. */
async function placeOf(path: string): Promise<string> {
  const folder = await realPathOf(dirname(path)).catch((cause) => {
    throw new UsageError(`--report ${path}: there is no folder ${dirname(path)}`, { cause });
  });
  await access(folder, constants.W_OK).catch((cause) => {
    throw new UsageError(`--report ${path}: ${dirname(path)} cannot be written to`, { cause });
  });
  const place = join(folder, basename(path));
  const isFile = await stat(place).then((found) => found.isFile(), () => true);
  if (!isFile) throw new UsageError(`--report ${path}: a folder, or what is no file, has this name`);
  return await realPathOf(place).catch(async () => {
    const isLink = await lstat(place).then((found) => found.isSymbolicLink(), () => false);
    if (isLink) throw new UsageError(`--report ${path}: the symbolic link leads nowhere`);
    return place;
  });
}

/** Writes the reports of a run, each atomically. */
export async function writeReports(paths: readonly string[], run: RunDetails): Promise<void> {
  if (paths.length === 0) return;
  const { htmlReport, markdownReport, siteReportOf } = await import("../report/mod.ts");
  const report = await siteReportOf(run, await formersOf(run));
  for (const path of paths) {
    await writeAtomically(path, PAGE.test(path) ? htmlReport(report, new Date()) : markdownReport(report)).catch(
      (cause) => {
        throw new Error(`cannot write the report ${path}: ${explainPlace(cause)}`, { cause });
      },
    );
  }
}

/** Returns the former files: those of previous deploys, which visitors have, or those of the last run. */
async function formersOf({ places: { previous }, before, settings }: RunDetails): Promise<Former[]> {
  if (previous.length === 0) return before.size > 0 ? [{ name: "", isDeploy: false, records: before }] : [];
  return await Promise.all(previous.map(async (folder): Promise<Former> => {
    const manifest = await manifestAt(folder.at(manifestName)).catch((error) => {
      process.stderr.write(`millrace: ${printable(error.message)}; the report compares its files\n`);
    });
    const records = manifest ? new Map(Object.entries(manifest.files)) : await recordsIn(folder, settings);
    return { name: basename(folder.path), isDeploy: true, records };
  }));
}

/** Returns the records of a deploy without a manifest, made from its files. */
async function recordsIn(folder: Folder, options: RunDetails["settings"]): Promise<Map<string, FileRecord>> {
  const { files } = await walk(folder, { ...options, once: false });
  const sizes = new Map(files.map(({ path, size }) => [path, size]));
  const formats = Object.entries(extensions);
  const records = new Map<string, FileRecord>();
  for (const { path, size } of originalsIn(files)) {
    const { sha256 } = await folder.contentOf(path);
    const variants = Object.fromEntries(
      formats.filter(([, end]) => sizes.has(path + end)).map(([format, end]) => {
        return [format, { state: "found", settings: "", size: sizes.get(path + end) }];
      }),
    );
    records.set(path, { size, sha256, variants });
  }
  return records;
}
