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
  readonly assets: string[];
}

class TreeEvidence {
  /** By path, with a slash at the end, or the name for several folders that {@linkcode codeIn} gives. */
  readonly #folders = new Map<string, FolderEvidence>();
  readonly #nextFolders: string[] = [];

  constructor(paths: Iterable<string>) {
    const listed = this.#list(paths);
    for (const [folder, { code }] of listed) {
      if (code.length === 0) continue;
      const evidence = this.#evidence(folder);
      evidence.code.add(code);
      if (isCodeFolder(folder)) this.#evidence(codeIn(parentOf(folder))).code.merge(evidence.code);
    }
    for (const [folder, { assets }] of listed) {
      // Of other folders nothing has to be known, as nothing there is believed.
      if (assets.length > 0 && this.#codeNear(folder, "asset").length > 0) this.#evidence(folder).assets.add(assets);
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
    const own = this.#folders.get(folder);
    if (tail.separator !== "/" && own?.hasIds(path, name, tail)) return false;
    if (isCode && isHashByItself(path, name, tail)) return true;
    return this.#codeNear(folder, isCode ? "code" : "asset", tail).some((each) => each.vouchesFor(tail, isCode, own));
  }

  /** The evidence of the folders where a build that made a file of `folder` puts its scripts, if they have clear tails. */
  #codeNear(folder: string, kind: "code" | "asset", tail?: Tail): FolderEvidence[] {
    return [folder, ...codeFoldersNear(folder, kind === "code", tail?.family)].flatMap((each) => {
      const evidence = this.#folders.get(each);
      return evidence && evidence.code.clear > 0 ? [evidence] : [];
    });
  }

  /** Sorts the files by their folders. */
  #list(paths: Iterable<string>): Map<string, Listed> {
    const listed = new Map<string, Listed>();
    let folder: string | undefined;
    let files: Listed = { code: [], assets: [] };
    for (const path of paths) {
      const kind = fileKindOf(path);
      if (kind === undefined) continue;
      const start = path.lastIndexOf("/") + 1;
      if (folder?.length !== start || !path.startsWith(folder)) {
        folder = path.slice(0, start);
        files = listed.get(folder) ?? { code: [], assets: [] };
        listed.set(folder, files);
      }
      (kind === "asset" ? files.assets : files.code).push(path);
      const nextFolder = nextFolderOf(path);
      if (nextFolder !== undefined) this.#nextFolders.push(nextFolder);
    }
    return listed;
  }

  #evidence(folder: string): FolderEvidence {
    let evidence = this.#folders.get(folder);
    if (!evidence) this.#folders.set(folder, evidence = new FolderEvidence());
    return evidence;
  }
}
