import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { temporaryPath } from "../../../lib/files/mod.ts";
import { foldedName, refusedOnWindows } from "../../../lib/files/internal.ts";
import { containedPath } from "../../../lib/upload/sink/contained_path.ts";
import { UploadError } from "../../../lib/upload/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { tries } from "../../support/long_run.ts";
import { needs } from "../../support/needs.ts";
import { codePoint } from "../../support/code_point.ts";

const root = resolve("/no/such/root");

function codeOf(destination: string | URL, folder: string | URL = root): string {
  try {
    containedPath(destination, folder);
    return "accepted";
  } catch (error) {
    assert.ok(error instanceof UploadError, String(error));
    return error.code;
  }
}

test("containedPath() without a root gives the path itself, absolute", () => {
  assert.equal(containedPath("a/../b.txt", undefined), resolve("b.txt"));
  assert.equal(containedPath("/etc/../x", undefined), resolve("/x"));
  assert.equal(containedPath(pathToFileURL(resolve("/a b/ü.txt")), undefined), resolve("/a b/ü.txt"));
});

test("containedPath() refuses what is no path of a file, as misuse", () => {
  for (
    const wrong of ["", "a\0b", "folder/", ".", "..", "a/.", new URL("http://localhost/a"), 5, null, undefined, {}]
  ) {
    assert.throws(() => containedPath(wrong as string, undefined), { name: "TypeError", message: /^the destination / });
  }
  for (const wrong of ["", "\0", new URL("https://localhost/"), 5, null, {}]) {
    assert.throws(() => containedPath("a", wrong as string), { name: "TypeError", message: /^the root must be / });
  }
});

test("containedPath() takes paths relative to the root, and absolute ones and URLs in it", () =>
  inFolder((folder) => {
    const reserved = needs("names") ? [] : ["...", "a\nb", "#?"];
    for (const name of ["a", "a.b", "..a", "a b", "%2e%2e", "ü", "~", "-", "con~1", ...reserved]) {
      for (const path of [name, `./${name}`, `.//${name}`, `x/../${name}`, join(folder, name)]) {
        assert.equal(containedPath(path, folder), join(folder, name), path);
      }
      assert.equal(containedPath(pathToFileURL(join(folder, name)), pathToFileURL(folder)), join(folder, name));
      assert.equal(containedPath(name, folder + sep), join(folder, name));
      assert.equal(containedPath(name, relative(".", folder)), join(folder, name));
    }
    assert.equal(containedPath("a/b", "/"), resolve("/a/b"));
    return Promise.resolve();
  }));

test("containedPath() refuses the names of temporary files, with code points in them that a disk may ignore, too", () => {
  const name = basename(temporaryPath(join(root, "a")));
  for (const each of [name, `\u200c${name}`, name.replace("-", "\u00ad-"), `${name}.`, `${name} .`]) {
    assert.equal(codeOf(each), "BAD_NAME", each);
  }
  assert.notEqual(foldedName("a\u200c.txt"), foldedName("b.txt"));
  assert.equal(foldedName("a\u200c.txt"), foldedName("A.txt"));
});

test("containedPath() refuses what leaves the root, in the words of who gave it", () => {
  const beside = `${root}-beside/x`;
  for (
    const path of ["..", "../x", "a/../../x", "../root", "../root-beside/x", "/etc/passwd", "/", beside, "./..//x"]
  ) {
    assert.equal(codeOf(path), path === "../root" ? "BAD_NAME" : "OUTSIDE_ROOT", path);
  }
  assert.equal(codeOf(pathToFileURL("/etc/passwd")), "OUTSIDE_ROOT");
  const message = 'Cannot save "../x": the path leads out of the folder for uploads';
  assert.throws(() => containedPath("../x", root), { name: "UploadError", code: "OUTSIDE_ROOT", status: 400, message });
});

test("containedPath() refuses names that no file can have, or none should", () => {
  const temporary = relative(root, temporaryPath(join(root, "x")));
  for (const path of ["", ".", "a/", "a/.", "a/..", "a//", root, `${root}/`, "a\0", "\0/b", "\ud800", "a/\udc00b"]) {
    assert.equal(codeOf(path), "BAD_NAME", JSON.stringify(path));
  }
  for (const path of [temporary, `a/../${temporary}`, ".millrace-1-2.tmp"]) {
    assert.equal(codeOf(path), "BAD_NAME", path);
  }
  assert.throws(() => containedPath(`${root}/a/`, root), { message: 'Cannot save "a": the name is one of a folder' });
});

