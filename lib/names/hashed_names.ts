import { FolderEvidence } from "./evidence.ts";
import { fileKindOf, type FileName, fileNameOf } from "./file_name.ts";
import { hashIn, nextFolderOf, placeOf } from "./layouts.ts";
import { isNamedOtherwise } from "./other_meaning.ts";
import { codeFoldersNear, codeIn, isCodeFolder, parentOf } from "./related_folders.ts";
import { isHashByItself } from "./single_name.ts";
import { type HashedPart, type Tail, tailsOf } from "./tail.ts";

/**
 * Finds the files of a tree whose names hold a hash of their content, so that they never change.
 *
 * It goes by what build tools write: the folders of frameworks; else, one name by itself only for scripts and styles
 * where nothing that people write looks like it; others by the company they keep. Names that are words, dates, versions
 * or ids, documents, source maps and service workers are never among them: see {@linkcode fileNameOf}.
 *
 * @param paths All paths of the tree, with `/` between their parts; read at the first question.
 * @returns Finds the hash in a path of the tree; undefined if there is none.
 */
export function hashedNames(paths: Iterable<string>): (path: string) => HashedPart | undefined {
  let tree: TreeEvidence | undefined;
  return (path) => (tree ??= new TreeEvidence(paths)).hashIn(path);
}

/** The files of a folder that build tools may have named. */
interface Listed {
  readonly code: string[];
  /** Paths that are not in the folder's evidence yet. */
  readonly assets: string[];
}

/** The evidence that the names of a tree give about each other, folder by folder as somebody asks. */
class TreeEvidence {
  /** By path, with a slash at the end. */
  readonly #listed = new Map<string, Listed>();
  /** By the name for several folders that {@linkcode codeIn} gives: these. */
  readonly #codeFolders = new Map<string, string[]>();
  /** By path or such a name, as far as somebody asked. */
  readonly #found = new Map<string, FolderEvidence>();
  readonly #nextFolders: string[] = [];

  constructor(paths: Iterable<string>) {
    this.#list(paths);
    for (const [folder, { code }] of this.#listed) {
      if (code.length === 0 || !isCodeFolder(folder)) continue;
      const several = codeIn(parentOf(folder));
      const known = this.#codeFolders.get(several);
      if (known) known.push(folder);
      else this.#codeFolders.set(several, [folder]);
    }
  }

  hashIn(path: string): HashedPart | undefined {
    const name = fileNameOf(path);
    if (!name) return undefined;
    const place = placeOf(path, this.#nextFolders);
    const part = (place && hashIn(path, place, name)) ?? this.#tailIn(path, name);
    return part && !isNamedOtherwise(path, name, part) ? { start: part.start, end: part.end } : undefined;
  }

  #tailIn(path: string, name: FileName): Tail | undefined {
    if (!name.kind) return undefined;
    return tailsOf(path, name.start, name.end).find((each) => this.#isHash(path, name, each));
  }

  #isHash(path: string, name: FileName, tail: Tail): boolean {
    const isCode = name.kind !== "asset";
    const folder = path.slice(0, name.start);
    const near = this.#codeNear(folder, isCode, tail);
    // Most assets are in folders that nothing has to be known of, as nothing there is believed.
    if (!isCode && near.length === 0) return false;
    const own = this.#evidence(folder);
    if (!isCode) own?.assets.add(this.#listed.get(folder)!.assets.splice(0));
    if (tail.separator !== "/" && own?.hasIds(path, name, tail)) return false;
    if (isCode && isHashByItself(path, name, tail)) return true;
    return near.some((each) => each.vouchesFor(tail, isCode, own));
  }

  /** The evidence of the folders where a build that made a file of `folder` puts its scripts, if they have clear tails. */
  #codeNear(folder: string, isCode: boolean, tail: Tail): FolderEvidence[] {
    return [folder, ...codeFoldersNear(folder, isCode, tail.family)].flatMap((each) => {
      const evidence = this.#evidence(each);
      return evidence && evidence.code.clear > 0 ? [evidence] : [];
    });
  }

  /** The evidence in a folder, or in several of one name; undefined if there is none. */
  #evidence(name: string): FolderEvidence | undefined {
    const found = this.#found.get(name);
    if (found) return found;
    const listed = this.#listed.get(name);
    const several = this.#codeFolders.get(name);
    if (!listed && !several) return undefined;
    const evidence = new FolderEvidence();
    for (const folder of several ?? [name]) evidence.code.add(this.#listed.get(folder)!.code);
    this.#found.set(name, evidence);
    return evidence;
  }

  /** Sorts the files by their folders. */
  #list(paths: Iterable<string>): void {
    let folder: string | undefined;
    let files: Listed = { code: [], assets: [] };
    for (const path of paths) {
      const kind = fileKindOf(path);
      if (kind === undefined) continue;
      const start = path.lastIndexOf("/") + 1;
      if (folder?.length !== start || !path.startsWith(folder)) {
        folder = path.slice(0, start);
        files = this.#listed.get(folder) ?? { code: [], assets: [] };
        this.#listed.set(folder, files);
      }
      (kind === "asset" ? files.assets : files.code).push(path);
      const nextFolder = nextFolderOf(path);
      if (nextFolder !== undefined) this.#nextFolders.push(nextFolder);
    }
  }
}
