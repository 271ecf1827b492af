import { type Answer, type Fields, type RequestFields, valueOf, varying } from "./answer.ts";
import { customFields, GeneralFields } from "./custom_fields.ts";
import { fieldsOf } from "./fields.ts";
import { type AcceptedCodings, acceptedCodings, availableDictionary, mayUseDictionary } from "../../semantics/mod.ts";
import { FIRST_TIME } from "../scan/file_content.ts";
import type { TreeMemory } from "../scan/memory.ts";
import type { Proofs } from "../scan/proofs.ts";
import type { Representation, TreeFile } from "../scan/representation.ts";
import type { TreeSettings } from "./settings.ts";
import { Variant } from "./variant.ts";

/** The fields of a temporary failure: clients may ask again after a second, and caches do not store it. */
export const ASK_AGAIN: Fields = ["Retry-After", "1", "Cache-Control", "no-store"];

/** A file of the tree with its variants and the state of its responses. */
export class Resource {
  readonly file: TreeFile;
  readonly settings: TreeSettings;
  readonly memory: TreeMemory;
  /** The decoded path at which it is served. */
  readonly path: string;
  /** The time of its last change in ms, in whole seconds as in `Last-Modified`; undefined if the file's time is unreliable. */
  readonly lastModified: number | undefined;
  /** The variants, in order of preference among those that a client accepts with equal weight; some may be unverified. */
  variants: readonly Variant[];
  deltas: readonly Variant[];
  /** Whether the resource is of the previous deploy. */
  isFormer = false;
  /** Whether the file has changed since the scan, so that it cannot be sent. */
  hasChanged = false;
  #fields: Fields | undefined;
  #general: GeneralFields | undefined;
  /** The resource from which `varyingBy()` made this one. */
  #original: Resource | undefined;
  #vary = "";
  // The last chosen codings: requests for a file mostly come from browsers with the same preferences.
  #lastAccepted: AcceptedCodings | undefined;
  #lastChoice: Variant | undefined;
  readonly #proofs: Proofs;
  /** Whether some variants are unverified. */
  #hasOpen: boolean;
  /** The tree's number of verified variants when this file's variants were last checked. */
  #decided = -1;

  constructor(file: TreeFile, path: string, settings: TreeSettings, memory: TreeMemory, proofs: Proofs) {
    this.file = file;
    this.path = path;
    this.settings = settings;
    // `Last-Modified` must not be later than `Date` (RFC 9110, section 8.8.2.1).
    const lastModified = Math.floor(Math.min(file.mtimeMs, Date.now()) / 1000) * 1000;
    this.lastModified = lastModified < FIRST_TIME ? undefined : lastModified;
    this.memory = memory;
    const variantOf = (each: Representation) => new Variant(this, each, proofs.isOpen(each));
    const { precompressed = [], dictionaries } = settings;
    const inOrder = settings.precompressed
      ? precompressed.flatMap((coding) => file.variants.filter((variant) => variant.coding === coding))
      : file.variants.toSorted((a, b) => a.size - b.size);
    this.variants = [...inOrder, file.identity].map(variantOf);
    this.deltas = dictionaries ? file.deltas.map(variantOf) : [];
    this.#proofs = proofs;
    this.#hasOpen = proofs.areOpen(file);
  }

