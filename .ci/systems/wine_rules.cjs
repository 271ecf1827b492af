/**
 * Preloaded under Wine, before `tests/windows/like_windows.cjs`: Wine 8 does here otherwise than Windows 10 with NTFS.
 *
 * - It knows no TCP_KEEPIDLE, without which libuv connects no socket with keep-alive set before.
 * - A file that is removed while it is open keeps its name until it is closed. NTFS takes it at once, as libuv asks for
 *   with FILE_DISPOSITION_POSIX_SEMANTICS.
 * - The time of a file's birth is that of its last write. It becomes 0, as of file systems that know none.
 * - CreateSymbolicLinkW succeeds and makes nothing: see `no_links.cjs`.
 */
"use strict";
const { randomUUID } = require("node:crypto");
const fs = require("node:fs");
const { Socket } = require("node:net");
const { syncBuiltinESMExports } = require("node:module");
const { join, parse, resolve } = require("node:path");
const { lstatSync, mkdirSync, renameSync } = fs;

Socket.prototype.setKeepAlive = function () {
  return this;
};

/** Moves a file or folder out of the way of its name, so that what is open there ends later; returns where it is then. */
function aside(path) {
  if (typeof path !== "string" || lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  const folder = join(parse(resolve(path)).root, "tmp", "millrace-removed");
  const moved = join(folder, randomUUID());
  try {
    mkdirSync(folder, { recursive: true });
    renameSync(path, moved);
    return moved;
  } catch {
    return path;
  }
}

/** Removes what was moved aside, as far as that can be done by now. */
function removal(name, isRemovable) {
  const { [name]: later, [`${name}Sync`]: now } = fs;
  const { [name]: promised } = fs.promises;
  const place = (path, options) => isRemovable(path, options) ? aside(path) : path;
  fs[`${name}Sync`] = (path, options) => {
    const moved = place(path, options);
    try {
      return now(moved, options);
    } catch (error) {
      if (moved === path) throw error;
    }
  };
  fs[name] = (path, ...rest) => {
    const done = rest.pop();
    const moved = place(path, rest[0]);
    later(moved, ...rest, (error) => done(moved === path ? error : null));
  };
  fs.promises[name] = async (path, options) => {
    const moved = place(path, options);
    try {
      return await promised(moved, options);
    } catch (error) {
      if (moved === path) throw error;
    }
  };
}

/** Takes the time of its birth from a status. */
function withoutBirth(status) {
  if (typeof status?.birthtimeNs === "bigint") Object.assign(status, { birthtimeNs: 0n, birthtimeMs: 0n });
  else if (status !== undefined) status.birthtimeMs = 0;
  return status;
}

for (const name of ["stat", "lstat", "fstat"]) {
  const { [name]: later, [`${name}Sync`]: now } = fs;
  const { [name]: promised } = fs.promises;
  fs[`${name}Sync`] = (...args) => withoutBirth(now(...args));
  fs[name] = (...args) => {
    const done = args.pop();
    later(...args, (error, status) => done(error, withoutBirth(status)));
  };
  if (promised !== undefined) fs.promises[name] = async (...args) => withoutBirth(await promised(...args));
}

const isFolder = (path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
removal("unlink", (path) => !isFolder(path));
removal("rm", (path, options) => options?.recursive === true || !isFolder(path));

require("./no_links.cjs");
syncBuiltinESMExports();
