/**
 * Preloaded on Linux: calls of `node:fs` fail, or find a file, as on Windows with NTFS.
 *
 * - A file with the read-only attribute is neither replaced by `rename()` (MoveFileExW, as libuv calls it) nor opened to
 *   write, and `copyFile()` copies that attribute.
 * - `ftruncate()` needs FILE_WRITE_DATA, which libuv takes from files that are opened to append; `futimes()` and
 *   `fdatasync()` need write access, and no device is flushed.
 * - With `IGNORE_CASE` in the environment, names are found in any case and normalization, and `realpath()` gives them as
 *   they were made; with `IGNORE_CASE=mount`, as they were requested, as on Linux where such a disk is mounted. Names are
 *   found there in another form instead of another case: with `IGNORE_CASE=ends`, without final dots and spaces, as on
 *   vfat; with `IGNORE_CASE=compatible`, in Unicode's form NFKC, as on ZFS; with `IGNORE_CASE=none`, as they are.
 * - With `NUMBERS=none`, files have no numbers; with `NUMBERS=large`, those of NTFS, which are rounded but as bigint; with
 *   `NUMBERS=negative`, those from 2^63 on, as bigint; with `NUMBERS=rounded`, those of NTFS, rounded as bigint, too.
 * - With `TIMES=fat`, the ctime is in 1601; with `TIMES=tunnelled`, each file has the birth of a former one of its name.
 * - With `MACHINE`, the network interface has this address, and the machine the name of all others.
 * - With `SCANNED`, the first attempt to rename or remove what has a path is refused, as while a scanner has it open;
 *   also the first to open what is below the folder of `UNSHARED`.
 * - With `RENAMES`, an asynchronous rename takes as many ms, and no other one replaces its target meanwhile.
 * - The first read and write of each file below the folder of `LOCKED` are refused, as of a part that another program has
 *   locked.
 */
"use strict";
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const { basename, dirname, join, resolve } = require("node:path");
const { O_APPEND, O_RDWR, O_WRONLY } = fs.constants;
const { fstatSync, lstatSync, readdirSync } = fs;

const isWindows = process.platform === "win32";
const folds = {
  ends: (name) => name.replace(/[. ]+$/, ""),
  none: (name) => name,
  compatible: (name) => name.normalize("NFKC"),
};
const isMount = ["mount", ...Object.keys(folds)].includes(process.env.IGNORE_CASE);
if (!isMount) Object.defineProperty(process, "platform", { value: "win32" });

/** The modes of open files, by their numbers. */
const open = new Map();
const words = { "r": 0, "r+": O_RDWR, "a": O_WRONLY | O_APPEND, "a+": O_RDWR | O_APPEND };

function accessOf(flags = "r") {
  const bits = typeof flags === "number" ? flags : words[flags] ?? O_WRONLY;
  if (bits & O_APPEND) return "append";
  return bits & (O_WRONLY | O_RDWR) ? "write" : "read";
}

function isReadOnly(path) {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status?.isFile() === true && !(status.mode & 0o200);
}

const folded = folds[process.env.IGNORE_CASE] ?? ((name) => name.normalize("NFC").toUpperCase());

/** The path of what a path finds: each part as it was made, in whatever case. */
function found(path) {
  const full = resolve(String(path));
  const folder = dirname(full);
  if (folder === full) return full;
  const [above, name] = [found(folder), basename(full)];
  if (lstatSync(join(above, name), { throwIfNoEntry: false })) return join(above, name);
  try {
    const same = readdirSync(above).find((each) => folded(each) === folded(name));
    return join(above, same ?? name);
  } catch {
    return join(above, name);
  }
}

const refuses = {
  open: (path, flags) => accessOf(flags) !== "read" && isReadOnly(path),
  rename: (_from, to) => isReadOnly(to),
  ftruncate: (file) => open.get(file) === "append",
  futimes: (file) => open.get(file) === "read",
  fdatasync: (file) => open.get(file) === "read" || !fstatSync(file).isFile(),
};
/** The number of the first arguments that are paths. A rename may change the case of a name. */
const paths = {
  ...{ open: 1, stat: 1, lstat: 1, readFile: 1, mkdir: 1, rmdir: 1, unlink: 1, rm: 1, chmod: 1, utimes: 1, readdir: 1 },
  ...{ realpath: 1, access: 1, copyFile: 2, link: 2, rename: 2, opendir: 1, writeFile: 1, exists: 1, lutimes: 1 },
};

const scanned = new Set();
const moves = new Set(["rename", "rm", "rmdir", "unlink"]);

/** Whether a scanner has what is at a path open, for the first time. */
function isScanned(name, path) {
  const { SCANNED, UNSHARED } = process.env;
  const opens = name === "open" || name === "readFile";
  const isMeant = SCANNED && moves.has(name) || UNSHARED && opens && String(path).startsWith(UNSHARED);
  if (!isMeant || lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    return false;
  }
  const key = `${name} ${resolve(String(path))}`;
  return !scanned.has(key) && scanned.add(key) !== undefined;
}

/** The paths of open files of which no read, or no write, was refused. */
const locked = { read: new Map(), write: new Map() };

