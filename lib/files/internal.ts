/**
 * Internals for other folders, not part of the public API. They fail with errors of the file system and their `code`,
 * unless their comments say otherwise.
 *
 * @module
 */
export { commitFile, openAtomicFileAt, temporaryOf, writeAtomically } from "./atomic_file.ts";
export {
  compatibleName,
  foldedName,
  isLockName,
  lasting,
  lastingPath,
  listedName,
  MAX_NAME_LENGTH,
  pathOption,
  realPath,
  realPathOf,
  refusedOnWindows,
} from "./names.ts";
export { flushFolder } from "./flush.ts";
export { fileNumber, isSureNumber, linkFlag, OpenFile } from "./open_file.ts";
export { codeOf, fileFailure, ignoreMissing, isMissing, reasonOf } from "./failure.ts";
export { HeldFolder, holds, isDirectory, isOneFolder, isWithin, makeDirectory, makeDirectorySync } from "./folders.ts";
export { copyToTemporary } from "./copy_file_atomic.ts";
export {
  CreatedFile,
  type FileIdentity,
  identityIn,
  identityOf,
  isSameFile,
  removeIfSame,
  type Undoable,
  undoAll,
  type Undone,
} from "./created_file.ts";
export {
  followedPlace,
  keepAttributes,
  type NameOptions,
  type Place,
  placeItself,
  takeName,
  withoutGroup,
} from "./place.ts";
export { continuedBy } from "./series/rotating_file_writable.ts";
export type { ContinuedRotation } from "./series/continued_rotation.ts";
export { rotationMembers } from "./series/rotation_options.ts";
export {
  NOT_NOW,
  removeFileNow,
  removeFolderNow,
  renameFile,
  renameFileNow,
  SHORTAGE,
  UNSHARED,
  whileRefused,
  whileRefusedNow,
  whileUnshared,
} from "./rename.ts";
export {
  openUnnamed,
  removeAbandonedOnce,
  removeTemporary,
  type TemporaryDirectory,
  temporaryDirectory,
} from "./temporary.ts";
export { pidNamespace } from "./process_identity.ts";
export { type LockedBy, LockLostError, ProcessLock, type ProcessLockOptions } from "./process_lock.ts";
export { Turn } from "./lock_holder.ts";
export { writeFully } from "./write_fully.ts";
