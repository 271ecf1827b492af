/** The differences between runtimes, each behind one function. @module */
export {
  copiesVectors,
  fileSlice,
  type FileStatus,
  fileStatus,
  flushFlags,
  folderEntries,
  roundsFileNumbers,
  watchesTrees,
  writesAtOnce,
  writeStream,
} from "./file_system.ts";
export {
  isFromBunServer,
  readsAheadOfChunks,
  readsOnAfterAnswer,
  ReadyResponse,
  writeHead,
  writeInformation,
} from "./http_server.ts";
export {
  claim,
  type ContentTaker,
  contentTaker,
  cookiesOf,
  isDisturbed,
  namesInForm,
  peek,
  readUnsized,
} from "./request_content.ts";
export { globalClass, type NativeSide, responseShell } from "./response_base.ts";
export { nativeBrotli, nativeGzip, nativeZstd } from "./zlib.ts";
export {
  availableMemory,
  commandWords,
  environmentVariable,
  isPermitted,
  isProcessAlive,
  mayGiveTo,
  mayRead,
  passingRefusals,
  processStart,
  userNumber,
} from "./process.ts";
export { ownAddress } from "./own_files.ts";
export { JobWorker, serveJobs } from "./job_worker.ts";
export { afterPoll, collectsChannels, keepsFailedImports, makeYoungObjects, pauseTlsReads } from "./event_loop.ts";
export { type RunningServer, serve, type ServeOptions } from "./serve.ts";
