import type { BodyDestination } from "../sink/open_sink.ts";
import type { SessionStorage } from "../session/session_storage.ts";

/** A file that is there. */
export interface Place {
  /** When it was stored, in ms since 1970. */
  readonly mtimeMs: number;
  /** Its entity tag; files on a disk have none. */
  readonly etag?: string;
}

/** How a file is stored. */
export interface PlaceOptions {
  readonly overwrite: boolean;
  readonly contentType: string;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** The place where a handler stores files: a folder, or a bucket. */
export interface Storage {
  /** An absolute path; undefined if it is no folder. */
  readonly root: string | undefined;
  /**
   * The file of a checked name; undefined if there is none.
   *
   * @throws {UploadError | Refusal} if nothing can be stored under that name.
   */
  look(name: string): Place | undefined | Promise<Place | undefined>;
  /** Returns the destination of the body of a file. */
  destination(name: string, options: PlaceOptions): BodyDestination;
  /** Takes away again what was stored under names where nothing was before. Never rejects. */
  takeBack(destinations: readonly BodyDestination[]): Promise<void>;
  /** Returns the error that tells the sender of a failure; the failure itself if it is not the storage's. */
  explained(error: unknown, name: string): unknown;
  /** Returns the store of unfinished uploads. */
  sessions(): SessionStorage;
}