function note(descriptor, [path, flags]) {
  open.set(descriptor, accessOf(flags));
  if (!String(path).startsWith(process.env.LOCKED ?? "\0")) return;
  for (const each of Object.values(locked)) each.set(descriptor, path);
}

function busy(name) {
  return Object.assign(new Error(`EBUSY: resource busy or locked, ${name}`), { code: "EBUSY", syscall: name });
}

function checked(name, args) {
  if (process.env.IGNORE_CASE) {
    for (let i = 0; i < (paths[name] ?? 0); i++) {
      if (typeof args[i] === "string") args[i] = found(args[i]);
    }
  }
  if (isScanned(name, args[0])) {
    throw busy(name);
  }
  if (!refuses[name]?.(...args)) return;
  throw Object.assign(new Error(`EPERM: operation not permitted, ${name}`), { code: "EPERM", syscall: name });
}

for (const name of new Set([...Object.keys(refuses), ...Object.keys(paths)])) {
  const { [name]: later, [`${name}Sync`]: now } = fs;
  fs[`${name}Sync`] = Object.assign((...args) => {
    checked(name, args);
    const result = now(...args);
    if (name === "open") note(result, args);
    return result;
  }, now);
  fs[name] = Object.assign((...args) => {
    const done = args.at(-1);
    try {
      checked(name, args);
    } catch (error) {
      return void process.nextTick(done, error);
    }
    later(...args.slice(0, -1), (error, result, ...rest) => {
      if (name === "open" && !error) note(result, args);
      done(error, result, ...rest);
    });
  }, later);
  const { [name]: promised } = fs.promises;
  if (promised === undefined) continue;
  fs.promises[name] = async (...args) => {
    checked(name, args);
    return await promised(...args);
  };
}
if (process.env.RENAMES) {
  const { rename } = fs.promises;
  const replaced = new Set();
  fs.promises.rename = async (from, to) => {
    if (replaced.has(to)) throw Object.assign(new Error("EPERM: rename"), { code: "EPERM", syscall: "rename" });
    replaced.add(to);
    await new Promise((resolve) => setTimeout(resolve, Number(process.env.RENAMES)));
    await rename(from, to).finally(() => replaced.delete(to));
  };
}
if (!isWindows) fs.realpathSync.native = fs.realpathSync;
if (isMount) {
  const { realpathSync } = fs;
  const asAsked = (path) => folded(realpathSync(path)) === folded(resolve(path)) ? resolve(path) : realpathSync(path);
  fs.realpathSync = Object.assign(asAsked, { native: asAsked });
  fs.promises.realpath = (path) => new Promise((resolve) => resolve(asAsked(path)));
}

/** Sets the file number of a status as a file system of the kind `NUMBERS` does: threads get the same numbers. */
function renumbered(status) {
  const kind = process.env.NUMBERS;
  if (kind === undefined || status === undefined) return status;
  let number = BigInt(status.ino);
  if (kind === "none") number = 0n;
  if (kind === "large") number += 198n << 48n;
  if (kind === "rounded") number = BigInt(Number(number + (0x7fffn << 48n)));
  if (kind === "negative") number -= 1n << 63n;
  return Object.assign(status, {
    ino: typeof status.ino === "bigint" ? number : Number(BigInt.asUintN(64, number)),
  });
}

/** Gives a status the times that the file system of `TIMES` has. */
function retimed(status) {
  const kind = process.env.TIMES;
  if (kind === undefined || status === undefined) return status;
  const [name, ms] = kind === "fat" ? ["ctime", Date.UTC(1601)] : ["birthtime", Date.UTC(2020)];
  const isExact = typeof status.ino === "bigint";
  Object.defineProperty(status, `${name}Ms`, { value: isExact ? BigInt(ms) : ms });
  if (isExact) Object.defineProperty(status, `${name}Ns`, { value: BigInt(ms) * 1_000_000n });
  return status;
}

if (process.env.MACHINE !== undefined) {
  const os = require("node:os");
  os.hostname = () => "machine";
  os.networkInterfaces = () => ({ ethernet: [{ mac: process.env.MACHINE }] });
}

function checkLocked(kind, descriptor) {
  const path = locked[kind].get(descriptor);
  const key = `${kind} ${path}`;
  if (locked[kind].delete(descriptor) && !scanned.has(key) && scanned.add(key)) throw busy(kind);
}

for (const [name, kind] of [["read", "read"], ["write", "write"], ["writev", "write"]]) {
  const { [name]: later, [`${name}Sync`]: now } = fs;
  fs[name] = (descriptor, ...args) => {
    try {
      checkLocked(kind, descriptor);
    } catch (error) {
      return void process.nextTick(args.at(-1), error);
    }
    later(descriptor, ...args);
  };
  fs[`${name}Sync`] = (descriptor, ...args) => {
    checkLocked(kind, descriptor);
    return now(descriptor, ...args);
  };
}

for (const name of ["stat", "lstat", "fstat"]) {
  const { [`${name}Sync`]: now } = fs;
  const { [name]: promised } = fs.promises;
  fs[`${name}Sync`] = (...args) => retimed(renumbered(now(...args)));
  if (promised !== undefined) fs.promises[name] = async (...args) => retimed(renumbered(await promised(...args)));
}
syncBuiltinESMExports();
