/**
 * Programs of stream operations as plain data: they can be printed, made smaller by deletion and run against any set
 * of classes. Objects are known by names that the creating operation gives; an operation on a name that nothing has
 * created (a deleted or failed operation) is recorded as absent and does nothing.
 */

/** The time at which a callback's promise settles. */
export type Delay = { readonly microtasks: number } | "macrotask";

/** The outcome of a callback. `error` names an error of the program; without it the error is `undefined`. */
export type Outcome =
  | { readonly kind: "return" }
  | { readonly kind: "throw"; readonly error?: string }
  | { readonly kind: "resolve"; readonly delay: Delay }
  | { readonly kind: "reject"; readonly error?: string; readonly delay: Delay }
  | { readonly kind: "thenable" }
  | { readonly kind: "never" };

/** The behaviour of one call of a callback: its operations, then its end. */
export interface Reaction {
  readonly operations: readonly Operation[];
  readonly outcome: Outcome;
}

/** The reactions to successive calls; after the last one a callback does nothing. */
export type Reactions = readonly Reaction[];

/** The result of size() for a chunk. */
export type SizeResult = number | { readonly throws: string };

export interface Strategy {
  readonly highWaterMark?: number;
  readonly size?: { readonly results: readonly SizeResult[]; readonly operations: readonly Operation[] };
}

export interface View {
  readonly type: "Uint8Array" | "Uint16Array" | "DataView" | "Int32Array";
  /** The length in elements; in bytes for a DataView. */
  readonly length: number;
  /** Bytes before the view in its buffer; a multiple of 4. */
  readonly offset: number;
  /** Bytes after the view in its buffer. */
  readonly rest: number;
}

/** The chunk to enqueue or write: a fresh string, the incoming chunk, bytes, or undefined. */
export type Chunk = "fresh" | "incoming" | "undefined" | View;

export interface PipeOptions {
  readonly preventClose?: boolean;
  readonly preventAbort?: boolean;
  readonly preventCancel?: boolean;
  /** The name of a signal. */
  readonly signal?: string;
}

export type Callbacks<Name extends string> = { readonly [name in Name]?: Reactions };

export type Operation =
  // Construction
  | {
    readonly kind: "readable";
    readonly name: string;
    readonly source: Callbacks<"start" | "pull" | "cancel">;
    readonly strategy: Strategy;
  }
  | {
    readonly kind: "bytes";
    readonly name: string;
    readonly source: Callbacks<"start" | "pull" | "cancel">;
    readonly strategy: Strategy;
    readonly autoAllocateChunkSize?: number;
  }
  | {
    readonly kind: "writable";
    readonly name: string;
    readonly sink: Callbacks<"start" | "write" | "close" | "abort">;
    readonly strategy: Strategy;
  }
  | {
    readonly kind: "transform";
    /** Its sides are `<name>.readable` and `<name>.writable`. */
    readonly name: string;
    readonly transformer: Callbacks<"start" | "transform" | "flush" | "cancel">;
    readonly writableStrategy: Strategy;
    readonly readableStrategy: Strategy;
  }
  | { readonly kind: "from"; readonly name: string; readonly iterable: Iterable }
  // Controllers: the one of the stream or transform named
  | { readonly kind: "enqueue"; readonly on: string; readonly chunk: Chunk; readonly times?: number }
  | { readonly kind: "close" | "terminate" | "desiredSize" | "byobRequest"; readonly on: string }
  | { readonly kind: "error"; readonly on: string; readonly error?: string }
  | { readonly kind: "respond"; readonly on: string; readonly bytes: number; readonly stale?: boolean }
  | {
    readonly kind: "respondWithNewView";
    readonly on: string;
    readonly view: "same" | "shorter" | "transferred" | "foreign" | "shifted";
    readonly bytes: number;
  }
  // Readable streams and readers
  | { readonly kind: "reader" | "byobReader"; readonly name: string; readonly of: string }
  | { readonly kind: "read" | "releaseReader" | "readerClosed"; readonly on: string }
  | { readonly kind: "readInto"; readonly on: string; readonly view: View; readonly min?: number }
  | { readonly kind: "cancel" | "cancelReader"; readonly on: string; readonly error?: string }
  | { readonly kind: "tee"; readonly name: string; readonly of: string }
  | { readonly kind: "iterator"; readonly name: string; readonly of: string; readonly preventCancel: boolean }
  | { readonly kind: "next"; readonly on: string }
  | { readonly kind: "return"; readonly on: string; readonly error?: string }
  // Writable streams and writers
  | { readonly kind: "writer"; readonly name: string; readonly of: string }
  | { readonly kind: "write"; readonly on: string; readonly chunk: Chunk }
  | {
    readonly kind:
      | "closeWriter"
      | "closeWritable"
      | "ready"
      | "writerClosed"
      | "writerDesiredSize"
      | "releaseWriter"
      | "watchSignal";
    readonly on: string;
  }
  | { readonly kind: "abortWriter" | "abort"; readonly on: string; readonly error?: string }
  // Pipes
  | { readonly kind: "signal"; readonly name: string }
  | { readonly kind: "abortSignal"; readonly on: string; readonly error?: string }
  | { readonly kind: "pipeTo"; readonly from: string; readonly to: string; readonly options: PipeOptions }
  | { readonly kind: "pipeThrough"; readonly from: string; readonly through: string; readonly options: PipeOptions }
  // Time
  | { readonly kind: "microtasks"; readonly count: number }
  | { readonly kind: "macrotask" };

/** The iterable that `ReadableStream.from` receives. */
export interface Iterable {
  readonly type: "array" | "sync" | "async";
  readonly values: number;
  /** The end of next() after its values: done, or another outcome. */
  readonly end: Outcome;
  /** The time at which each next() of an async iterator settles. */
  readonly delay: Delay;
  /** The outcome of return(); without it the method is missing. */
  readonly return?: Outcome;
}

export type OperationKind = Operation["kind"];

export interface Program {
  readonly seed: number;
  readonly operations: readonly Operation[];
}

/** Whether pipes take part: their number of turns is implementation-defined, so their order is compared by object. */
export function hasPipes(program: Program): boolean {
  return program.operations.some(({ kind }) => kind === "pipeTo" || kind === "pipeThrough");
}
