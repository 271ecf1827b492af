import {
  appendFile,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { pause } from "../../support/waits.ts";

/** A pause in ms, longer than a step of the clock of file systems: times of files are then in their order. */
const CLOCK_STEP = 10;
/** A modification time in s, long before any position. */
const LONG_AGO = 1e9;
/** Names beside `app.log` that other programs use: those of a second instance, of a series, of copies by hand. */
const FOREIGN = ["app-2.log", "app-00001.log", "app2.log", "app.log.bak", "app.log.1.old", "app.1.log.old"];
/** The names of rotated files by their ranks, as of logrotate and log4js. */
const RANKS = ["app.log.1", "app.log-1", "app.1.log"];
/** The names of rotated files by the days or months in them. */
const DATES = ["app.log-20260101", "app-2026-01-01.log", "app.log-202601", "app.log.2026-01", "app.2026-01.log"];

/** A log that a program writes and another one rotates, while no reader runs, among files of other programs. */
export class RotatedLog {
  /** The whole lines that no rotation has removed, in order. */
  lines: string[] = [];
  hasRemoved = false;
  readonly path: string;
  readonly #random: (below: number) => number;
  /** The rotated files, the newest first; the lines of each, and of the current file at last. */
  #old: { path: string; lines: string[] }[] = [];
  #current: string[] = [];
  #count = 0;
  #half = "";
  readonly #isCounted: boolean;
  readonly #isCopied: boolean;
  readonly #isCompressed: boolean;
  /** The kind of link that the path is, to a file with a date in its name, as rotatelogs and winston make it. */
  readonly #link: "symbolic" | "hard" | undefined;
  /** The name of a rotated file, in which digits are its rank's or date's. */
  readonly #form: string;
  /** The path of the file that is written. */
  #file: string;
  hasMoved = false;
  readonly header: string;

  constructor(path: string, random: (below: number) => number) {
    this.path = path;
    this.#random = random;
    const isLinked = random(3) === 0;
    this.#link = !isLinked ? undefined : random(2) === 0 && process.platform !== "win32" ? "symbolic" : "hard";
    this.#isCounted = !isLinked && random(2) === 0;
    this.#isCopied = !isLinked && random(3) === 0;
    this.#isCompressed = random(2) === 0;
    const forms = this.#isCounted ? RANKS : DATES;
    this.#form = forms[random(forms.length)];
    this.#file = isLinked ? this.#dated() : path;
    this.header = random(3) === 0 ? `${"=".repeat(70)}\n` : ""; // all files begin alike
  }

  /** Whether files get other bytes under their names, so that a position without a whole line proves none. */
  get isChanged(): boolean {
    return this.#isCopied || this.#isCompressed || this.hasMoved;
  }

  /** Makes files of other programs, and damaged ones with names of rotated files. */
  async begin(): Promise<void> {
    for (const name of FOREIGN) await this.#addForeign(name);
    await writeFile(`${this.path}.95.gz`, gzipSync("older\n".repeat(99)).subarray(0, 20));
    await utimes(`${this.path}.95.gz`, LONG_AGO, LONG_AGO);
    await mkdir(`${this.path}.96`);
    if (process.platform !== "win32") await symlink("app.log.97", `${this.path}.97`); // its own target
    await pause(CLOCK_STEP);
    await this.#point();
  }

  async write(text = `line ${this.#count++};`): Promise<void> {
    await appendFile(this.#file, `${this.#begin()}${this.#half ? "" : text}${this.#half && text.slice(-1)}\n`);
    this.#current.push(this.#half ? this.#half + text.slice(-1) : text);
    this.lines.push(this.#current.at(-1)!);
    this.#half = "";
  }

  async writeHalf(): Promise<void> {
    if (this.#half !== "") return;
    const begin = this.#begin();
    this.#half = `line ${this.#count++}`;
    await appendFile(this.#file, begin + this.#half);
  }

  #begin(): string {
    return this.#current.length > 0 || this.#half !== "" ? "" : this.header;
  }

  async rotate(): Promise<void> {
    await pause(CLOCK_STEP);
    await writeFile(this.#file, "", { flag: "a" });
    if (this.#isCounted) {
      for (let i = this.#old.length - 1; i >= 0; i--) {
        const old = this.#old[i];
        const path = this.#ranked(i + 2) + (old.path.endsWith(".gz") ? ".gz" : "");
        await rename(old.path, path);
        old.path = path;
      }
    }
    const path = this.#link ? this.#file : this.#isCounted ? this.#ranked(1) : this.#dated();
    if (this.#link) this.#file = this.#dated();
    if (this.#isCopied) { // as logrotate's copytruncate does
      await copyFile(this.path, path);
      await truncate(this.path, 0);
    } else if (!this.#link) await rename(this.path, path);
    this.#old.unshift({ path, lines: this.#current });
    if (!this.#link && !this.#isCopied && this.#random(2) === 0) await writeFile(this.path, "");
    await this.#point();
    this.#current = [];
    this.#half = "";
    await pause(CLOCK_STEP);
    if (this.#isCompressed) await this.#compress(this.#old[this.#random(this.#old.length)]);
    if (this.#old.length > 1 && this.#random(6) === 0) await this.#remove(this.#old.pop()!);
  }

  /** Changes what is beside the lines: other programs' files, older ones that begin alike, or the disk of the log. */
  async disturb(): Promise<void> {
    const kind = this.#random(6);
    if (kind === 0) await this.#move();
    else if (kind < 3) await this.#addOlder();
    else await this.#addForeign(FOREIGN[this.#random(FOREIGN.length)]);
  }

  #ranked(rank: number): string {
    return join(dirname(this.path), this.#form.replace("1", String(rank)));
  }

  #dated(): string {
    const first = Number(this.#form.replaceAll(/\D/g, ""));
    const digits = [...String(first + this.#count++)];
    return join(dirname(this.path), this.#form.replaceAll(/\d/g, () => digits.shift()!));
  }

  /** Makes the path a link to the file that is written. */
  async #point(): Promise<void> {
    if (this.#link === undefined) return;
    await writeFile(this.#file, "", { flag: "a" });
    await unlink(this.path).catch(() => {});
    if (this.#link === "symbolic") await symlink(basename(this.#file), this.path);
    else await link(this.#file, this.path);
  }

  async #addForeign(name: string): Promise<void> {
    await appendFile(join(dirname(this.path), name), "foreign\n");
  }

  /** Makes a rotated file of an earlier time with the bytes of the present one, and more. */
  async #addOlder(): Promise<void> {
    const path = this.#isCounted ? `${this.path}.90` : `${this.path}-19990101`;
    const same = await readFile(this.#file).catch(() => "");
    await writeFile(path, `${same}\nolder\n`);
    await utimes(path, LONG_AGO, LONG_AGO);
  }

  /** Replaces each file by a copy with its time, as on another disk. */
  async #move(): Promise<void> {
    if (this.#link === "hard") return;
    this.hasMoved = true;
    const folder = dirname(this.path);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const status = await lstat(path);
      if (!status.isFile()) continue;
      await copyFile(path, join(folder, "moved"));
      await utimes(join(folder, "moved"), status.mtime, status.mtime);
      await rename(join(folder, "moved"), path);
    }
  }

  async #compress(old: { path: string }): Promise<void> {
    if (old.path.endsWith(".gz") && old.path !== this.path) return;
    const { mtime } = await stat(old.path);
    await writeFile(`${old.path}.gz`, gzipSync(await readFile(old.path)));
    await utimes(`${old.path}.gz`, mtime, mtime); // as gzip does
    await unlink(old.path); // the next file may get its number
    old.path += ".gz";
  }

  async #remove({ path, lines }: { path: string; lines: string[] }): Promise<void> {
    await unlink(path);
    this.hasRemoved = true;
    this.lines = this.lines.filter((line) => !lines.includes(line));
  }
}
