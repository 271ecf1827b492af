/** HTTP semantics (RFC 9110 and its family) that several folders share. @module */
export { type AcceptedCodings, acceptedCodings } from "./accept_encoding.ts";
export { type ByteRange, multipartByteRanges, parseRange } from "./byte_ranges.ts";
export {
  contentCodings,
  isUndoable,
  type StoredCoding,
  storedCodings,
  type UndoableCoding,
  undoableFormats,
} from "./content_coding.ts";
export { ContentDecoder, MAX_INPUT } from "./content_decoder.ts";
export {
  availableDictionary,
  forDocuments,
  linkToDictionary,
  linkToDictionaryBelow,
  mayUseDictionary,
  siteDictionaryField,
  useAsDictionary,
  useAsDictionaryBelow,
} from "./compression_dictionary.ts";
export { ALGORITHMS, type DigestAlgorithm, formatDigest, parseDigests } from "./structured_fields.ts";
export {
  ifMatchHolds,
  ifModifiedSinceHolds,
  ifNoneMatchLists,
  ifRangeNames,
  ifUnmodifiedSinceHolds,
} from "./preconditions.ts";
export { parseBoolean, parseNaturalNumber } from "./structured_fields.ts";
export {
  type AnswerKind,
  fieldValue,
  goesWith,
  isSettable,
  joinedNames,
  namesNotWith,
  requireFieldValue,
} from "./fields.ts";
export { formatHTTPDate, parseHTTPDate } from "./http_date.ts";
export { acceptsHTML, essenceOf, MediaRanges } from "./media_ranges.ts";
export { extensionOfType, isCompressibleType, isInUTF8, typeOfExtension } from "./media_types.ts";
