import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { createUploadHandler, type UploadHandler } from "../../lib/upload/mod.ts";
import { writeTree } from "../support/folders.ts";
import { contentsOf } from "../upload/handler/serving_handler.ts";

export const script: Buffer = Buffer.from("console.log('the mill turns');\n".repeat(100));
export const large: Buffer = Buffer.alloc(700_000, "the content of a large file\n");

/** A site and a folder for uploads, with handlers for both, to be put into an application. */
export interface ServedSite extends AsyncDisposable {
  readonly files: StaticHandler;
  readonly uploads: UploadHandler;
  /** The logged uploads: status and error. */
  readonly logged: string[];
  /** Returns the stored files, by name. */
  stored(): Promise<Readonly<Record<string, string>>>;
}

/** Makes the site and the folder for uploads in a folder that is removed afterwards. */
export async function makeServedSite(
  paths: { readonly files?: string; readonly uploads?: string } = {},
  options: StaticHandlerOptions = {},
): Promise<ServedSite> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-interop-"));
  const [site, directory] = [join(folder, "site"), join(folder, "uploads")];
  await writeTree(site, {
    "app.js": script,
    "app.js.gz": gzipSync(script),
    "index.html": "<!doctype html><title>Mill</title>",
    "docs/index.html": "<!doctype html><title>Manual</title>",
    "assets/app-3f9a1c0b.js": script,
    "assets/app-3f9a1c0b.js.gz": gzipSync(script),
    "large.bin": large,
  });
  await mkdir(directory);
  const files = await createStaticHandler(site, { basePath: paths.files, ...options });
  const logged: string[] = [];
  const uploads = createUploadHandler({
    directory,
    basePath: paths.uploads,
    maxBytes: 1_000_000,
    log: ({ status, error }) => logged.push(`${status} ${error instanceof Error ? error.message : ""}`),
  });
  return {
    files,
    uploads,
    logged,
    stored: () => contentsOf(directory),
    async [Symbol.asyncDispose](): Promise<void> {
      await files.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
