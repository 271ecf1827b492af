const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOENT: "it is gone, or its name is not UTF-8",
  ELOOP: "it is a loop of symbolic links, or has become a link",
  ENAMETOOLONG: "its path is too long for the system",
  EMFILE: "too many open files: raise the limit (ulimit -n)",
  ENFILE: "too many open files on this machine",
};

/** Why the file system refused, in plain words. */
export function reasonOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === "string" && Object.hasOwn(reasons, code)) return reasons[code];
  return error instanceof Error ? error.message : String(error);
}
