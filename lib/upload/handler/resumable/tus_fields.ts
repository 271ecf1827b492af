import { Buffer } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { Refusal } from "../../body/upload_error.ts";
import { asked, type Exchange, sessionOfUrl } from "./exchange.ts";

export const VERSION = "1.0.0";

/** The implemented extensions of tus, as a value of `Tus-Extension`. */
export const EXTENSIONS =
  "creation,creation-with-upload,creation-defer-length,checksum,expiration,termination,concatenation";

export const DATA_TYPE = "application/offset+octet-stream";

const ALGORITHMS: Readonly<Record<string, string>> = { sha1: "sha1", sha256: "sha256", sha512: "sha512", md5: "md5" };

export const CHECKSUMS: string = Object.keys(ALGORITHMS).join(",");

export function numberIn(exchange: Exchange, name: string): number | undefined {
  const value = asked(exchange, name);
  if (value === undefined) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new Refusal("BAD_FIELD", `${name} must be a number of bytes, not ${JSON.stringify(value)}`);
}

/** Parses `Upload-Metadata`. @throws {Refusal} if it is malformed. */
export function parseMetadata(field: string | undefined): Record<string, string> {
  const metadata: Record<string, string> = {};
  if (field === undefined || field === "") return metadata;
  for (const pair of field.split(",")) {
    const [, key, value = ""] = /^ *([!-+\--~]+)(?: ([A-Za-z0-9+/]*={0,2}))? *$/.exec(pair) ?? [];
    if (key === undefined || Object.hasOwn(metadata, key)) {
      throw new Refusal("BAD_FIELD", `Upload-Metadata is malformed at ${JSON.stringify(pair)}`);
    }
    Object.defineProperty(metadata, key, { value: Buffer.from(value, "base64").toString(), enumerable: true });
  }
  return metadata;
}

/** A media type (RFC 9110, section 8.3.1), whatever its parameters say. */
const MEDIA_TYPE = /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+ *(?:;[ -~]*)?$/;

/** The media type that metadata gives a file; undefined if it gives none, or something else: any text can be there. */
export function mediaTypeIn({ filetype, contentType, type }: Readonly<Record<string, string>>): string | undefined {
  return [filetype, contentType, type].find((each) => each !== undefined && MEDIA_TYPE.test(each));
}

export class Checksum {
  readonly #hash: Hash;
  readonly #expected: string;

  private constructor(hash: Hash, expected: string) {
    this.#hash = hash;
    this.#expected = expected;
  }

  /** The checksum that a request announces, if any. @throws {Refusal} if it is malformed, or its algorithm is not known. */
  static of(exchange: Exchange): Checksum | undefined {
    const field = asked(exchange, "upload-checksum");
    if (field === undefined) return undefined;
    const [, name = "", base64 = ""] = /^(\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(field) ?? [];
    if (Object.hasOwn(ALGORITHMS, name)) return new Checksum(createHash(ALGORITHMS[name]), base64);
    throw new Refusal("BAD_FIELD", `Upload-Checksum must be one of ${CHECKSUMS} and base64`);
  }

  update(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) this.#hash.update(piece);
  }

  verify(): void {
    if (this.#hash.digest("base64") === this.#expected) return;
    throw new Refusal("CHECKSUM_MISMATCH", "The data is not what Upload-Checksum was made of");
  }
}

/** Returns the sessions that a final upload is made of, as `Upload-Concat` names them; undefined if it is not final. */
export function partsOf(concat: string | undefined): string[] | undefined {
  if (concat === undefined || concat === "partial") return undefined;
  const [, list] = /^final; *(\S.*)$/.exec(concat) ?? [];
  const parts = list?.split(/ +/).map(sessionOfUrl) ?? [];
  if (parts.length > 0 && parts.every((part) => part !== undefined)) return parts as string[];
  throw new Refusal("BAD_FIELD", 'Upload-Concat must be "partial", or "final;" and the URLs of partial uploads');
}
