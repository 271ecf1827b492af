import assert from "node:assert/strict";
import { rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { connect } from "node:tls";

import { asks } from "../support/asked.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { millrace } from "../support/command.ts";
import { canMakeCertificates, makeCertificate } from "../support/certificate.ts";
import { runtime } from "../support/runtime.ts";
import { Connection } from "../support/connection.ts";
import { mainHere } from "./main_here.ts";
import { Serving } from "./serving.ts";
import { needs } from "../support/needs.ts";

const site = { "index.html": "<p>home</p>", "about.html": "<p>about</p>", "assets/app-3f9a1c0b.js": "run()" };

/** Returns a port of 127.0.0.1 that something listens on until it is released. */
async function busyPort(): Promise<{ port: number; release: () => Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  return {
    port: address !== null && typeof address === "object" ? address.port : 0,
    release: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function text(url: string): Promise<string> {
  return await (await fetch(url)).text();
}

test("millrace serve answers for a folder at the URL that it tells, on this machine only", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    await Serving.during([folder], async ({ url, port, stdout, stderr }) => {
      assert.equal(stdout, `serving ${folder} at http://127.0.0.1:${port}/ (3 files)\n`);
      assert.equal(await text(url), site["index.html"]);
      const { status, headers } = await fetch(`${url}assets/app-3f9a1c0b.js`);
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal((await fetch(`${url}missing.html`)).status, 404);
      assert.equal(stderr, "");
    });
  }));

test("options change what is answered", () =>
  inFolder(async (folder) => {
    const [current, former] = [join(folder, "current"), join(folder, "former")];
    await writeTree(current, { ...site, ".env": "secret", "home.htm": "home", "lost.html": "lost", "app.html": "app" });
    await writeTree(former, { "assets/old.js": "old()", "gone.html": "gone" });
    const paths = ["--base", "/docs", "--index", "home.htm", "--clean-urls", "--fallback", "app.html"];
    const rules = ["--not-found", "lost.html", "--dotfiles", "--immutable", "assets/**", "--previous", former];
    const fields = ["--cache-control", "max-age=60", "--repr-digest", "--memory-limit", "1k", "--no-dictionaries"];
    await Serving.during([current, ...paths, ...rules, ...fields], async ({ url, port }) => {
      assert.equal(url, `http://127.0.0.1:${port}/docs/`);
      assert.equal(await text(url), "home");
      const about = await fetch(`${url}about`);
      assert.equal(await about.text(), site["about.html"]);
      assert.equal(about.headers.get("cache-control"), "max-age=60");
      assert.match(about.headers.get("repr-digest")!, /^sha-256=:/);
      assert.equal(await text(`${url}some/route`), "app");
      assert.equal(await text(`${url}.env`), "secret");
      const lost = await fetch(`${url}missing.png`);
      assert.deepEqual([lost.status, await lost.text()], [404, "lost"]);
      const old = await fetch(`${url}assets/old.js`);
      assert.equal(await old.text(), "old()");
      assert.match(old.headers.get("cache-control")!, /immutable/);
      assert.equal((await fetch(`${url}gone.html`)).status, 404);
    });
  }));

test("--header, --cors and --cors-origin add fields to every answer", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    const headers = ["--header", "X-Frame-Options: DENY", "--header=Link: </a>", "--header", "link:</b>"];
    await Serving.during([folder, ...headers, "--header", "__proto__: x", "--cors"], async ({ url }) => {
      for (const path of ["", "missing"]) {
        const { headers } = await fetch(url + path);
        assert.equal(headers.get("x-frame-options"), "DENY");
        assert.equal(headers.get("link"), "</a>, </b>");
        assert.equal(headers.get("__proto__"), "x");
        assert.equal(headers.get("access-control-allow-origin"), "*");
      }
    });
    const origins = ["--cors-origin", "https://a.example", "--cors-origin", "https://b.example"];
    await Serving.during([folder, ...origins], async ({ url }) => {
      for (const [origin, allowed] of [["https://b.example", "https://b.example"], ["https://c.example", undefined]]) {
        const { headers } = await asks(url)("GET", "/", { origin: origin! });
        assert.equal(headers["access-control-allow-origin"], allowed);
      }
    });
  }));

