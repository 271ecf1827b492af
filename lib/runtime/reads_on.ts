import process from "node:process";

/**
 * Whether the runtime's own server goes on to receive, without a limit, what a client sends after it was answered,
 * unless the answer's stream fails: then it cuts the connection. (Deno; it prints what the stream failed with.)
 */
export const readsOnAfterAnswer: boolean = "deno" in process.versions;

/**
 * Whether the runtime's own server holds, without a limit, what it takes off a connection beyond the chunk, of the
 * chunked coding, that a read gives: each read takes as many bytes as the largest so far asked for. (Deno.)
 */
export const readsAheadOfChunks: boolean = "deno" in process.versions;
