import type { FoundJournal, JournalEntry } from "./journal.ts";
import type { FileRecord, Manifest } from "./records.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./formats.ts";
import type { RealPlaces } from "./occupant.ts";

/** The bytes that runs have put below a folder, by what its manifest and journal say. */
export class Provenance {
  /** Of each file that runs know, what they knew last. */
  readonly records: ReadonlyMap<string, FileRecord>;
  /** The paths of files that runs wrote below the folder. */
  readonly paths: ReadonlySet<string>;
  /** By real path: the hashes of what was written there. */
  readonly #written: ReadonlyMap<string, ReadonlySet<string>>;
  /** The real paths, by what they are without the case of letters. */
  #folded: ReadonlyMap<string, readonly string[]> | undefined = undefined;

  private constructor(
    records: ReadonlyMap<string, FileRecord>,
    paths: ReadonlySet<string>,
    written: ReadonlyMap<string, ReadonlySet<string>>,
  ) {
    this.records = records;
    this.paths = paths;
    this.#written = written;
  }

  /** @param copies Whether files that were copied to the folder count, too, or only variants. */
  static async of(
    manifest: Manifest | undefined,
    journal: FoundJournal | undefined,
    places: RealPlaces,
    { copies }: { readonly copies: boolean },
  ): Promise<Provenance> {
    const records = new Map(Object.entries(manifest?.files ?? {}));
    const hashes = new Map<string, Set<string>>();
    const add = (path: string, sha256: string): void => {
      hashes.set(path, (hashes.get(path) ?? new Set()).add(sha256));
    };
    for (const [path, { sha256, found, madeOf, variants }] of records) {
      if ((madeOf !== undefined || copies && manifest!.copied) && !found) add(path, sha256);
      for (const [format, variant] of Object.entries(variants)) {
        if (variant.state === "kept") add(path + extensions[format as VariantFormat | DeltaFormat], variant.sha256!);
      }
    }
    for (const entry of journal?.entries ?? []) {
      applyEntry(records, entry);
      const { path, record, made } = entry;
      if (made?.variant.state === "kept") add(path + extensions[made.format], made.variant.sha256!);
      else if (made === undefined && (record.madeOf !== undefined || copies && journal!.copied)) {
        if (!record.found) add(path, record.sha256);
      }
    }
    const written = new Map<string, Set<string>>();
    for (const [path, known] of hashes) {
      const real = await places.of(path);
      if (real) written.set(real.path, known.union(written.get(real.path) ?? new Set()));
    }
    return new Provenance(records, new Set(hashes.keys()), written);
  }

  /** Whether a run wrote these bytes to the place with that real path. */
  wrote(real: string, sha256: string): boolean {
    return this.#written.get(real)?.has(sha256) ?? false;
  }

  /** Whether a run wrote to a place whose path differs in the case of letters alone. */
  knowsOtherCase(real: string): boolean {
    this.#folded ??= Map.groupBy(this.#written.keys(), (path) => path.toLowerCase());
    return this.#folded.get(real.toLowerCase())?.some((path) => path !== real) ?? false;
  }

  /** Whether a run wrote anything to the place with that real path. */
  knows(real: string): boolean {
    return this.#written.has(real);
  }
}

/** Takes into `records` what a run told of a file. */
function applyEntry(records: Map<string, FileRecord>, { path, record, made }: JournalEntry): void {
  const known = records.get(path);
  const base = known?.sha256 === record.sha256 ? known : { ...record, variants: {} };
  const { dictionary, siteDictionary, madeOf, immutable } = record;
  const told = {
    ...(dictionary && { dictionary }),
    ...(siteDictionary && { siteDictionary }),
    ...(madeOf && { madeOf }),
    ...(immutable !== undefined && { immutable }),
  };
  const variants = made ? { ...base.variants, [made.format]: made.variant } : base.variants;
  records.set(path, { ...base, ...told, variants });
}
