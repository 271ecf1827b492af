/**
 * The differences between runtimes, each behind one function.
 *
 * @module
 */
export { type FileStatus, fileStatus, folderEntries } from "./file_system.ts";
export { fileSlice } from "./file_slice.ts";
export { copiesVectors, writesAtOnce, writeStream } from "./file_writes.ts";
export { readsAheadOfChunks, readsOnAfterAnswer } from "./reads_on.ts";
export { ReadyResponse } from "./ready_response.ts";
export { type NativeSide, ResponseShell, type ResponseShellClass, type ResponseShellParts } from "./response_shell.ts";
export { resolveObjectURL } from "./object_url.ts";
export { isFromBunServer } from "./own_request.ts";
export { nativeBrotli } from "./brotli.ts";
export { nativeCrc32 } from "./crc32.ts";
export { nativeGzip } from "./gzip.ts";
export { nativeZstd } from "./zstd.ts";
export { environmentVariable } from "./environment.ts";
export { startWorker } from "./worker.ts";
export { isPermitted } from "./permissions.ts";
export { afterPoll, readsWithinTurn } from "./poll.ts";
export { isProcessAlive } from "./process.ts";
export { type RunningServer, serve } from "./serve.ts";
export type { ServeOptions } from "./serve_options.ts";
export { holdTlsReads } from "./tls_reads.ts";
export { writeInformation } from "./write_information.ts";
export { writeHead } from "./write_head.ts";
export { makeYoungObjects } from "./young_objects.ts";