test("-p and --port go before PORT of the environment; a bad one is named", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    const free = await busyPort();
    await free.release();
    const environment = (port: string) => ({ ...process.env, PORT: port });
    await Serving.asIs([folder], environment(String(free.port)), async ({ url, port }) => {
      assert.equal(port, free.port);
      assert.equal(await text(url), site["index.html"]);
    });
    await Serving.asIs([folder, "-p", "0"], environment("http"), async ({ url }) => {
      assert.equal(await text(url), site["index.html"]);
    });
    for (
      const [port, words, message] of [
        ["http", [], 'PORT "http" of the environment is not a port: use a number from 0 to 65535'],
        ["65536", [], 'PORT "65536" of the environment is not a port: use a number from 0 to 65535'],
        ["8080", ["-p", "x"], "--port x is not a port: use a number from 0 to 65535"],
      ] as const
    ) {
      const { status, stderr } = await millrace(["serve", folder, ...words], undefined, { env: environment(port) });
      assert.deepEqual([status, stderr], [2, `millrace: ${message}\nsee serve --help\n`]);
    }
  }));

test("a port that was asked for is that or none; without one, the next free one after 8080", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    const busy = await busyPort();
    const { PORT: _, ...environment } = process.env;
    const env = { ...environment, PORT: String(busy.port) };
    const { status, stderr } = await millrace(["serve", folder], undefined, { env });
    await busy.release();
    assert.equal(status, 1);
    assert.match(stderr, /port \d+: the port is in use; choose another/);
    // Whether it is this test that listens there, or another program: the port is in use.
    const taken = createServer();
    const isOurs = await new Promise<boolean>((resolve) => {
      taken.once("error", () => resolve(false)).listen(8080, "127.0.0.1", () => resolve(true));
    });
    try {
      for (const quiet of [[], ["--quiet"]]) {
        await Serving.asIs([folder, ...quiet], { ...environment, PORT: "" }, async ({ url, port, stdout, stderr }) => {
          assert.ok(port > 8080 && port < 8100, String(port));
          const told = quiet.length > 0 ? stderr.replaceAll(/^millrace: /gm, "") : stdout;
          assert.ok(told.startsWith(`port 8080 is in use: ${port} is the next one that is free\nserving `), told);
          assert.equal(await text(url), site["index.html"]);
        });
      }
    } finally {
      if (isOurs) await new Promise((resolve) => taken.close(resolve));
    }
  }));

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} lets a download under way finish, refuses others, and the exit status is 0`, {
    skip: needs("signals"),
  }, () =>
    inFolder(async (folder) => {
      const size = 32 << 20; // more than the system's buffers hold
      await writeTree(folder, { ...site, "large.bin": new Uint8Array(size) });
      await Serving.during([folder], async (serving) => {
        const { port } = serving;
        const idle = await Connection.open(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        await idle.until(({ received }) => received.endsWith(site["index.html"]));
        const download = await Connection.open(port, "GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
        await download.until(({ size }) => size > 1000);
        download.socket.pause();
        serving.signal(signal);
        await serving.until(() => serving.stdout.includes(`stopping by ${signal}`));
        await idle.until(({ isClosed }) => isClosed);
        await assert.rejects(fetch(serving.url));
        assert.ok(download.size < size);
        download.socket.resume();
        await download.until((download) => download.size > size);
        assert.equal(await serving.ended, 0, serving.stderr);
        assert.equal(serving.stderr, "");
      });
    }));
}

test(
  "a second signal ends it at once, with the status that shells give to that",
  { skip: needs("signals") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "large.bin": new Uint8Array(32 << 20) });
      for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
        await Serving.during([folder], async (serving) => {
          const get = "GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n";
          const download = await Connection.open(serving.port, get);
          await download.until(({ size }) => size > 1000);
          download.socket.pause();
          serving.signal("SIGTERM");
          await serving.until(() => serving.stdout.includes("stopping"));
          serving.signal(signal);
          assert.equal(await serving.ended, status);
          download.socket.destroy();
        });
      }
    }),
);

test(
  "without requests under way it ends at once, also with --watch",
  { skip: needs("signals") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, site);
      await Serving.during([folder, "--watch"], async (serving) => {
        await text(serving.url);
        serving.signal("SIGTERM");
        assert.equal(await serving.ended, 0, serving.stderr);
      });
    }),
);

test(
  "SIGHUP scans the folder again",
  { skip: needs("signals") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, site);
      await Serving.during([folder], async (serving) => {
        await writeTree(folder, { "index.html": "<p>new home</p>", "new.html": "new" });
        serving.signal("SIGHUP");
        await serving.until(() => serving.stdout.includes(`scanned ${folder} again (4 files, 35 B in memory)\n`));
        assert.equal(await text(serving.url), "<p>new home</p>");
        assert.equal(await text(`${serving.url}new.html`), "new");
      });
    }),
);

test("SIGHUP leaves all as it was if the folder cannot be scanned, and says so", {
  skip: needs("signals"),
}, () =>
  inFolder(async (folder) => {
    const dist = join(folder, "dist");
    await writeTree(dist, site);
    await Serving.during([dist], async (serving) => {
      await text(serving.url); // loads the page into memory
      await rename(dist, join(folder, "elsewhere"));
      serving.signal("SIGHUP");
      await serving.until(() => /still serving what was there before: .*no such folder/.test(serving.stderr));
      assert.equal(await text(serving.url), site["index.html"]);
    });
  }));

test("the folder is scanned again when something in it changes, unless --no-watch says otherwise", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    const isFresh = async ({ url }: Serving): Promise<boolean> => (await fetch(`${url}fresh.html`)).status === 200;
    await Serving.during([folder, "--no-watch"], async (still) => {
      for (const flags of [[], ["--watch"]]) {
        await Serving.during([folder, ...flags], async (serving) => {
          assert.equal(await isFresh(serving), false);
          await writeFile(join(folder, "fresh.html"), "fresh");
          await serving.until(() => isFresh(serving));
        });
        await rm(join(folder, "fresh.html"));
      }
      assert.equal(await isFresh(still), false);
    });
  }));

test("what is wrong with files is told on stderr", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { ...site, ".millrace.json": "{" });
    await Serving.during([folder], async (serving) => {
      await serving.until(() => /^millrace: \.millrace\.json: /m.test(serving.stderr));
      assert.equal(await text(serving.url), site["index.html"]);
    });
  }));

test(
  "--quiet says nothing but a port that was not asked for",
  { skip: needs("signals") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, site);
      const free = await busyPort();
      await free.release();
      await Serving.atPort(free.port, [folder, "--quiet"], async (serving) => {
        await text(serving.url);
        serving.signal("SIGTERM");
        assert.equal(await serving.ended, 0);
        assert.deepEqual([serving.stdout, serving.stderr], ["", ""]);
      });
      await Serving.during([folder, "--quiet"], (serving) => {
        const files = Object.keys(site).length;
        assert.deepEqual(
          [serving.stdout, serving.stderr],
          ["", `millrace: serving ${folder} at ${serving.url} (${files} files)\n`],
        );
        return Promise.resolve();
      });
    }),
);

test("SIGHUP reads the certificate again, for new connections", {
  skip: (runtime !== "node" || !canMakeCertificates || needs("signals")) &&
    "a certificate is not read again, or cannot be made",
}, () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "dist/index.html": "home" });
    const { certFile, keyFile } = makeCertificate(folder);
    const served = (port: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect({ port: Number(port), host: "127.0.0.1", rejectUnauthorized: false }, () => {
          resolve(socket.getPeerX509Certificate()!.fingerprint256);
          socket.destroy();
        }).on("error", reject);
      });
    await Serving.during([join(folder, "dist"), "--cert", certFile, "--key", keyFile], async (serving) => {
      const { port } = new URL(serving.url);
      const former = await served(port);
      makeCertificate(folder);
      serving.signal("SIGHUP");
      await serving.until(() => serving.stdout.includes(`new connections use ${certFile} as it is now`));
      assert.notEqual(await served(port), former);
      await writeFile(keyFile, "none");
      serving.signal("SIGHUP");
      await serving.until(() =>
        /still serving with the certificate of before: cannot use the key/.test(serving.stderr)
      );
    });
  }));

test(
  "--cert and --key serve https",
  { skip: !canMakeCertificates && "openssl is missing" },
  () =>
    inFolder(async (folder) => {
      const { certFile, keyFile } = makeCertificate(folder);
      await writeTree(join(folder, "dist"), site);
      await Serving.during([join(folder, "dist"), "--cert", certFile, "--key", keyFile], async ({ url, port }) => {
        assert.equal(url, `https://127.0.0.1:${port}/`);
        const get = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        const answer = await Connection.open(port, get, { secure: true });
        await answer.until(({ isClosed }) => isClosed);
        assert.match(answer.received, /^HTTP\/1\.1 200 OK\r\n/);
        assert.ok(answer.received.endsWith(site["index.html"]));
      });
    }),
);

