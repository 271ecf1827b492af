import type { ClientSetup } from "./client_questions.ts";

/** A client of one origin. */
export interface Way {
  /** GETs, and resolves to the whole body as text. */
  text(): Promise<string>;
  /** GETs, and resolves to how many bytes the body had; none is kept. */
  download(): Promise<number>;
  /** Sends all chunks with POST as fast as possible, without a length; resolves when the response is read. */
  upload(pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** Closes connections, as far as it can. */
  end(): void;
}

/** Functions by name that create a client. */
export type Ways = Readonly<Record<string, (setup: ClientSetup) => Way | Promise<Way>>>;
