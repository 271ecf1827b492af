import assert from "node:assert/strict";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test, { describe } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { matcherOf } from "../../lib/globs/mod.ts";
import { faceOf } from "../support/built_faces.ts";
import { inFolder, listed, writeTree } from "../support/folders.ts";
import { output } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";

const rules = fileURLToPath(new URL("like_windows.cjs", import.meta.url));

const parts = { Files: "files", Site: "precompress", Static: "static", Uploads: "upload" };

/** Runs a module, whose `folder` is given, on Node where files behave as on Windows; it has the parts that it names. */
function run(code: string, folder: string, env: Record<string, string> = {}): Promise<string> {
  const imports = Object.entries(parts).filter(([name]) => code.includes(`${name}.`))
    .map(([name, part]) => `import * as ${name} from ${JSON.stringify(faceOf(part))};`);
  const source = `${imports.join("")}const folder = ${JSON.stringify(folder)};${code}`;
  return output(process.execPath, ["--input-type=module", "--eval", source], root, {
    NODE_OPTIONS: `--require=${rules}`,
    ...env,
  });
}

const page = (name: string): string => `<p>${name} is a page</p>\n`.repeat(200);

describe(
  "where files behave as on Windows",
  { skip: runtime !== "node" && "the rules are those of Node's calls" },
  () => {
    test("read-only files are copied, compressed and replaced", () =>
      inFolder(async (folder) => {
        await writeTree(folder, { "site/a.html": page("a") });
        await chmod(join(folder, "site/a.html"), 0o444);
        const code = `
        const lines = [];
        for (const level of [1, 9]) {
          const { problems, compressed } = await Site.precompress(folder + "/site", { out: folder + "/out", formats: ["gzip"], levels: { gzip: level } });
          lines.push(problems.length, compressed.length);
        }
        await Files.copyFileAtomic(folder + "/site/a.html", folder + "/out/a.html");
        console.log(lines.join());`;
        assert.equal((await run(code, folder)).trim(), "0,1,0,1");
      }));

    test("what a failed write has left of a line is taken back", () =>
      inFolder(async (folder) => {
        const code = `
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        let failing = 0;
        for (const name of ["write", "writev"]) {
          const real = fs[name];
          fs[name] = (file, data, ...rest) => {
            if (failing-- <= 0) return real(file, data, ...rest);
            const [piece] = Array.isArray(data) ? data : [data];
            fs.writeSync(file, piece, 0, piece.length >> 1, null);
            process.nextTick(rest.at(-1), Object.assign(new Error("no space"), { code: "ENOSPC" }));
          };
        }
        syncBuiltinESMExports();
        const log = new Files.RotatingFileWritable({ directory: folder, name: "a.log", maxFileSize: 9999, append: true, retry: { attempts: 3, delay: 1 } });
        const writer = log.getWriter();
        await writer.write("first\\n");
        failing = 1;
        await writer.write("second\\n");
        await writer.close();`;
        await run(code, folder);
        assert.equal(await readFile(join(folder, "a-00001.log"), "utf8"), "first\nsecond\n");
      }));

    test("a series has no name that Windows takes for a stream, a device or another name", () =>
      inFolder(async (folder) => {
        const code = `
        const names = ["10:00.log", "a:b", "app.", "what?.log", "x".repeat(256)];
        const made = ["con.log", "app ", "app.log."].map((name) => () => name);
        for (const name of [...names, ...names.map((name) => () => name), ...made]) {
          try {
            const writer = new Files.RotatingFileWritable({ directory: folder, maxFileSize: 9, name }).getWriter();
            await writer.write("x");
            console.log("taken", String(name));
          } catch (error) {
            if (!/must be a plain file name/.test(String(error))) console.log(String(error));
          }
        }`;
        assert.equal(await run(code, folder), "");
        assert.deepEqual(await listed(folder), []);
      }));

    test("what a scanner has open for a moment is replaced and removed all the same, and no lock is left", () =>
      inFolder(async (folder) => {
        await writeTree(folder, { "site/a.html": page("a"), "site/b/c.html": page("c") });
        await mkdir(join(folder, "logs"));
        const code = `
        const { mkdirSync, rmSync } = await import("node:fs");
        const options = { out: folder + "/out", formats: ["gzip"] };
        const lines = [];
        const run = async () => lines.push((await Site.precompress(folder + "/site", options)).problems.length);
        await run();
        process.env.SCANNED = "";
        rmSync(folder + "/site/b", { recursive: true });
        process.env.SCANNED = "1";
        await run();
        for (const lengths of [[9, 9, 9], [9]]) {
          const log = new Files.RotatingFileWritable({ directory: folder + "/logs", name: "a.log", maxFileSize: 9, overwrite: true });
          const writer = log.getWriter();
          for (const length of lengths) await writer.write("x".repeat(length));
          await writer.close();
        }
        process.env.SCANNED = "";
        mkdirSync(folder + "/uploads");
        process.env.SCANNED = "1";
        const uploads = Uploads.createUploadHandler({ directory: folder + "/uploads", overwrite: true, resumable: true, log() {} });
        const send = async (method, path, fields, body) => {
          const headers = { "upload-draft-interop-version": "8", ...fields };
          const response = await uploads.fetch(new Request(new URL(path, "http://localhost"), { method, headers, body }));
          lines.push(response.status);
          return response.headers.get("location");
        };
        for (let i = 0; i < 2; i++) {
          const upload = await send("PUT", "/a.txt", { "upload-complete": "?0" }, "a ");
          const rest = { "content-type": "application/partial-upload", "upload-complete": "?1", "upload-offset": "2" };
          await send("PATCH", upload, rest, "file");
        }
        await send("DELETE", await send("PUT", "/b.txt", { "upload-complete": "?0" }, "b"), {});
        console.log(lines.join());`;
        assert.equal((await run(code, folder, { SCANNED: "1" })).trim(), "0,0,201,201,201,200,201,204");
        const left = (await listed(folder)).filter((path) => !/\.millrace(?:-uploads|\.json)|\.tmp$/.test(path));
        const expected = ["logs/a-00001.log", "out/a.html", "out/a.html.gz", "site/a.html", "uploads/a.txt"];
        assert.deepEqual(left, expected);
      }));

    test("one of several processes takes a name on a disk without links, and the others are refused", () =>
      inFolder(async (folder) => {
        const code = `
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        const { takeName } = await import("./lib/files/place.ts");
        const refuse = () => { throw Object.assign(new Error("no links"), { code: "ENOTSUP" }); };
        const { renameSync } = fs;
        fs.linkSync = refuse;
        fs.promises.link = async () => refuse();
        fs.renameSync = (...args) => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
          return renameSync(...args);
        };
        syncBuiltinESMExports();
        fs.mkdirSync(folder + "/ready", { recursive: true });
        const taken = [];
        for (let i = 0; i < 3; i++) {
          const own = folder + "/own-" + process.pid;
          fs.writeFileSync(own, String(process.pid));
          fs.writeFileSync(folder + "/ready/" + i + "-" + process.pid, "");
          while (fs.readdirSync(folder + "/ready").filter((name) => name.startsWith(i + "-")).length < 3) {
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          await takeName(own, folder + "/" + i, { replace: false, atOnce: false }).then(
            () => taken.push(i + " " + process.pid),
            ({ code }) => taken.push(code),
          );
          fs.rmSync(own, { force: true });
        }
        console.log(taken.join());`;
        const told = (await Promise.all([1, 2, 3].map(() => run(code, folder)))).join().trim().split(
          /[,\s]*[,\n][,\s]*/,
        );
        const names = (await listed(folder)).filter((path) => !path.startsWith("ready/"));
        assert.deepEqual(names, ["0", "1", "2"]);
        const held = await Promise.all(
          names.map(async (name) => `${name} ${await readFile(join(folder, name), "utf8")}`),
        );
        assert.deepEqual(told.sort(), [...held, ...Array(6).fill("EEXIST")].sort());
      }));

    test("no file that comes while a rename is refused is replaced by one that may replace nothing", () =>
      inFolder(async (folder) => {
        const code = `
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        const { takeName, takeNameNow } = await import("./lib/files/place.ts");
        const refusal = (code) => Object.assign(new Error(code), { code });
        let [later, now, link, other] = [fs.promises.rename, fs.renameSync, "", ""];
        fs.linkSync = () => { throw refusal(link); };
        fs.promises.link = async () => fs.linkSync();
        const refuse = () => {
          if (other === "") return;
          fs.writeFileSync(other, "another's");
          other = "";
          throw refusal("EPERM");
        };
        fs.promises.rename = async (...args) => {
          refuse();
          await new Promise(setImmediate); // a thread of the pool is free
          return await later(...args);
        };
        fs.renameSync = (...args) => (refuse(), now(...args));
        syncBuiltinESMExports();
        const ways = [
          (from, to) => takeName(from, to, { replace: false, atOnce: false }),
          (from, to) => takeName(from, to, { replace: false, atOnce: true }),
          (from, to) => takeName(from, to, { replace: false, atOnce: false, before() {} }),
          async (from, to) => takeNameNow(from, to),
        ];
        for (const code of ["EBUSY", "EPERM", "EISDIR"]) {
          for (const [i, take] of ways.entries()) {
            const [from, to] = [folder + "/from", folder + "/" + code + i];
            fs.writeFileSync(from, "ours");
            [link, other] = [code, to];
            console.log(await take(from, to).then(() => "taken", (error) => error.code), fs.readFileSync(to, "utf8"));
            fs.writeFileSync(from + 2, "ours, too");
            const both = await Promise.allSettled([take(from, to + "free"), take(from + 2, to + "free")]);
            if (both.filter(({ status }) => status === "fulfilled").length !== 1) console.log("both have a name", i);
          }
        }`;
        const lines = (await run(code, folder)).trim().split("\n");
        assert.deepEqual(lines, Array(12).fill("EEXIST another's"));
        assert.equal((await listed(folder)).length, 25);
      }));

    test("a watched folder that is renamed or removed, of which Windows tells little, is served once it is back", () =>
      inFolder(async (folder) => {
        const code = `
        const { EventEmitter } = await import("node:events");
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        const { statSync } = fs;
        let watcher;
        let begun = 0;
        // Linux gives a new folder the number of the one that was removed before.
        fs.statSync = (path, options) => Object.assign(statSync(path, options), options?.bigint && { ino: 7n });
        fs.watch = () => (begun++, watcher = Object.assign(new EventEmitter(), { close() {} }));
        syncBuiltinESMExports();
        const [site, next] = [folder + "/site", folder + "/next"];
        const make = (path, text) => (fs.mkdirSync(path), fs.writeFileSync(path + "/a.txt", text));
        make(site, "first");
        const handler = await Static.createStaticHandler(site, { watch: true, onWarning: ({ message }) => console.log(message) });
        const becomes = async (text) => {
          for (;;) {
            const response = await handler.fetch(new Request("http://localhost/a.txt"));
            if (await response.text() === text) return;
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        };
        await becomes("first");
        make(next, "second");
        fs.renameSync(site, folder + "/former");
        fs.renameSync(next, site);
        await becomes("second");
        fs.rmSync(site, { recursive: true });
        watcher.emit("error", Object.assign(new Error("EPERM: operation not permitted, watch"), { code: "EPERM" }));
        const before = begun;
        make(site, "third");
        await becomes("third");
        while (begun === before) await new Promise((resolve) => setTimeout(resolve, 20));
        fs.writeFileSync(site + "/a.txt", "fourth");
        watcher.emit("change");
        watcher.emit("error", new Error("a failure"));
        await handler.close();`;
        assert.equal(
          await run(code, folder),
          "is not watched: a failure; call reload() or send SIGHUP after changes\n",
        );
      }));

    test("a site is served where the system has no watches left, and an exchanged folder is noticed", () =>
      inFolder(async (folder) => {
        const code = `
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        fs.watch = () => { throw Object.assign(new Error("no watches"), { code: "ENOSPC" }); };
        syncBuiltinESMExports();
        const make = (path, text) => (fs.mkdirSync(path), fs.writeFileSync(path + "/a.txt", text));
        make(folder + "/site", "first");
        const onWarning = ({ message }) => console.log(message);
        const handler = await Static.createStaticHandler(folder + "/site", { watch: true, onWarning });
        make(folder + "/next", "second");
        fs.renameSync(folder + "/site", folder + "/former");
        fs.renameSync(folder + "/next", folder + "/site");
        for (;;) {
          const response = await handler.fetch(new Request("http://localhost/a.txt"));
          if (await response.text() === "second") break;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        await handler.close();`;
        const told =
          "is not watched: no watches (raise fs.inotify.max_user_watches); call reload() or send SIGHUP after changes";
        assert.equal((await run(code, folder)).split("\n")[0], told);
      }));

    test("links are followed whatever the case in which a folder is named, and on a RAM disk", () =>
      inFolder(async (folder) => {
        await writeTree(folder, { "Site/a.html": page("a"), "Site/b/c.html": page("c"), "up/sub/d.txt": "d" });
        await symlink(join(folder, "Site/b"), join(folder, "Site/link"), "junction");
        const code = `
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        const { native } = fs.realpathSync;
        // That of Node keeps names as they are given: nodejs/node#38459.
        const given = (path) => native(path).toLowerCase() === path.toLowerCase() ? path : native(path);
        fs.realpathSync = Object.assign(given, { native });
        const visit = async (site) => {
          const handler = await Static.createStaticHandler(site, { onWarning: ({ message }) => console.log(message) });
          for (const path of ["a", "b/c", "link/c"]) {
            console.log((await handler.fetch(new Request("http://localhost/" + path + ".html"))).status);
          }
          await handler.close();
        };
        syncBuiltinESMExports();
        await visit(folder + "/sITE");
        const refuse = () => { throw Object.assign(new Error("EISDIR: illegal operation, realpath"), { code: "EISDIR" }); };
        fs.realpathSync = Object.assign(native, { native: refuse });
        fs.promises.realpath = async () => refuse();
        syncBuiltinESMExports();
        await visit(folder + "/Site");
        const { problems, compressed } = await Site.precompress(folder + "/Site", { out: folder + "/out", formats: ["gzip"] });
        console.log(problems.length, compressed.length);
        const uploads = Uploads.createUploadHandler({ directory: folder + "/up", overwrite: true, log() {} });
        for (const name of ["d.txt", "e.txt", "D~1.TXT"]) {
          fs.writeFileSync(folder + "/up/sub/D~1.TXT", "which may be d.txt");
          const request = new Request("http://localhost/sub/" + name, { method: "PUT", body: name });
          console.log((await uploads.fetch(request)).status);
        }`;
        const statuses = [200, 200, 200];
        const expected = [...statuses, ...statuses, "0 3", 200, 201, 400];
        assert.equal((await run(code, folder, { IGNORE_CASE: "1" })).trim(), expected.join("\n"));
      }));

    test("uploads refuse a name that finds a file which its folder lists under another one, on any system", () =>
      inFolder(async (folder) => {
        await writeTree(folder, { "up/.htaccess": "hidden", "up/a~1.txt": "of its own" });
        const code = `
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        for (const name of ["lstatSync", "statSync"]) {
          const look = fs[name];
          fs[name] = (path, options) => look(String(path).replace("HTACCE~1", ".htaccess"), options);
        }
        Object.defineProperty(process, "platform", { value: "linux" });
        syncBuiltinESMExports();
        const uploads = Uploads.createUploadHandler({ directory: folder + "/up", overwrite: true, log() {} });
        for (const name of ["HTACCE~1", "a~1.txt", "new~1.txt"]) {
          const request = new Request("http://localhost/" + name, { method: "PUT", body: name });
          console.log((await uploads.fetch(request)).status);
        }`;
        assert.equal((await run(code, folder)).trim(), "400\n200\n201");
      }));

    test("a port that Windows keeps for itself is passed over as one that is in use", () =>
      inFolder(async (folder) => {
        const code = `
        const { Server } = await import("node:net");
        const { serve } = await import("./lib/runtime/mod.ts");
        const { listen } = Server.prototype;
        const tried = [];
        Server.prototype.listen = function (port, ...rest) {
          if (tried.push(port) === 3) return listen.call(this, 0, ...rest);
          process.nextTick(() => this.emit("error", Object.assign(new Error("listen EACCES"), { code: "EACCES" })));
        };
        const options = { fetch() {}, node() {}, hostname: "127.0.0.1", portsToTry: 3 };
        await (await serve({ ...options, port: 8080 })).stop(0);
        await serve({ ...options, port: 80 }).catch(({ message }) => console.log(message));
        console.log(tried.join());`;
        const refusal = "cannot listen on 127.0.0.1, ports 80 to 82: permission denied; ports below 1024 may be for " +
          "administrators only, choose another one";
        assert.equal((await run(code, folder)).trim(), `${refusal}\n8080,8081,8082,80`);
      }));

    test("files that another program shares for a moment with none are opened once it has ended", () =>
      inFolder(async (folder) => {
        const code = `
        const series = { directory: folder, name: "a.log", maxFileSize: 8, append: true };
        for (let i = 0; i < 2; i++) {
          const log = new Files.RotatingFileWritable(series);
          const writer = log.getWriter();
          for (const line of ["line 1\\n", "line 2\\n", "line 3\\n"]) {
            await writer.write(line);
            await log.flush();
          }
          await writer.close();
        }
        for (const flag of [true, false]) {
          const writer = (await Files.openFileWritable(folder + "/plain", { append: flag })).getWriter();
          await writer.write("plain\\n");
          await writer.close();
        }
        await Files.copyFileAtomic(folder + "/plain", folder + "/copy");
        const reader = (await Files.followFile(folder + "/copy", { start: "beginning" })).getReader();
        console.log((await reader.read()).value.length);
        await reader.cancel();`;
        assert.equal((await run(code, folder, { SCANNED: "1", UNSHARED: folder })).trim(), "6");
        await writeTree(folder, {
          "site/a.html": page("a"),
          "site/b.css": page("b"),
          "site/c.js": page("c").repeat(99),
        });
        const builds = `
        const site = folder + "/site";
        const options = { formats: ["gzip"], cache: folder + "/cache" };
        for (const formats of [["gzip"], ["gzip"], ["gzip", "zstd"]]) {
          const { problems } = await Site.precompress(site, { ...options, formats });
          console.log(problems.length);
          const handler = await Static.createStaticHandler(site, { onWarning: ({ message }) => console.log(message) });
          for (const name of ["a.html", "b.css", "c.js"]) {
            const request = new Request("http://localhost/" + name, { headers: { "accept-encoding": "gzip" } });
            const response = await handler.fetch(request);
            if (response.headers.get("content-encoding") !== "gzip") console.log(response.status);
            await response.arrayBuffer();
          }
          await handler.close();
        }`;
        assert.equal((await run(builds, folder, { UNSHARED: folder })).trim(), "0\n0\n0");
        await rm(join(folder, "cache"), { recursive: true });
        await rm(join(folder, "site"), { recursive: true });
        const expected = ["copy", "plain", ...Array.from({ length: 6 }, (_, i) => `a-0000${i + 1}.log`)].sort();
        assert.deepEqual((await listed(folder)).filter((name) => !name.startsWith(".")), expected.sort());
      }));

    test("a series that is removed and begun anew is read, though NTFS gives its files the times of birth of before", () =>
      inFolder(async (folder) => {
        const code = `
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        const { stat } = fs.promises;
        const born = new Map();
        fs.promises.stat = async (path, options) => {
          const status = await stat(path, options);
          const key = path + Boolean(options?.bigint);
          if (!born.has(key)) born.set(key, { birthtimeMs: status.birthtimeMs, birthtimeNs: status.birthtimeNs });
          return Object.assign(status, born.get(key));
        };
        syncBuiltinESMExports();
        const write = async (...lines) => {
          const options = { directory: folder + "/logs", name: "a.log", maxFileSize: 6, append: true };
          const writer = new Files.RotatingFileWritable(options).getWriter();
          for (const line of lines) await writer.write(line + "\\n");
          await writer.close();
        };
        await write("old 1", "old 2", "old 3");
        for (const i of [1, 2, 3]) await fs.promises.stat(folder + "/logs/a-0000" + i + ".log", { bigint: true });
        const follow = async (start) => {
          const followed = await Files.followFile(folder + "/logs/a.log", { series: true, start, interval: 3 });
          const reader = followed.pipeThrough(new TextDecoderStream()).getReader();
          let text = "";
          return async (length) => {
            while (text.length < length) text += (await reader.read()).value;
            return text.replaceAll("\\n", ",");
          };
        };
        const [all, news] = [await follow("beginning"), await follow("end")];
        await all(18);
        fs.rmSync(folder + "/logs", { recursive: true });
        await write("new 1", "new 2");
        console.log(await all(30), await news(12));
        process.exit();`;
        assert.equal((await run(code, folder)).trim(), "old 1,old 2,old 3,new 1,new 2, new 1,new 2,");
      }));
  },
);