test("what cannot be served is named, and the exit status is 1", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { ...site, "note.txt": "no certificate", ".hidden": "" });
    const busy = await busyPort();
    const note = join(folder, "note.txt");
    const cases: [string[], RegExp][] = [
      [
        [folder, "--port", String(busy.port)],
        /^millrace: cannot listen on 127\.0\.0\.1, port \d+: the port is in use; choose/,
      ],
      [[folder, "--watch", "--host", "nowhere.invalid"], /cannot listen on nowhere\.invalid: there is no such host/],
      [[folder, "--fallback", ".hidden"], /fallback "\.hidden" is not among the files/],
      [[folder, "--cert", note, "--key", note], /cannot use the certificate: it is not one in PEM format/],
    ];
    try {
      for (const [words, message] of cases) {
        const { status, stdout, stderr } = await millrace(["serve", "--port", "0", ...words]);
        assert.equal(status, 1, `${words.join(" ")}: ${stdout}${stderr}`);
        assert.match(stderr, message);
        assert.equal(stdout, "");
      }
    } finally {
      await busy.release();
    }
  }));

test("wrong usage of serve exits with 2 and says what is wrong", () =>
  inFolder(async (folder) => {
    await writeTree(folder, site);
    const none = join(folder, "none");
    const file = join(folder, Object.keys(site)[0]);
    const cases: [string[], RegExp][] = [
      [[], /name the folder to serve/],
      [[none], /^millrace: cannot serve .*none: there is no such folder/],
      [[file], /^millrace: cannot serve .*: it is a file, not a folder/],
      [[folder, "--previous", none], /^millrace: --previous: cannot serve .*none: there is no such folder/],
      [[folder, "--fallback", "none.html"], /^millrace: --fallback: cannot serve .*none\.html: there is no such file/],
      [
        [folder, "--not-found", "none.html"],
        /^millrace: --not-found: cannot serve .*none\.html: there is no such file/,
      ],
      [[folder, "--not-found", "assets"], /^millrace: --not-found: cannot serve .*: it is a folder, not a file/],
      [[folder, "--cert", none, "--key", file], /cannot read the certificate .*none: there is no such file/],
      [[folder, "--cert", file, "--key", none], /cannot read the key .*none: there is no such file/],
      [[folder, folder], /one folder, not 2/],
      [[folder, "--colour"], /unknown option --colour\n/],
      [[folder, "--port", "http"], /--port http is not a port: use a number from 0 to 65535/],
      [[folder, "--port", "65536"], /--port 65536 is not a port: use a number from 0 to 65535/],
      [[folder, "--memory-limit", "lots"], /--memory-limit lots is not a number of bytes: use 500, 2k, 1.5M or 1G/],
      [[folder, "--base", "a?b"], /--base must be a path such as \/docs\/, not "a\?b"/],
      [[folder, "--index", "docs/index.html"], /--index must be a file name .*, not "docs\/index\.html"/],
      [[folder, "--cert", "cert.pem"], /--cert is given alone: https needs --cert and --key/],
      [[folder, "--key", "key.pem"], /--key is given alone/],
      [[folder, "--cors", "--cors-origin", "https://a.example"], /--cors and --cors-origin exclude each other/],
      [
        [folder, "--cors-origin", "a.example"],
        /--cors-origin "a\.example" is not an origin as browsers send it: use one such as/,
      ],
      [[folder, "--header", "X-Own"], /--header "X-Own" has no colon: use "Name: value"/],
      [[folder, "--header", "x own: 1"], /--header "x own: 1": "x own" is no name of a header field/],
      [[folder, "--header", ": 1"], /--header ": 1": "" is no name of a header field/],
      [[folder, "--header", "x: a\nb: c"], /--header x gives "a\\nb: c", which is no value of a header field/],
      [[folder, "--header", "x: €"], /--header x gives "€", which is no value of a header field/],
      [[folder, "--header", "ETag: 1"], /--header ETag: only the server can know it/],
      [[folder, "--header", "set-cookie: a", "--header", "Set-Cookie: b"], /--header Set-Cookie can be given once/],
    ];
    for (const [words, message] of cases) {
      const { status, stdout, stderr } = await mainHere(["serve", ...words]);
      assert.equal(status, 2, `${words.join(" ")}: ${stderr}`);
      assert.match(stderr, message);
      assert.match(stderr, /\nsee serve --help\n$/);
      assert.equal(stdout, "");
    }
  }));

