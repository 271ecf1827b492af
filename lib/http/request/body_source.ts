import type { RequestBody } from "../exchange.ts";

/** A request's body, opened for each attempt to send it. */
export interface BodySource {
  /** In bytes; undefined if nobody knows. */
  readonly length: number | undefined;
  /** Whether it can be opened more than once. */
  readonly replayable: boolean;
  /** Begins to read it; once, if it is not replayable. */
  open(): RequestBody;
  /** Finds out before it is sent for the first time how it is to be sent: another in its place. Never rejects. */
  settle?(): Promise<BodySource>;
}

/** A body and what is in it. */
export interface ExtractedBody {
  readonly source: BodySource;
  /** The content type that it has unless the headers name one. */
  readonly type: string | undefined;
}