test("containedPath() never gives a path outside the root, whatever the parts", () =>
  inFolder((folder) => {
    const part = fc.oneof(
      fc.constantFrom("..", ".", "", "a", "\\", "..\\", "%2e", "\0", "C:", "etc", "~", "..a", "a..", "．．", "‥"),
      fc.string({ maxLength: 5, unit: codePoint }),
    );
    const start = fc.constantFrom("", "/", folder + sep, `${folder}/../`);
    fc.assert(
      fc.property(start, fc.array(part, { maxLength: 8 }), (start, parts) => {
        const path = start + parts.join("/");
        let found: string;
        try {
          found = containedPath(path, folder);
        } catch (error) {
          assert.ok(error instanceof UploadError, String(error));
          assert.ok(!error.message.includes(folder) || path.startsWith(folder));
          return;
        }
        assert.equal(found, resolve(found));
        assert.ok(found.startsWith(folder + sep) && found.length > folder.length + 1);
        assert.ok(!found.slice(folder.length + 1).split(sep).includes(".."));
      }),
      { numRuns: tries(3000) },
    );
    return Promise.resolve();
  }));

test(
  "containedPath() follows links on the way, and refuses those that lead out",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const inner = join(folder, "root");
      await mkdir(join(inner, "a/b"), { recursive: true });
      await mkdir(join(folder, "root-beside"));
      await writeFile(join(inner, "file"), "");
      const links: Record<string, string> = {
        up: "..",
        abs: "/",
        beside: "../root-beside",
        missing: "../missing",
        missingInside: "soon",
        self: ".",
        deep: "a/b",
        chain: "a/../beside",
        loop: "loop",
      };
      for (const [name, target] of Object.entries(links)) await symlink(target, join(inner, name));
      for (const name of ["up", "abs", "beside", "missing", "missingInside", "chain"]) {
        for (const path of [`${name}/x`, `a/../${name}/x`, `${name}/not/there/x`, `self/${name}/x`]) {
          assert.equal(codeOf(path, inner), "OUTSIDE_ROOT", path);
        }
      }
      for (
        const path of ["self/x", "deep/x", "a/b/x", "self/deep/x", "none/yet/x", "a/none/x", "deep/none/x", "up", "abs"]
      ) {
        assert.equal(containedPath(path, inner), join(inner, path));
      }
      // The root itself may be a link.
      await symlink("root", join(folder, "alias"));
      assert.equal(containedPath("a/x", join(folder, "alias")), join(folder, "alias/a/x"));
      assert.equal(codeOf("up/x", join(folder, "alias")), "OUTSIDE_ROOT");
      assert.throws(() => containedPath("loop/x", inner), { code: "ELOOP" });
    }),
);

test("containedPath() names a root that is missing, and a part that is too long", () =>
  inFolder((folder) => {
    assert.throws(() => containedPath("a/b", join(folder, "none")), {
      code: "ENOENT",
      message: `Cannot open ${join(folder, "none")}: the directory is missing (ENOENT)`,
    });
    assert.throws(() => containedPath(`${"x".repeat(300)}/b`, folder), {
      code: "BAD_NAME",
      message: `Cannot save "${"x".repeat(120)}…": the name is too long`,
    });
    return Promise.resolve();
  }));

test("refusedOnWindows() refuses what would be stored as something else", () => {
  const refused = [
    "con",
    "NUL.txt",
    "com1",
    "LPT9.tar.gz",
    "aux .c",
    "C:",
    "a:b",
    "a.",
    "a ",
    "a\tb",
    "a|b",
    'a"',
    "*",
  ];
  for (const part of refused) assert.equal(typeof refusedOnWindows(part), "string", part);
  for (const part of ["console", "nul_", "com", "com10", "a.b", ".a", " a", "a-b", "lpt.txt", "ü"]) {
    assert.equal(refusedOnWindows(part), undefined, part);
  }
});
