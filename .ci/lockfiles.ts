import { createHash } from "node:crypto";

/** An npm package in `package-lock.json`. */
interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
}

/** The fields of `package.json` that say which packages are wanted. */
interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

/** The licences allowed in installed packages: they require a notice at most. */
const LICENCES = new Set(["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD"]);
/** The packages that users install: this one and its dependencies. A new one has to be a decision. */
const GIVEN = new Set([
  "@rgrove/parse-xml",
  "aws4fetch",
  "multipasta",
  "picomatch",
]);

/** Checks the packages that `npm ci` installs and returns the problems. */
export function npmLockFaults(
  lock: { packages: Readonly<Record<string, LockedPackage>> },
  manifest: Manifest,
): string[] {
  const faults: string[] = [];
  for (const [path, found] of Object.entries(lock.packages)) {
    if (path === "") continue;
    const name = path.replace(/^.*node_modules\//, "");
    if (!/^sha512-/.test(found.integrity ?? "")) faults.push(`${path} has no integrity of SHA-512`);
    if (found.link || !/^(https:\/\/.*\.tgz)?$/.test(found.resolved ?? "")) faults.push(`${path} is from no registry`);
    if (found.hasInstallScript && !manifest.allowScripts?.[name]) {
      faults.push(`${path} runs a script when it is installed, which allowScripts of package.json does not name`);
    }
    if (found.dev) continue;
    if (!GIVEN.has(name)) {
      faults.push(`${path} is new among what users get: add it to .ci/lockfiles.ts if that is meant`);
    }
    if (!LICENCES.has(found.license ?? "")) faults.push(`${path}, which users get, has the licence ${found.license}`);
  }
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (!lock.packages[`node_modules/${name}`]) faults.push(`${name} is not in package-lock.json`);
  }
  return faults;
}

/** Checks the crates the codecs are built from and returns the problems. */
export function cargoLockFaults(lock: string): string[] {
  const faults: string[] = [];
  const sources = new Set<string>();
  for (const entry of lock.split("[[package]]").slice(1)) {
    const value = (key: string): string | undefined => new RegExp(`^${key} = "(.*)"$`, "m").exec(entry)?.[1];
    const name = `${value("name")} ${value("version")}`;
    const source = value("source");
    if (source === undefined) {
      if (value("name") !== "millrace-codecs") faults.push(`${name} is from a folder`);
      continue;
    }
    sources.add(source);
    if (!source.startsWith("registry+")) faults.push(`${name} is from no registry but ${source}`);
    else if (!/^[0-9a-f]{64}$/.test(value("checksum") ?? "")) faults.push(`${name} has no checksum`);
  }
  if (sources.size > 1) faults.push(`crates come from more than one place: ${[...sources].join(", ")}`);
  return faults;
}

/** The crates compiled into the codecs, as recorded in `build.json` by the build, and the hash of their notices. */
export interface NoticesRecord {
  readonly sha256: string;
  readonly crates: readonly string[];
}

/** Checks the notices of the crates compiled into the codecs and returns the problems. */
export function noticeFaults(text: string, record: NoticesRecord, lock: string, manifest: string): string[] {
  const faults: string[] = [];
  if (createHash("sha256").update(text).digest("hex") !== record.sha256) {
    faults.push("THIRD_PARTY_NOTICES.txt is not what npm run build:wasm wrote");
  }
  const locked = [...lock.matchAll(/^name = "(.*)"\nversion = "(.*)"$/gm)].map(([, name, version]) =>
    `${name} ${version}`
  );
  for (const crate of record.crates) {
    if (!locked.includes(crate)) faults.push(`the notices are of ${crate}, which is not in Cargo.lock`);
    if (!text.includes(`\n${crate}\n`) && !text.includes(`, of ${crate}`)) faults.push(`${crate} has no notice`);
  }
  const dependencies = /^\[dependencies\]\n(.*?)^\[/ms.exec(manifest)?.[1] ?? "";
  for (const [, name] of dependencies.matchAll(/^([\w-]+) =/gm)) {
    if (!record.crates.some((crate) => crate.startsWith(`${name} `))) {
      faults.push(`${name} is in no notice: run npm run build:wasm`);
    }
  }
  return faults;
}
