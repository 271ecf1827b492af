/**
 * HTTP semantics (RFC 9110 and its family) that several folders share.
 *
 * @module
 */
export { type AcceptedCodings, acceptedCodings } from "./accept_encoding.ts";
export { type ByteRange, parseRange } from "./byte_ranges.ts";
export {
  codingNamed,
  type ContentCoding,
  contentCodings,
  isUndoable,
  type StoredCoding,
  storedCodings,
  type UndoableCoding,
  undoableFormats,
} from "./content_coding.ts";
export { ContentDecoder, MOST_INPUT } from "./content_decoder.ts";
export {
  availableDictionary,
  type CrossOriginFields,
  forDocuments,
  linkToDictionary,
  linkToDictionaryBelow,
  mayUseDictionary,
  siteDictionaryField,
  useAsDictionary,
  useAsDictionaryBelow,
} from "./dictionaries.ts";
export { ALGORITHMS, type DigestAlgorithm, formatDigest, parseDigests } from "./digests.ts";
export { ifMatchHolds, ifNoneMatchLists } from "./entity_tags.ts";
export { parseBoolean, parseNaturalNumber } from "./items.ts";
export { joinedNames } from "./field_names.ts";
export { type AnswerKind, goesWith, isSettable, namesNotWith } from "./field_uses.ts";
export { requireFieldValue } from "./field_value.ts";
export { formatHTTPDate, parseHTTPDate } from "./http_date.ts";
export { acceptsHTML, essenceOf, MediaRanges } from "./media_ranges.ts";
export { type Multipart, multipartByteRanges } from "./multipart_byte_ranges.ts";
export { ifModifiedSinceHolds, ifRangeNames, ifUnmodifiedSinceHolds } from "./preconditions.ts";