  /** Returns the fields of all answers with a representation of the resource. */
  fields(): Fields {
    if (this.#fields === undefined) this.#makeFields();
    return this.#fields!;
  }

  /** Returns the fields of all other answers about the resource. */
  general(): GeneralFields {
    if (this.#general === undefined) this.#makeFields();
    return this.#general!;
  }

  /** Returns the answer while the file cannot be sent, for a `reason` in words. */
  unavailable(reason: string): Answer {
    return this.general().text(503, `${reason}: ask again`, ASK_AGAIN);
  }

  /** Returns the same resource, with `name` added to the `Vary` of its responses. */
  varyingBy(name: string): Resource {
    const resource = new Resource(this.file, this.path, this.settings, this.memory, this.#proofs);
    resource.#original = this;
    resource.#vary = name;
    return resource;
  }

  /** Returns the variant to send; undefined if the client accepts none (RFC 9110 section 12.5.3). */
  choose(request: RequestFields, method: string): Variant | undefined {
    if (this.#hasOpen) this.#settle();
    const accepted = acceptedCodings(request.get("accept-encoding"));
    // Browsers cannot decode a delta without bytes, which a HEAD request gets.
    if (this.deltas.length > 0 && method === "GET") {
      const delta = this.#chooseDelta(accepted, request);
      if (delta) return delta;
    }
    if (accepted === this.#lastAccepted) return this.#lastChoice;
    this.#lastAccepted = accepted;
    return this.#lastChoice = best(this.variants, accepted);
  }

  /**
   * Returns a variant that the client accepts and already has by `If-None-Match`, even if it is not the chosen one. A
   * delta only if the client can decode it, or has the decoded file as its dictionary by now: shared caches keep deltas
   * as they are.
   */
  owned(request: RequestFields, isListed: (tag: string) => boolean): Variant | undefined {
    const accepted = acceptedCodings(request.get("accept-encoding"));
    const isOwned = ({ isOpen, representation, tag }: Variant) =>
      !isOpen && accepted[representation.coding] > 0 && isListed(tag);
    const variant = this.variants.find(isOwned);
    const field = this.deltas.length > 0 ? request.get("available-dictionary") : undefined;
    if (variant || !field || !this.#mayBeRead(request)) return variant;
    const dictionary = availableDictionary(field);
    const isOfFile = dictionary === this.file.identity.sha256;
    return this.deltas.find((each) => isOwned(each) && (isOfFile || each.representation.dictionary === dictionary));
  }

  /** Stops sending `representation`, whose file has changed since the scan. */
  drop(representation: Representation): void {
    const isOther = (variant: Variant) => variant.representation !== representation;
    this.variants = this.variants.filter(isOther);
    this.deltas = this.deltas.filter(isOther);
    this.#lastAccepted = undefined;
  }

  /** Verifies the unverified variants, if that is possible now. */
  #settle(): void {
    if (this.#proofs.count === this.#decided) return;
    const isSettled = this.#proofs.settle(this.file);
    for (const variant of [...this.variants, ...this.deltas]) {
      if (!variant.isOpen || this.#proofs.isOpen(variant.representation)) continue;
      if (this.#proofs.isProven(variant.representation)) variant.isOpen = false;
      else this.drop(variant.representation);
    }
    this.#lastAccepted = undefined;
    this.#hasOpen = [...this.variants, ...this.deltas].some(({ isOpen }) => isOpen);
    this.#decided = isSettled ? this.#proofs.count : -1;
  }

  /** Makes both kinds of fields at once, so that `headers()` is called once. */
  #makeFields(): void {
    if (this.#original) {
      this.#general = this.#original.general();
      this.#fields = varying(this.#original.fields(), this.#vary);
      return;
    }
    const custom = customFields(this.file.path, this.settings);
    this.#general = new GeneralFields(custom);
    this.#fields = fieldsOf(this, custom.fields);
  }

  /** Returns the smallest delta against a version that the client has, unless it prefers a variant (RFC 9842). */
  #chooseDelta(accepted: AcceptedCodings, request: RequestFields): Variant | undefined {
    const field = request.get("available-dictionary");
    // Deltas have no ranges: browsers announce deltas for ranges, too, but undo no other coding for them.
    if (!field || request.get("range") || !this.#mayBeRead(request)) return undefined;
    const dictionary = availableDictionary(field);
    const usable = this.deltas.filter(({ representation }) => representation.dictionary === dictionary);
    const delta = best(usable.toSorted((a, b) => a.representation.size - b.representation.size), accepted);
    const other = best(this.variants, accepted);
    if (!delta || !other) return delta;
    return weightOf(delta, accepted) >= weightOf(other, accepted) ? delta : undefined;
  }

  /** Whether the requesting page may read the answer, so that the size of a delta reveals nothing more to it. */
  #mayBeRead(request: RequestFields): boolean {
    return mayUseDictionary({
      site: request.get("sec-fetch-site"),
      mode: request.get("sec-fetch-mode"),
      origin: request.get("origin"),
      allowOrigin: this.general().allowedOrigin(request) ?? valueOf(this.fields(), "Access-Control-Allow-Origin"),
    });
  }
}

function weightOf({ representation }: Variant, accepted: AcceptedCodings): number {
  return accepted[representation.coding];
}

/** Returns the first variant among those with the highest weight; undefined if the client accepts none. */
function best(variants: readonly Variant[], accepted: AcceptedCodings): Variant | undefined {
  let chosen: Variant | undefined;
  let weight = 0;
  for (const variant of variants) {
    const other = weightOf(variant, accepted);
    if (other <= weight || variant.isOpen) continue;
    chosen = variant;
    weight = other;
  }
  return chosen;
}
