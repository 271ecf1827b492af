import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, symlink } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { writeTree } from "../support/folders.ts";
import { refusedOnWindows } from "../../lib/files/internal.ts";
import { needs } from "../support/needs.ts";

/** Stands in every file that no answer may give away. */
export const SECRET = "SECRET-7c1f0a";

/** The content of every public file. */
export const PUBLIC = "PUBLIC-52be99";

/** A site among secrets. */
export interface HostileTree {
  /** The folder that is served. */
  readonly root: string;
  /** A deploy before it, with secrets of its own around it. */
  readonly previous: string;
  /** Kinds of files that this system does not let us make. */
  readonly missing: readonly string[];
  close(): Promise<void>;
}

const secret = `${SECRET}\n`;
const page = `<!doctype html><p>${PUBLIC}</p>\n`;

/** The public files; some have names that make an unwary redirect leave the site. */
const open = {
  "index.html": page,
  "page.html": page,
  "assets/app.js": `// ${PUBLIC}\n`,
  "assets/app.4f3a9c1e.js": `// ${PUBLIC}\n`,
  "docs/index.html": page,
  "docs/deep/index.html": page,
  "evil.example/index.html": page,
  "evil.example/page.html": page,
  "\\evil.example/index.html": page,
  "http:/evil.example/index.html": page,
  "a\r\nset-cookie: b/index.html": page,
  "q?x/index.html": page,
  "h#x/index.html": page,
  "50%/index.html": page,
  "%2e%2e/index.html": page,
  "%2e%2e/secret.txt": `${PUBLIC}\n`,
  "..%2fsecret.txt": `${PUBLIC}\n`,
  "..\\secret.txt": `${PUBLIC}\n`,
  "..;/secret.txt": `${PUBLIC}\n`,
  ".../secret.txt": `${PUBLIC}\n`,
  "f\u00fcnke/index.html": page,
  ".well-known/security.txt": `${PUBLIC}\n`,
  // A file with a hash and a variant is offered as a dictionary, in a field that contains its path.
  'odd"\\*:\r\nset-cookie: b\u20ac.4f3a9c1e.js': `// ${PUBLIC} `.repeat(9),
  'odd"\\*:\r\nset-cookie: b\u20ac.4f3a9c1e.js.br': `// ${PUBLIC}`,
};

/** Returns the files of a manifest that claims paths outside of the site. */
function vouched(): Record<string, unknown> {
  const record = {
    size: secret.length,
    sha256: createHash("sha256").update(secret).digest("hex"),
    variants: {},
  };
  const paths = ["secret.txt", "link.txt", "link-folder/secret.txt", ".env", "chain-1.txt", "nothing.txt"];
  return Object.fromEntries(paths.map((path) => [path, record]));
}

/** Files in the site that stay unseen: dotfiles, and what a run of `precompress` needs or left. */
const hidden = {
  ".env": secret,
  ".git/config": secret,
  "docs/.htpasswd": secret,
  "docs/.svn/entries": secret,
  "docs/.millrace-1-00000000-0000-4000-8000-000000000000.tmp": secret,
  ".millrace-999999-11111111-1111-4111-8111-111111111111.tmp": secret,
  ".millrace.json": JSON.stringify({ version: 1, copied: false, files: vouched(), note: SECRET }),
};

/** Files beside and around the site. */
const outside = {
  "secret.txt": secret,
  "index.html": secret,
  "page.html": secret,
  "docs/index.html": secret,
  "assets/app.js": secret,
  "site-secret/secret.txt": secret,
  "site-secret/index.html": secret,
  "site.secret": secret,
  "sitesecret.txt": secret,
  "before-secret/old.11111111.js": secret,
};

/** Makes the site and what is around it below `folder`. */
export async function makeHostileTree(folder: string): Promise<HostileTree> {
  const root = join(folder, "site");
  const previous = join(folder, "before");
  await writeTree(folder, outside);
  await writeTree(root, { ...possible(open), ...hidden });
  await writeTree(previous, { "old.22222222.js": `// ${PUBLIC}\n`, ".old.33333333.js": secret });
  await mkdir(join(root, "empty"));
  if (!needs("links")) {
    await makeLinks(folder, root);
    await symlink("../before-secret/old.11111111.js", join(previous, "linked.11111111.js"));
    await symlink("../before-secret", join(previous, "linked"));
  }
  const missing: string[] = [];
  if (spawnSync("mkfifo", [join(root, "pipe"), join(root, "pipe.js")]).status !== 0) missing.push("FIFO");
  if (spawnSync("mknod", [join(root, "device"), "c", "1", "5"]).status !== 0) missing.push("device file");
  // A name that is not UTF-8.
  spawnSync("sh", ["-c", `printf '${PUBLIC}' > "$(printf 'bad\\377.js')"`], { cwd: root });
  const socket = await listenAt(join(root, "socket"));
  if (socket === undefined) missing.push("socket");
  return {
    root,
    previous,
    missing,
    close: () => new Promise((done) => socket ? socket.close(() => done()) : done()),
  };
}

async function makeLinks(folder: string, root: string): Promise<void> {
  const links: Readonly<Record<string, string>> = {
    "link.txt": "../secret.txt",
    "link-absolute.txt": join(folder, "secret.txt"),
    "link-folder": "../site-secret",
    "link-folder-absolute": join(folder, "site-secret"),
    "link-sibling.txt": "../site.secret",
    "link-up": "..",
    "link-to-root-of-all": "/",
    "link-roundabout.txt": "docs/../../secret.txt",
    "link-through-folder.txt": "link-up/secret.txt",
    "chain-1.txt": "chain-2.txt",
    "chain-2.txt": "docs/chain-3.txt",
    "docs/chain-3.txt": "../../secret.txt",
    "docs/link-deep": "../../site-secret",
    "assets/app.js.br": "../../secret.txt",
    "docs/index.html.zst": "../../secret.txt",
    "page.html.gz": "../secret.txt",
    "index.html.br": join(folder, "site-secret/secret.txt"),
    "404.html": "../secret.txt",
    "zero": "/dev/zero",
    "zero.js": "/dev/zero",
    "null.js": "/dev/null",
    "stdin.js": "/dev/stdin",
    "environ.txt": "/proc/self/environ",
    "passwd.txt": "/etc/passwd",
    "nowhere.txt": "nothing/here.txt",
    "loop-1": "loop-2",
    "loop-2": "loop-1",
    "docs/loop": "..",
    "inside.html": "index.html",
    "inside-folder": "docs",
    "inside-absolute.html": join(root, "page.html"),
  };
  for (const [path, target] of Object.entries(links)) await symlink(target, join(root, path));
}

/** Files without those whose names a system cannot have. */
function possible(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!needs("names")) return files;
  const kept = Object.entries(files).filter(([path]) => path.split("/").every((part) => !refusedOnWindows(part)));
  return Object.fromEntries(kept);
}

/** Returns a socket's file; sockets have short names only, so it is made from within its folder's path if that fits. */
async function listenAt(path: string): Promise<Server | undefined> {
  if (needs("mkfifo")) return undefined;
  const server = createServer();
  return await new Promise((resolve) => {
    server.on("error", () => resolve(undefined));
    server.listen(path, () => resolve(server));
  });
}
