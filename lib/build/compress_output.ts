import { existsSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { precompress, type PrecompressReport } from "../precompress/mod.ts";
import { isWithin, toldBy } from "../precompress/internal.ts";
import type { PrecompressPluginOptions } from "./options.ts";
import { type Output, shownFolder } from "./output.ts";
import { formatProgress, formatReport } from "./summary.ts";

/** A build tool, as its plugin speaks to it. */
export interface Tool {
  /** The project's folder, which relative paths are below. */
  readonly root: string;
  /** The option that names the folder of the output, for messages. */
  readonly option: string;
  /** Prints lines in the tool's own way; undefined: it is silent. */
  readonly print: ((text: string) => void) | undefined;
}

/**
 * Compresses what a build wrote, once all of it is there, and prints what that saved.
 *
 * @throws {Error} if a file could not be compressed, or the output is not in a folder of its own.
 */
export async function compressOutput(output: Output, options: PrecompressPluginOptions, tool: Tool): Promise<void> {
  for (const folder of output.takeFolders()) {
    if (isWithin(tool.root, folder)) {
      throw new Error(
        `cannot compress ${folder}: it holds the whole project. Set ${tool.option} to a folder of its own`,
      );
    }
    await compressFolder(folder, output, options, tool);
  }
}

async function compressFolder(
  folder: string,
  output: Output,
  options: PrecompressPluginOptions,
  { root, print }: Tool,
): Promise<void> {
  const told = await toldBy(options.immutable);
  const showsProgress = print !== undefined && process.stderr.isTTY === true;
  const { previous, ...settings } = below(root, options);
  const former = previous !== undefined && existsSync(previous) ? previous : undefined;
  let report: PrecompressReport;
  try {
    report = await precompress(folder, {
      ...settings,
      ...(former !== undefined && { previous: former }),
      immutable: (path) => told(path) || output.isHashed(folder, path),
      ...(showsProgress && { onProgress: (progress) => showLine(formatProgress(progress)) }),
    });
  } finally {
    if (showsProgress) showLine("");
  }
  if (report.problems.length > 0) {
    const list = report.problems.map(({ path, message }) => `\n  ${path}: ${message}`).join("");
    throw new Error(`cannot compress all of ${shownFolder(folder, root)}:${list}`);
  }
  print?.(formatReport(report));
  if (previous !== former) print?.(`there is no ${shownFolder(previous!, root)} yet, so there are no deltas`);
}

/** The options with absolute paths. */
function below(root: string, options: PrecompressPluginOptions): PrecompressPluginOptions {
  const { out, previous, cache } = options;
  return {
    ...options,
    ...(out !== undefined && { out: resolve(root, out) }),
    ...(previous !== undefined && { previous: resolve(root, previous) }),
    ...(cache !== undefined && { cache: resolve(root, cache) }),
  };
}

function showLine(text: string): void {
  process.stderr.write(`\r\x1b[K${text}`);
}
