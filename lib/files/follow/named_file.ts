import { stat } from "node:fs/promises";
import type { FollowedFile, Trail } from "./followed_file.ts";
import { GrowingFile, idOf } from "./growing_file.ts";
import { unlessMissing } from "./unless_missing.ts";

/** The files that have a name one after the other. */
export class NamedFile implements Trail {
  readonly path: string;
  readonly #start: number | "end";

  constructor(path: string, start: number | "end") {
    this.path = path;
    this.#start = start;
  }

  first(): Promise<FollowedFile | undefined> {
    return unlessMissing(GrowingFile.open(this.path, this.#start, true));
  }

  async next(newest: FollowedFile | undefined): Promise<FollowedFile | undefined> {
    if (newest !== undefined) {
      const status = await unlessMissing(stat(this.path));
      if (status === undefined || idOf(status) === newest.id) return undefined;
    }
    const file = await unlessMissing(GrowingFile.open(this.path, 0, true));
    if (file === undefined || newest === undefined || file.id !== newest.id) return file;
    await file.close();
    return undefined;
  }
}