describe(
  "where names and numbers do not tell files apart",
  { skip: runtime !== "node" && "the rules are those of Node's calls" },
  () => {
    const renames = [["about.html", "About.html"], ["blog", "Blog"]];
    const sigmas = [["\u03bf\u03b4\u03bf\u03c2.html", "\u039f\u0394\u039f\u03a3.html"], ["\u03c2", "\u03a3"]];
    const accents = [["caf\u00e9.html", "cafe\u0301.html"], ["\u00e9", "e\u0301"]];
    for (
      const { what, changes, into, rules } of [
        ...["out", "site"].flatMap((into) => [
          { what: "in case", changes: renames, into, rules: "1" },
          { what: "in a final sigma", changes: sigmas, into, rules: "1" },
          { what: "in normalization", changes: accents, into, rules: "1" },
        ]),
        { what: "in case", changes: renames, into: "out", rules: "mount" },
      ]
    ) {
      test(`names that change ${what} alone are followed by what is made of them, in ${into}, rules ${rules}`, () =>
        inFolder(async (folder) => {
          const site = join(folder, "site");
          const [[file, newFile], [inner, newInner]] = changes;
          await writeTree(
            site,
            Object.fromEntries([file, `${inner}/a.html`, "index.html"].map((name) => [name, page(name)])),
          );
          const code = `
          const { renameSync } = await import("node:fs");
          const site = folder + "/site";
          const precompress = async () => {
            const { problems } = await Site.precompress(site, { formats: ["gzip"]${
            into === "out" ? ', out: folder + "/out"' : ""
          } });
            console.log(problems.map(({ message }) => message).join() || 0);
          };
          const rename = ([from, to]) => {
            renameSync(site + "/" + from, site + "/between"); // in one step, both would be one name
            renameSync(site + "/between", site + "/" + to);
          };
          await precompress();
          await precompress();
          ${JSON.stringify(changes)}.forEach(rename);
          await precompress();
          console.log((await fs.readdir(${JSON.stringify(join(folder, into))}, { recursive: true })).length);
          await precompress();`.replace(
            "const { renameSync }",
            'const fs = await import("node:fs/promises"); const { renameSync }',
          );
          // The manifest and a folder beside three files, each with its variant.
          assert.equal((await run(code, folder, { IGNORE_CASE: rules })).trim(), "0\n0\n0\n8\n0");
          const names = [newFile, `${newInner}/a.html`, "index.html"];
          const files = (await listed(join(folder, into))).filter((path) => !path.startsWith("."));
          assert.deepEqual(files.sort(), names.flatMap((name) => [name, `${name}.gz`]).sort());
        }));
    }

    test("a name that a mounted disk of Windows refuses is the sender's fault", () =>
      inFolder(async (folder) => {
        const code = `
        const fs = (await import("node:fs")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        const refuse = (code, syscall) => { throw Object.assign(new Error(code + ": " + syscall), { code, syscall }); };
        fs.linkSync = () => refuse("EPERM", "link");
        fs.promises.link = async () => refuse("EPERM", "link");
        const { renameSync } = fs;
        fs.renameSync = (from, to) => /[:?"]/.test(to) ? refuse("EINVAL", "rename") : renameSync(from, to);
        fs.promises.rename = async (...args) => fs.renameSync(...args);
        syncBuiltinESMExports();
        const { createUploadHandler } = await import("./lib/upload/mod.ts");
        for (const overwrite of [true, false]) {
          const { fetch } = createUploadHandler({ directory: folder, overwrite, resumable: true, log() {} });
          for (const path of ["/x%3Ay.txt", "/%3F", "/%22", "/good" + overwrite]) {
            for (const fields of [{}, { "upload-draft-interop-version": "8", "upload-complete": "?1" }]) {
              const url = "http://localhost" + path + (fields["upload-complete"] ? "2" : "");
              const response = await fetch(new Request(url, { method: "PUT", headers: fields, body: "text" }));
              console.log(response.status, /BAD_NAME/.exec(await response.text())?.[0]);
            }
          }
        }`;
        const once = [...Array(6).fill("400 BAD_NAME"), "201 undefined", "201 undefined"];
        const told = (await run(code, folder, { IGNORE_CASE: "mount" })).trim().split("\n");
        assert.deepEqual(told, [...once, ...once]);
        const left = (await listed(folder)).filter((path) => !path.startsWith("."));
        assert.deepEqual(left, ["goodfalse", "goodfalse2", "goodtrue", "goodtrue2"]);
      }));

    test("no two files of a form have names that their disk takes for one in another form", () =>
      inFolder(async (folder) => {
        const code = `
          const pairs = [["a.txt", "a.txt."], ["b", "b "], ["c. .", "c"], ["fi", "\ufb01"], ["2", "\u00b2"], ["e\u0301", "\u00e9"], ["f", "F"]];
          for (const names of pairs) {
            const body = new FormData();
            for (const name of names) body.append("file", new File([name], name));
            const request = new Request("http://localhost/", { method: "POST", body });
            const options = { root: folder + "/" + process.env.IGNORE_CASE, overwrite: true };
            console.log(await Uploads.saveForm(request, ({ filename }) => filename, options).then(() => "saved", ({ code }) => code));
          }`;
        const [one, two] = ["EXISTS", "saved"];
        const expected = {
          ends: [one, one, one, two, two, one, two],
          compatible: [two, two, two, one, one, one, two],
          none: [two, two, two, two, two, one, two],
        };
        for (const [rules, codes] of Object.entries(expected)) {
          await mkdir(join(folder, rules));
          const told = (await run(code, folder, { IGNORE_CASE: rules })).trim().split("\n");
          assert.deepEqual(told, codes, rules);
        }
      }));

    for (const rules of ["1", "mount"]) {
      test(`no two files of a form have names that are one on the disk, rules ${rules}`, () =>
        inFolder(async (folder) => {
          const code = `
          const pairs = [["a.txt", "A.txt"], ["caf\u00e9.txt", "cafe\u0301.txt"], ["\u03c2", "\u03a3"]];
          for (const names of pairs) {
            const body = new FormData();
            for (const name of names) body.append("file", new File([name], name));
            const request = new Request("http://localhost/", { method: "POST", body });
            const options = { root: folder, overwrite: true };
            console.log(await Uploads.saveForm(request, ({ filename }) => filename, options).then(() => "saved", ({ code }) => code));
          }`;
          assert.equal((await run(code, folder, { IGNORE_CASE: rules })).trim(), "EXISTS\nEXISTS\nEXISTS");
          assert.deepEqual(await listed(folder), []);
        }));

      test(`uploads are taken by whichever case of the folder's name a program asked for first, rules ${rules}`, () =>
        inFolder(async (folder) => {
          await writeTree(folder, { "Up/sub/a.txt": "former", "Other/a.txt": "" });
          await symlink("../Other", join(folder, "Up/link"));
          const code = `
          for (const name of ["up", "Up", "UP"]) {
            const handler = Uploads.createUploadHandler({ directory: folder + "/" + name, overwrite: true });
            const statuses = [];
            for (const path of ["a.txt", "sub/a.txt", "SUB/b.txt", "link/a.txt"]) {
              const request = new Request("http://localhost/" + path, { method: "PUT", body: name });
              statuses.push((await handler.fetch(request)).status);
            }
            console.log(statuses.join());
          }`;
          const lines = ["201,200,201,400", "200,200,200,400", "200,200,200,400"];
          assert.deepEqual((await run(code, folder, { IGNORE_CASE: rules })).trim().split("\n"), lines);
          const files = (await listed(folder)).filter((path) => !path.includes("/."));
          assert.deepEqual(files, ["Other/a.txt", "Up/a.txt", "Up/sub/a.txt", "Up/sub/b.txt"]);
        }));

      test(`a series is one writer's, and followed, in whatever case its name is given, rules ${rules}`, () =>
        inFolder(async (folder) => {
          const code = `
          const logs = folder + "/logs";
          const open = (name, options) =>
            new Files.RotatingFileWritable({ directory: logs, name, maxFileSize: 14, ...options }).getWriter();
          const write = (writer, ...lines) =>
            Promise.all(lines.map((line) => writer.write(line + "\\n"))).then(() => "written", ({ code }) => code);
          const first = open("app.log", { append: true });
          await write(first, "line 1", "line 2", "line 3");
          const other = open("App.log", { append: true });
          console.log(await write(other, "another's"));
          await first.close();
          const next = open("APP.log", { append: true });
          console.log(await write(next, "line 4", "line 5"));
          await next.close();
          console.log(await write(open("aPP.log", {}), "line 1"));
          const followed = await Files.followFile(logs + "/App.log", { series: true, start: "beginning", interval: 3 });
          const reader = followed.pipeThrough(new TextDecoderStream()).getReader();
          let text = "";
          while (text.length < 35) text += (await reader.read()).value;
          console.log(text.replaceAll("\\n", ","));
          await reader.cancel();
          const third = open("App.log", { overwrite: true });
          await write(third, "line 6");
          await third.close();
          process.exit();`;
          const expected = ["EBUSY", "written", "EEXIST", "line 1,line 2,line 3,line 4,line 5,"];
          assert.equal((await run(code, folder, { IGNORE_CASE: rules })).trim(), expected.join("\n"));
          const left = (await listed(join(folder, "logs"))).filter((name) => !name.startsWith("."));
          assert.deepEqual(left, ["app-00001.log"]);
          assert.equal(await readFile(join(folder, "logs/app-00001.log"), "utf8"), "line 6\n");
        }));
    }

    test("a position in a file is kept in whatever case its name is given, also behind a rotation", () =>
      inFolder(async (folder) => {
        const code = `
        const { appendFileSync, renameSync, writeFileSync } = await import("node:fs");
        const log = folder + "/app.log";
        const read = async (start, length) => {
          const followed = await Files.followFile(folder + "/App.log", { start, interval: 3 });
          const reader = followed.getReader();
          let text = "";
          while (text.length < length) text += new TextDecoder().decode((await reader.read()).value);
          const { position } = followed;
          await reader.cancel();
          console.log(text.replaceAll("\\n", ","));
          return position;
        };
        writeFileSync(log, "line 1\\nline 2\\n");
        let position = await read("beginning", 14);
        appendFileSync(log, "line 3\\n");
        position = await read(position, 7);
        appendFileSync(log, "line 4\\n");
        renameSync(log, log + ".1");
        writeFileSync(log, "line 5\\n");
        await read(position, 14);`;
        const expected = "line 1,line 2,\nline 3,\nline 4,line 5,";
        assert.equal((await run(code, folder, { IGNORE_CASE: "1" })).trim(), expected);
      }));

    test("a path that ends with a separator or a dot is no file's, and the null device is flushed", () =>
      inFolder(async (folder) => {
        await writeTree(folder, { a: "text" });
        const code = `
        const write = async (path, options) => {
          const writer = (await Files.openFileWritable(path, options)).getWriter();
          await writer.write("text");
          await writer.close();
        };
        const ways = [
          (path) => Files.copyFileAtomic(folder + "/a", path),
          (path) => Files.AtomicFile.open(path),
          (path) => write(path, { atomic: true }),
          (path) => write(path, {}),
          (path) => write(path, { append: true }),
        ];
        for (const end of ["/", "\\\\", "/.", "\\\\."]) {
          const codes = ways.map((way) => way(folder + "/b" + end).then(() => "written", ({ code }) => code));
          console.log((await Promise.all(codes)).join());
        }
        await write("/dev/null", { append: true, flush: true });`;
        const refusals = Array(5).fill("EISDIR").join();
        assert.equal((await run(code, folder)).trim(), Array(4).fill(refusals).join("\n"));
        assert.deepEqual(await listed(folder), ["a"]);
      }));

    test("a read that is refused while another program has locked a part of the file is tried again", () =>
      inFolder(async (folder) => {
        const code = `
        const { appendFileSync, writeFileSync } = await import("node:fs");
        writeFileSync(folder + "/app.log", "1\\n");
        const followed = await Files.followFile(folder + "/app.log", { start: "beginning", interval: 3 });
        console.log(new TextDecoder().decode((await followed.getReader().read()).value).trim());
        writeFileSync(folder + "/big.txt", "A".repeat(300_000));
        const handler = await Static.createStaticHandler(folder, { memoryLimit: 0 });
        console.log((await (await handler.fetch(new Request("http://localhost/big.txt"))).text()).length);
        await Files.copyFileAtomic(folder + "/big.txt", folder + "/copy.txt");
        const copy = await Files.openFileReadable(folder + "/copy.txt");
        console.log((await new Response(copy).text()).length);
        const site = folder + "/site";
        for (const options of [{}, { out: folder + "/out" }]) {
          console.log((await Site.precompress(site, { ...options, formats: ["gzip"] })).problems.length);
        }
        const variants = await Static.createStaticHandler(folder + "/unlisted", { onWarning: console.log });
        const headers = { "accept-encoding": "gzip" };
        console.log((await variants.fetch(new Request("http://localhost/", { headers }))).headers.get("content-encoding"));
        const listed = await Static.createStaticHandler(site, { onWarning: console.log });
        console.log((await listed.fetch(new Request("http://localhost/big.txt", { headers }))).headers.get("content-encoding"));
        process.exit();`;
        const html = page("a").repeat(20);
        await writeTree(folder, { "site/big.txt": html, "unlisted/index.html": html });
        await writeFile(join(folder, "unlisted/index.html.gz"), gzipSync(html));
        const expected = ["1", "300000", "300000", "0", "0", "gzip", "gzip"];
        assert.deepEqual((await run(code, folder, { LOCKED: folder })).trim().split("\n"), expected);
      }));

    test("a write that is refused while another program has locked a part of the file is tried again", () =>
      inFolder(async (folder) => {
        const code = `
        const { readFileSync } = await import("node:fs");
        const text = ["first\\n", "second\\n"];
        const series = { directory: folder, maxFileSize: 9999 };
        const streams = {
          "a.txt": await Files.openFileWritable(folder + "/a.txt"),
          "b.txt": await Files.openFileWritable(folder + "/b.txt", { atomic: true }),
          "c.txt": await Files.openFileWritable(folder + "/c.txt", { atomic: true, atOnce: true }),
          "d.txt": await Files.openFileWritable(folder + "/d.txt", { append: true }),
          "e-00001.txt": new Files.RotatingFileWritable({ ...series, name: "e.txt" }),
          "f-00001.txt": new Files.RotatingFileWritable({ ...series, name: "f.txt", append: true, onWarning: console.log }),
        };
        for (const [name, stream] of Object.entries(streams)) {
          const writer = stream.getWriter();
          for (const line of text) await writer.write(line);
          await writer.close();
          console.log(name, readFileSync(folder + "/" + name, "utf8") === text.join(""));
        }
        const sync = {
          "g.txt": await Files.openFileWritable(folder + "/g.txt", { append: true }),
          "h-00001.txt": new Files.RotatingFileWritable({ ...series, name: "h.txt", append: true, onWarning: console.log }),
        };
        for (const [name, stream] of Object.entries(sync)) {
          await stream.flush();
          const writer = stream.getWriter();
          void writer.write(text.join(""));
          stream.flushSync();
          console.log(name, readFileSync(folder + "/" + name, "utf8") === text.join(""));
          await writer.close();
        }
        const handler = Uploads.createUploadHandler({ directory: folder });
        console.log((await handler.fetch(new Request("http://localhost/i.txt", { method: "PUT", body: "text" }))).status);`;
        const names = ["a", "b", "c", "d", "e-00001", "f-00001", "g", "h-00001"];
        const lines = [...names.map((name) => `${name}.txt true`), "201"];
        assert.deepEqual((await run(code, folder, { LOCKED: folder })).trim().split("\n"), lines);
      }));

    test("files of one name that are complete at once replace one another in turn, however long a rename takes", () =>
      inFolder(async (folder) => {
        const code = `
        const commits = Array.from({ length: 12 }, async (_, i) => {
          const file = await Files.AtomicFile.open(folder + "/a.txt", { flush: false });
          await file.write(new TextEncoder().encode("text " + i));
          await file.commit();
        });
        console.log((await Promise.allSettled(commits)).map(({ reason }) => reason?.code ?? "done").join());`;
        assert.equal((await run(code, folder, { RENAMES: "500" })).trim(), Array(12).fill("done").join());
        assert.deepEqual(await listed(folder), ["a.txt"]);
      }));

    test("a series waits for its place where another program has locked a part of the file for seconds", () =>
      inFolder(async (folder) => {
        const code = `
        const { default: fs } = await import("node:fs");
        const { syncBuiltinESMExports } = await import("node:module");
        const end = Date.now() + 1500;
        const { writeSync } = fs;
        fs.writeSync = (descriptor, ...rest) => {
          if (Date.now() > end) return writeSync(descriptor, ...rest);
          throw Object.assign(new Error("EBUSY"), { code: "EBUSY", syscall: "write" });
        };
        syncBuiltinESMExports();
        const warned = [];
        const onWarning = (error) => warned.push(error.code);
        const name = "a.log";
        const log = new Files.RotatingFileWritable({ directory: folder, name, maxFileSize: 9999, append: true, onWarning });
        const writer = log.getWriter();
        for (const line of ["first\\n", "second\\n"]) await writer.write(line);
        await writer.close();
        console.log(warned.join());`;
        assert.equal((await run(code, folder)).trim(), "EBUSY");
        assert.equal(await readFile(join(folder, "a-00001.log"), "utf8"), "first\nsecond\n");
      }));

    test("patterns and pages may be given with backslashes", () =>
      inFolder(async (folder) => {
        await writeTree(folder, {
          "site/assets/a.js": page("a"),
          "site/b.html": page("b"),
          "site/sub/404.html": "gone",
        });
        await writeTree(folder, { "site/[id].html": page("c") });
        const code = `
        for (const exclude of ["assets\\\\*.js", "assets\\\\**", ".\\\\assets\\\\**", "\\\\[id\\\\].html"]) {
          const { compressed } = await Site.precompress(folder + "/site", { exclude: [exclude], formats: ["gzip"], force: true });
          console.log(compressed.join());
          await Site.cleanPrecompressed(folder + "/site");
        }
        const options = { notFound: "sub\\\\404.html", immutable: "assets\\\\**" };
        const handler = await Static.createStaticHandler(folder + "/site", options);
        const get = (path) => handler.fetch(new Request("http://localhost" + path));
        console.log(await (await get("/none")).text(), (await get("/assets/a.js")).headers.get("cache-control"));`;
        const lines = (await run(code, folder)).trim().split("\n");
        const others = "[id].html,b.html";
        assert.deepEqual(lines.slice(0, 4), [others, others, others, "assets/a.js,b.html"]);
        assert.match(lines[4]!, /^gone .*immutable/);
      }));

    test("links are told by where they lead, in whatever case their targets are written", () =>
      inFolder(async (folder) => {
        await writeTree(folder, { "site/index.html": page("a"), "site/real/b.html": page("b") });
        await mkdir(join(folder, "out"));
        const code = `
        const { symlinkSync, unlinkSync } = await import("node:fs");
        const { precompress } = await import("./lib/precompress/mod.ts");
        const run = async (site, options) => {
          const { problems } = await precompress(site, { formats: ["gzip"], ...options });
          console.log(problems.map(({ path, message }) => path + " " + /leads.*(?=:)/.exec(message)?.[0]).join() || "none");
        };
        for (const [target, site, out] of [["/out", "/site", "/out"], ["/out", "/site", "/OUT"], ["/site", "/SITE", "/out"]]) {
          symlinkSync(folder + target, folder + "/site/link");
          await run(folder + site, { out: folder + out, followLinks: true });
          unlinkSync(folder + "/site/link");
        }
        symlinkSync(folder + "/site/real", folder + "/site/link");
        await run(folder + "/SITE", { dryRun: true });`;
        const expected = [
          "link leads to the folder that is written to",
          "link leads to the folder that is written to",
          "link leads to a folder it is in, a loop",
          "none",
        ];
        assert.deepEqual((await run(code, folder, { IGNORE_CASE: "mount" })).trim().split("\n"), expected);
      }));

    test("folders of a run that are one by another case are refused, with force too", () =>
      inFolder(async (folder) => {
        await writeTree(folder, { "site/sub/a.html": page("a"), "deploys/1/index.html": page("b") });
        const code = `
        const run = (out, options) => Site.precompress(folder + "/site", { out, force: true, ...options }).then(
          () => "done",
          ({ message }) => /must not hold each other|is the folder that is written to/.exec(message)?.[0] ?? message,
        );
        for (const out of ["/Site", "/SITE/sub", "/Site/new/folder", "/"]) console.log(await run(folder + out));
        console.log(await run(folder + "/out", { cache: folder + "/Site/cache" }));
        console.log(await run(folder + "/Deploys/1", { previous: folder + "/deploys/1" }));
        const { requireReportPlaces } = await import("./lib/cli/reports.ts");
        const placed = requireReportPlaces([folder + "/SITE/report.html"], [folder + "/site"]);
        console.log(await placed.catch(({ message }) => /which is deployed/.exec(message)?.[0]));
        const { Output } = await import("./lib/build/compress_output.ts");
        const output = new Output();
        for (const name of ["site", "Site", "SITE/sub", "deploys"]) output.addFolder(folder + "/" + name);
        const built = [["/site", "a-ab12.js"], ["/Site", "b-ab12.js"], ["/SITE/sub", "c-ab12.js"], ["/Site", "plain.js"]];
        for (const [name, path] of built) output.add(folder + name, path, path.includes("-"));
        console.log(output.takeFolders().map((each) => each.slice(folder.length)).join());
        const names = ["a-ab12.js", "b-ab12.js", "sub/c-ab12.js", "plain.js", "other.js"];
        console.log(names.map((path) => String(output.isHashed(folder + "/site", path))).join());
        const { requireServed } = await import("./lib/cli/serve_arguments.ts");
        for (const options of [{ notFound: "1/INDEX.html" }, { fallback: "Deploys/1/index.html" }, { index: "Deploys" }]) {
          const directory = options.notFound ? folder + "/deploys" : folder;
          try {
            requireServed({ directory, options });
          } catch ({ message }) {
            console.log(/there it is .*/.exec(message)?.[0]);
          }
        }`;
        const refused = Array(5).fill("must not hold each other");
        const expected = [
          ...refused,
          "is the folder that is written to",
          "which is deployed",
          "/site,/deploys",
          "true,true,true,false,undefined",
          "there it is index.html",
          "there it is deploys",
          "there it is deploys",
        ];
        assert.deepEqual((await run(code, folder, { IGNORE_CASE: "mount" })).trim().split("\n"), expected);
        assert.deepEqual(await listed(folder), ["deploys/1/index.html", "site/sub/a.html"]);
      }));

    test("a series goes on with its last file and removes the oldest where numbers are negative", () =>
      inFolder(async (folder) => {
        const code = `
        const options = { directory: folder, name: "app.log", maxFileSize: 30, append: true, maxFiles: 3 };
        for (let round = 0; round < 3; round++) {
          const writer = new Files.RotatingFileWritable(options).getWriter();
          for (let line = 0; line < 7; line++) await writer.write("a line of 14 b");
          await writer.close();
        }
        const { readdirSync } = await import("node:fs");
        console.log(readdirSync(folder).filter((name) => !name.startsWith(".")).join());`;
        const last = ["app-00009.log", "app-00010.log", "app-00011.log"];
        assert.equal((await run(code, folder, { NUMBERS: "negative" })).trim(), last.join());
      }));

    for (const numbers of ["none", "large"]) {
      test(`files are told from others where their numbers do not, rules ${numbers}`, () =>
        inFolder(async (folder) => {
          const code = `
          const { appendFileSync, linkSync, mkdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } = await import("node:fs");
          // An upload in parts that replaces a file.
          writeFileSync(folder + "/up.txt", "old");
          statSync(folder + "/up.txt");
          const uploads = Uploads.createUploadHandler({ directory: folder, overwrite: true, resumable: true, log() {} });
          const send = (method, path, headers, body) => uploads.fetch(new Request("http://localhost" + path, {
            method, body, headers: { "upload-draft-interop-version": "8", ...headers },
          }));
          const created = await send("PUT", "/up.txt", { "upload-complete": "?0" }, "new ");
          const type = { "content-type": "application/partial-upload" };
          const path = created.headers.get("location");
          console.log((await send("PATCH", path, { "upload-complete": "?1", "upload-offset": "4", ...type }, "text")).status);
          console.log(readFileSync(folder + "/up.txt", "utf8"));
          // A file of a site that is replaced by one of the same size and time.
          const site = folder + "/site";
          mkdirSync(site);
          for (const [path, letter] of [["/site/a.txt", "A"], ["/b.txt", "B"]]) {
            writeFileSync(folder + path, letter.repeat(300_000));
            utimesSync(folder + path, 1.7e9, 1.7e9);
            statSync(folder + path);
          }
          const handler = await Static.createStaticHandler(site, { memoryLimit: 0, onWarning() {} });
          const get = async () => {
            const response = await handler.fetch(new Request("http://localhost/a.txt"));
            return response.headers.get("etag") + (await response.text())[0];
          };
          const before = await get();
          renameSync(folder + "/b.txt", site + "/a.txt");
          let after = before;
          while (!after.endsWith("B")) after = await get(); // those that wait for the scan may be refused
          console.log(before.slice(0, -1) === after.slice(0, -1));
          await handler.close();
          // A log that is rotated.
          const log = folder + "/app.log";
          writeFileSync(log, "line 1\\n");
          const followed = await Files.followFile(log, { start: "beginning", interval: 3 });
          const reader = followed.pipeThrough(new TextDecoderStream()).getReader();
          let text = (await reader.read()).value;
          renameSync(log, log + ".1");
          writeFileSync(log, "line 2\\n");
          while (text.length < 14) text += (await reader.read()).value;
          appendFileSync(log, "line 3\\n");
          while (text.length < 21) text += (await reader.read()).value;
          console.log(text.replaceAll("\\n", ","));
          await reader.cancel();
          await Files.copyFileAtomic(log, folder + "/copy", { temporary: log + ".1" });
          // A temporary file that is the source by another name.
          linkSync(folder + "/up.txt", folder + "/linked");
          const refused = Files.copyFileAtomic(folder + "/up.txt", folder + "/copy", { temporary: folder + "/linked" });
          console.log(await refused.catch(({ name }) => name), readFileSync(folder + "/up.txt", "utf8"));
          // A position before the first line of a log whose former file was read.
          writeFileSync(folder + "/b.log", "read before\\n");
          renameSync(folder + "/b.log", folder + "/b.log.1");
          await new Promise((resolve) => setTimeout(resolve, 100)); // files are distinguished by their times
          writeFileSync(folder + "/b.log", "");
          const empty = await Files.followFile(folder + "/b.log", { start: "end", interval: 3 });
          const { position } = empty;
          await empty.cancel();
          appendFileSync(folder + "/b.log", "new\\n");
          const resumed = (await Files.followFile(folder + "/b.log", { start: position, interval: 3 })).getReader();
          console.log(new TextDecoder().decode((await resumed.read()).value).trim());
          // One before the end of a log's first line, whose file is renamed meanwhile.
          writeFileSync(folder + "/c.log.1", "read before\\n");
          await new Promise((resolve) => setTimeout(resolve, 100));
          writeFileSync(folder + "/c.log", "half a ");
          const half = await Files.followFile(folder + "/c.log", { start: "beginning", interval: 3 });
          const begun = half.position;
          await half.cancel();
          await new Promise((resolve) => setTimeout(resolve, 100));
          renameSync(folder + "/c.log", folder + "/c.log.2");
          writeFileSync(folder + "/c.log", "line\\n");
          const rest = (await Files.followFile(folder + "/c.log", { start: begun, interval: 3 })).getReader();
          let lines = "";
          while (!lines.includes("line")) lines += new TextDecoder().decode((await rest.read()).value);
          console.log(lines.replaceAll("\\n", ","));
          process.exit();`;
          const expected = [
            "200",
            "new text",
            "false",
            "line 1,line 2,line 3,",
            "TypeError new text",
            "new",
            "half a ,line,",
          ];
          assert.equal((await run(code, folder, { NUMBERS: numbers })).trim(), expected.join("\n"));
        }));
    }

    for (const numbers of ["rounded", "none"]) {
      test(`a name that is taken is no name of the file that asks for it, though their numbers are equal: ${numbers}`, () =>
        inFolder(async (folder) => {
          const code = `
          const { writeFileSync } = await import("node:fs");
          let taken = 0;
          const uploads = Uploads.createUploadHandler({ directory: folder, log() {} });
          for (let i = 0; i < 8; i++) {
            const lock = async () => await (await Files.AtomicFile.open(folder + "/lock" + i, { replace: false })).commit();
            await lock();
            await lock().catch(({ code }) => taken += code === "EEXIST");
            const put = (body) => uploads.fetch(new Request("http://a/file" + i, { method: "PUT", body: body.repeat(9999) }));
            const statuses = (await Promise.all([put("a"), put("b")])).map(({ status }) => status);
            taken += statuses.filter((status) => status === 201).length === 1;
          }
          const log = new Files.RotatingFileWritable({ directory: folder, name: "a.log", maxFileSize: 7, append: true });
          const writer = log.getWriter();
          for (let i = 0; i < 5; i++) {
            if (i > 0) writeFileSync(folder + "/a-0000" + 2 * i + ".log", "");
            await writer.write("line " + i + "\\n");
          }
          await writer.close();
          console.log(taken);
          process.exit();`;
          assert.equal((await run(code, folder, { NUMBERS: numbers })).trim(), "16");
          const logs = (await listed(folder)).filter((path) => path.endsWith(".log")).sort();
          const lines = await Promise.all(logs.map((path) => readFile(join(folder, path), "utf8")));
          assert.equal(lines.join(""), "line 0\nline 1\nline 2\nline 3\nline 4\n");
        }));
    }

    test("a log that begins anew with equal lines is read, though Windows gives it the birth of the former one", () =>
      inFolder(async (folder) => {
        const code = `
        const { renameSync, writeFileSync } = await import("node:fs");
        const log = folder + "/app.log";
        const warnings = [];
        const read = async (start, lines) => {
          const bytes = await Files.followFile(log, { start, interval: 3, onWarning: (error) => warnings.push(error) });
          let text = "";
          const reader = bytes.getReader();
          while (text.length < 5 * lines) text += new TextDecoder().decode((await reader.read()).value);
          const { position } = bytes;
          await reader.cancel();
          return [text.length / 5, position];
        };
        writeFileSync(log, "line\\n".repeat(3));
        const [, position] = await read("beginning", 3);
        renameSync(log, folder + "/elsewhere");
        writeFileSync(log, "line\\n".repeat(5));
        console.log((await read(position, 5))[0], warnings.length);
        process.exit();`;
        assert.equal((await run(code, folder, { TIMES: "tunnelled", NUMBERS: "large" })).trim(), "5 1");
      }));

    test("on FAT, whose ctime is in 1601, files that are being written are not swept", () =>
      inFolder(async (folder) => {
        const code = `
        const { writeFile } = await import("node:fs/promises");
        const path = Files.temporaryPath(folder + "/file");
        await writeFile(path, "the first part");
        const uploads = Uploads.createUploadHandler({ directory: folder, log() {} });
        const put = new Request("http://a/file", { method: "PUT", body: "x".repeat(99_999) });
        console.log(await Files.isAbandonedTemporary(path), (await uploads.fetch(put)).status);
        process.exit();`;
        assert.equal((await run(code, folder, { TIMES: "fat" })).trim(), "false 201");
      }));

    test("a process that is not seen on a machine of the same name, but of another address, may run on that", () =>
      inFolder(async (folder) => {
        const name = '"/.millrace-" + Files.temporaryPath("x").slice(10, 18) + ".99999999-0-1.tmp"';
        const code = `
        const { readdirSync, writeFileSync } = await import("node:fs");
        if (readdirSync(folder).length === 0) writeFileSync(folder + ${name}, "");
        console.log(await Files.isAbandonedTemporary(folder + "/" + readdirSync(folder)[0]));`;
        const told: string[] = [];
        for (const address of ["02:00:00:00:00:01", "02:00:00:00:00:01", "02:00:00:00:00:02", "00:00:00:00:00:00"]) {
          told.push((await run(code, folder, { MACHINE: address })).trim());
        }
        assert.deepEqual(told, ["true", "true", "false", "false"]);
      }));
  },
);

