import type { Family } from "./tail.ts";

/** Folders that build tools make for scripts and styles, within the folder of a build. */
const CODE = /(?:^|\/)(?:js|css|scripts?|styles?|javascripts?|stylesheets|chunks|routes|_shared|_assets)\/$/;
/** Folders that they make for what scripts and styles refer to, beside those. */
const ASSETS = /(?:^|\/)(?:img|fonts|media|assets|_assets)\/$/;
/** Folders for more scripts and styles, within a folder of scripts: of Rollup, Remix and VitePress. */
const CODE_WITHIN = /(?:^|\/)(?:routes|_shared|_assets|chunks|assets)\/$/;
/** Folders for assets, within a folder of scripts: of Rollup. */
const ASSETS_WITHIN = /(?:^|\/)assets\/$/;
/** Angular's, whose assets have hashes in base32, whatever its scripts have. */
const ASSETS_OF_ANGULAR = /(?:^|\/)media\/$/;

/** Whether a folder, by its path with a slash at the end, has a name that build tools give to one of scripts or styles. */
export function isCodeFolder(folder: string): boolean {
  return CODE.test(folder);
}

/**
 * Other folders in which a build that put a file into `folder` may have put scripts: none if build tools make no folder
 * of that name, as `users/`.
 *
 * @param family Of the file's tail.
 */
export function codeFoldersNear(folder: string, isCode: boolean, family: Family): string[] {
  const parent = folder === "" ? undefined : parentOf(folder);
  const near: string[] = [];
  if (parent !== undefined) {
    const isWithin = isCode ? CODE_WITHIN.test(folder) : ASSETS_WITHIN.test(folder);
    if (isWithin || (family === "upper" && !isCode && ASSETS_OF_ANGULAR.test(folder))) near.push(parent);
    if ((isCode ? CODE : ASSETS).test(folder)) near.push(codeIn(parent));
  }
  return isCode ? [...near, codeIn(folder)] : near;
}

/** A name for all folders of scripts and styles in `folder`; no path is like it. */
export function codeIn(folder: string): string {
  return `${folder}/code`;
}

/** The folder that `folder`, with a slash at the end, is in; empty if it is the root's. */
export function parentOf(folder: string): string {
  return folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
}
