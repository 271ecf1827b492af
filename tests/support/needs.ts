import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Abilities that a system may lack. */
export type Ability =
  | "links" // symbolic ones, for which Windows wants a privilege or its developer mode
  | "modes" // permission bits of POSIX
  | "mkfifo" // pipes with a name in a folder
  | "names" // those that Windows reserves, with `\`, `:` or `"`, or dots or spaces at their ends
  | "case" // names of two files that differ in the case of their letters alone
  | "replacing" // renames over a file that is open, and of a folder with such a file
  | "signals" // that a process can catch
  | "past" // times of files before 1970
  | "proc" // files of the system below `/proc` and `/dev`; Wine shows those of Linux
  | "shell"; // the shell of POSIX and its commands

const lacks: Readonly<Record<Ability, string>> = {
  links: "symbolic links want a privilege on Windows",
  modes: "Windows has a read-only attribute in the place of permission bits",
  mkfifo: "Windows has no pipes in folders",
  names: "Windows has no such names",
  case: "names that differ in case alone are one name on Windows",
  replacing: "Windows replaces no file that is open",
  signals: "signals end a process on Windows",
  past: "Node takes times of files before 1970 on Windows for times of 2106",
  proc: "there is no /proc here",
  shell: "there is no shell of POSIX on Windows",
};

/** Returns the reason to skip a test: the first of its needs that the system lacks; false if it has all. */
export function needs(...abilities: readonly Ability[]): string | false {
  const lacking = abilities.find((ability) => {
    if (ability === "proc" && !existsSync("/proc/self/fd")) return true;
    return process.platform === "win32" && !(ability === "links" && canLink());
  });
  return lacking === undefined ? false : lacks[lacking];
}

function canLink(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "millrace-link-"));
  try {
    symlinkSync("missing", join(folder, "link"));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