test("--help tells the options of the command, and without a command both commands", async () => {
  const serve = await mainHere(["serve", "--help"]);
  assert.equal(serve.status, 0);
  for (const flag of ["--port", "--host", "--fallback", "--previous", "--no-watch", "--cert", "SIGHUP"]) {
    assert.ok(serve.stdout.includes(flag), flag);
  }
  assert.ok(!serve.stdout.includes("--formats"));
  const all = (await mainHere(["--help"])).stdout;
  assert.match(all, /millrace precompress DIR/);
  assert.match(all, /millrace serve DIR/);
  assert.doesNotMatch((await mainHere(["precompress", "--help"])).stdout, /millrace serve/);
  assert.match((await mainHere(["serve", "--version"])).stdout, /^millrace \d+\.\d+\.\d+\n$/);
});

test("a word that is neither a command nor a folder is wrong usage", async () => {
  const cases: [words: string[], suggested: string][] = [
    [["serv"], ": did you mean serve?"],
    [["serv", "dist"], ": did you mean serve?"],
    [["precompres", "dist"], ": did you mean precompress?"],
    [["perconpress", "dist"], ": did you mean precompress?"],
    [["preco", "dist"], ": did you mean precompress?"],
    [["versoin"], ": did you mean version?"],
    [["compres", "dist"], ""],
    [["dits"], ""],
    [["constructor"], ""],
    [["__proto__"], ""],
  ];
  for (const [words, suggested] of cases) {
    const { status, stderr } = await mainHere(words);
    assert.equal(status, 2);
    assert.equal(
      stderr,
      `millrace: "${
        words[0]
      }" is neither a command (precompress, analyze, serve, help, version) nor a folder${suggested}\n` +
        "see --help\n",
    );
  }
});
