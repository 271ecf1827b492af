/**
 * A content coding that a representation of a file may be in: `dcb` and `dcz` are brotli and zstd with the file's former
 * version as dictionary (RFC 9842, sections 4 and 5), the others are in RFC 9110, section 8.4.1, and RFC 8878.
 */
export type ContentCoding = "identity" | "br" | "zstd" | "gzip" | "dcb" | "dcz";