test("a backslash of Windows separates the parts of a pattern, or the pattern is refused", async () => {
  const real = Object.getOwnPropertyDescriptor(process, "platform")!;
  Object.defineProperty(process, "platform", { value: "win32", configurable: true });
  const matches = async (pattern: string, path: string): Promise<boolean> =>
    (await matcherOf("exclude", [pattern]))(path);
  try {
    for (
      const [pattern, path] of [
        [String.raw`node_modules\@scope\**`, "node_modules/@scope/a.js"],
        [String.raw`assets\+page\**`, "assets/+page/a.js"],
        [String.raw`assets\!(x).js`, "assets/y.js"],
        [String.raw`assets\@(a|b).js`, "assets/a.js"],
        [String.raw`assets\\*.js`, "assets/a.js"],
        [String.raw`{a,b\@c}\*`, "b/@c/x"],
        [String.raw`routes\\[id\]\**`, "routes/[id]/a.js"],
        [String.raw`routes/\(group\)/\[id\]/\{a,b\}/*`, "routes/(group)/[id]/{a,b}/x"],
        [String.raw`\!a.js`, "!a.js"],
        [String.raw`a/\!x`, "a/!x"],
      ] as const
    ) assert.equal(await matches(pattern, path), true, pattern);
    const advice = /one of its brackets lacks the other; .*, and a slash between a folder and a bracket$/;
    for (const folder of ["{a,b}", "[id]", "(group)"]) {
      await assert.rejects(matches("routes\\" + folder + "\\**", "routes/a/b"), advice, folder);
    }
  } finally {
    Object.defineProperty(process, "platform", real);
  }
});
