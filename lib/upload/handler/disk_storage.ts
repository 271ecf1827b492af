import { makeDirectorySync, reasonOf } from "../../files/internal.ts";
import { removeAbandonedOnce } from "../sink/file_sink.ts";
import { DiskSessions } from "../session/disk_sessions.ts";
import type { SessionStorage } from "../session/session_storage.ts";
import type { SaveFormOptions } from "../form/form_options.ts";
import type { BodyDestination } from "../sink/open_sink.ts";
import { statusOfPlace } from "./place.ts";
import type { Place, Storage } from "./storage.ts";

/** Files in a folder. */
export class DiskStorage implements Storage {
  readonly root: string;
  readonly #options: Pick<SaveFormOptions, "mode" | "flush">;

  /** @throws {Error} if the folder is missing and cannot be made. */
  constructor(directory: string, options: Pick<SaveFormOptions, "mode" | "flush">) {
    this.root = directory;
    this.#options = options;
    try {
      makeDirectorySync(directory);
    } catch (cause) {
      throw new Error(`cannot make the directory ${directory} for uploads: ${reasonOf(cause)}`, { cause });
    }
    removeAbandonedOnce(directory);
  }

  /**
   * Looking is synchronous: it takes some µs, and a turn of the event loop would let more of the body arrive before it
   * can be held back.
   */
  look(name: string): Place | undefined {
    return statusOfPlace(this.root, name);
  }

  destination(name: string): BodyDestination {
    return name;
  }

  /** Forms do that themselves with files. */
  takeBack(): Promise<void> {
    return Promise.resolve();
  }

  explained(error: unknown): unknown {
    return error;
  }

  sessions(): SessionStorage {
    return new DiskSessions(this.root, this.#options);
  }
}
