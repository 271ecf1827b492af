/** Preloaded where symbolic links are to be refused, as on Windows without the privilege. Junctions need none. */
"use strict";
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const { symlink, symlinkSync } = fs;
const { symlink: promised } = fs.promises;

function refuse(type) {
  if (type === "junction") return;
  throw Object.assign(new Error("EPERM: operation not permitted, symlink"), { code: "EPERM", syscall: "symlink" });
}

fs.symlinkSync = (...args) => (refuse(args[2]), symlinkSync(...args));
fs.symlink = (...args) => {
  try {
    refuse(args[2]);
  } catch (error) {
    return void process.nextTick(args.at(-1), error);
  }
  symlink(...args);
};
fs.promises.symlink = async (...args) => (refuse(args[2]), await promised(...args));
syncBuiltinESMExports();
