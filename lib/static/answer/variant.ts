import { lstatSync } from "node:fs";
import { fileNumber } from "../../files/internal.ts";
import { formatDigest } from "../../semantics/mod.ts";
import { joinBytes } from "../../streams/internal.ts";
import { Answer, type Fields, fieldsFor, type FileParts, valueOf, without } from "./answer.ts";
import { isPassingRefusal, readVerified } from "../scan/file_content.ts";
import type { Representation } from "../scan/representation.ts";
import type { Resource } from "./resource.ts";

/** The length of the SHA-256 in an entity tag, in base64 digits: 132 bits. */
const TAG_LENGTH = 22;

/** The reason of a 503 for a file without a known change since the scan. */
export const CANNOT_BE_OPENED = "The file cannot be opened now";

/** A form in which a resource is sent, and its responses, each made at its first request. */
export class Variant {
  readonly resource: Resource;
  readonly representation: Representation;
  /** Whether the bytes are to be kept in memory. */
  readonly isKept: boolean;
  /** A strong entity tag, made of the variant's own bytes, so that no two variants share one. */
  readonly tag: string;
  /** Whether the variant is unverified, so that it must not be sent yet. */
  isOpen: boolean;
  /** The time of its file's last change in ms since 1970; undefined until the first check. */
  mtimeMs: number | undefined;
  /** The inode number of its file; undefined until the first check. */
  number: number | undefined;
  #fields: Fields | undefined;
  #whole: Answer | undefined;
  #notModified: Answer | undefined;

  constructor(resource: Resource, representation: Representation, isOpen: boolean) {
    this.isOpen = isOpen;
    this.resource = resource;
    this.representation = representation;
    this.isKept = resource.memory.keeps(representation.index);
    this.mtimeMs = representation.mtimeMs;
    this.number = representation.number;
    this.tag = `"${representation.sha256.slice(0, TAG_LENGTH)}"`;
  }

  /** Returns the bytes if they are kept in memory; the first call reads them. */
  load(): Uint8Array<ArrayBuffer> | undefined {
    return this.resource.memory.read(this.representation);
  }

  /** Returns the answer with the whole variant; undefined if its file has changed since the scan. */
  whole(): Answer | undefined {
    if (this.#whole !== undefined) return this.#whole;
    const answer = this.answer(200, [...this.fields(), "Content-Length", String(this.representation.size)]);
    return answer?.status === 200 ? this.#whole = answer : answer;
  }

  /** Returns an answer with the file, or `parts`; a 503 if it cannot be opened now, undefined if it has changed. */
  answer(status: number, fields: Fields, parts?: FileParts["parts"]): Answer | undefined {
    try {
      return this.#answer(status, fields, parts);
    } catch (error) {
      if (!isPassingRefusal(error)) throw error;
      return this.resource.unavailable(CANNOT_BE_OPENED);
    }
  }

  #answer(status: number, fields: Fields, parts?: FileParts["parts"]): Answer | undefined {
    if (!this.isKept) {
      if (!this.#isKnown()) return undefined;
      return new Answer(status, fields, {
        variant: this,
        parts: parts ?? [{ start: 0, end: this.representation.size }],
      });
    }
    const bytes = this.load();
    // Only the shared answer may use memory for a copy.
    const hasRoomFor = status === 200 ? this.resource.memory.hasRoomFor : undefined;
    return bytes && new Answer(status, fields, parts ? joined(bytes, parts) : bytes, hasRoomFor);
  }

  notModified(): Answer {
    return this.#notModified ??= new Answer(304, fieldsFor("unmodified", this.fields()), undefined, () => true);
  }

  /** Returns all fields except `Content-Length`. */
  fields(): Fields {
    return this.#fields ??= this.#makeFields();
  }

  /** Whether the file was checked; a file in the manifest is checked before it is first sent. */
  #isKnown(): boolean {
    if (this.mtimeMs !== undefined) return true;
    const found = lstatSync(this.representation.file, { throwIfNoEntry: false });
    if (readVerified(this.representation) === undefined) return false;
    this.mtimeMs = found?.mtimeMs;
    this.number = found && fileNumber(found, () => lstatSync(this.representation.file, { bigint: true }));
    return true;
  }

  #makeFields(): Fields {
    const { resource: { settings }, representation: { coding, dictionary, sha256, isUnhashed } } = this;
    const ofResource = this.resource.fields();
    // A client that gets a delta against the site's dictionary needs no link to it.
    const isLinked = dictionary === undefined || dictionary !== settings.siteDictionary?.sha256;
    const own = isLinked ? ofResource : withoutLink(ofResource, settings.dictionaryLink());
    const fields = [...own, "Accept-Ranges", "bytes", "ETag", this.tag];
    if (coding !== "identity") fields.push("Content-Encoding", coding);
    if (settings.reprDigest && !isUnhashed) fields.push("Repr-Digest", formatDigest("sha-256", sha256));
    return fields;
  }
}

/** Returns `fields` with a `Link` that no longer ends with `link`. */
function withoutLink(fields: Fields, link: string): Fields {
  const all = link === "" ? undefined : valueOf(fields, "Link");
  if (all === undefined) return fields;
  const others = all.slice(0, -link.length).replace(/, $/, "");
  return [...without(fields, ["link"]), ...(others === "" ? [] : ["Link", others])];
}

function joined(bytes: Uint8Array<ArrayBuffer>, parts: FileParts["parts"]): Uint8Array<ArrayBuffer> {
  const pieces = parts.map((part) => part instanceof Uint8Array ? part : bytes.subarray(part.start, part.end));
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return pieces.length === 1 ? pieces[0] : joinBytes(pieces, length);
}
