/** Parts of `./s3` for other folders of the package. @module */
export { deleteObject, deleteObjects, putObject } from "./request/objects.ts";
export { writableOptions } from "./s3_object.ts";
export { GatheredPart } from "./upload/gathered_part.ts";
export { abortUpload, completeUpload, listParts, listUploads } from "./upload/multipart.ts";
export { contexts, ObjectUpload, partSizeFor, type UploadContext } from "./upload/object_upload.ts";
