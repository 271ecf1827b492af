import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { HttpClient, type HttpClientOptions, HttpError } from "../../lib/http/mod.ts";
import { certificates } from "../http/certificates.ts";
import { forwardProxies } from "./http_peers/forward_proxies.ts";
import { noNginx, secure, startNginx } from "./http_peers/nginx.ts";
import { pattern } from "./http_peers/pattern.ts";
import type { PeerProcess } from "./http_peers/processes.ts";
import { freePorts } from "../support/ports.ts";

interface Origins {
  readonly h2: string;
  readonly tls: string;
  readonly plain: string;
}

let folder = "";
let nginx: PeerProcess<Origins>;
const large = pattern(2 ** 22);

/** nginx with files, at three ports and two Unix sockets. */
before(async () => {
  if (noNginx) return;
  folder = await mkdtemp(join(tmpdir(), "millrace-proxies-"));
  await mkdir(join(folder, "files"));
  await writeFile(join(folder, "files", "large"), large);
  const location = `root ${join(folder, "files")};
    location /host { default_type text/plain; return 200 "$host $http_proxy_authorization$http_via"; }`;
  nginx = await startNginx(join(folder, "nginx"), ([h2, tls, plain]) => ({
    h2: `https://localhost:${h2}`,
    tls: `https://localhost:${tls}`,
    plain: `http://localhost:${plain}`,
  }), ([h2, tls, plain]) => `
  server {
    listen 127.0.0.1:${h2} ssl http2;
    listen unix:${join(folder, "secure")} ssl http2;
    ${secure}
    ${location}
  }
  server { listen 127.0.0.1:${tls} ssl; ${secure} ${location} }
  server { listen 127.0.0.1:${plain}; listen unix:${join(folder, "plain")}; ${location} }`);
});

after(async () => {
  await nginx?.close();
  if (folder !== "") await rm(folder, { recursive: true });
});

/** Requests several small files at once, and a large one. */
async function exchange(client: HttpClient, origin: string): Promise<void> {
  const texts = await Promise.all(Array.from({ length: 20 }, async () => {
    const response = await client.fetch(`${origin}/host`);
    assert.equal(response.status, 200);
    return await response.text();
  }));
  // A proxy may name itself (Via), and nothing else.
  for (const text of texts) assert.match(text, /^localhost (1\.1 .*)?$/);
  const response = await client.fetch(`${origin}/large`);
  assert.ok(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(large)));
}

async function withClient(options: HttpClientOptions, act: (client: HttpClient) => Promise<void>): Promise<void> {
  const client = new HttpClient({ tls: { ca: certificates.ca }, ...options });
  try {
    await act(client);
    await client.close();
    assert.equal(client.stats().connections, 0);
  } finally {
    client.destroy();
  }
}

for (const { name, skip, schemes, credentials, start } of forwardProxies) {
  for (const scheme of schemes) {
    test(`by ${name}, ${scheme}: a burst and a large body of nginx, over HTTP/2 and HTTP/1.1, with TLS and without`, {
      skip: skip || noNginx,
    }, async () => {
      const running = await start(join(folder, name));
      try {
        const at = new URL(running.origins.proxy);
        const user = credentials === undefined ? "" : `${credentials.split(":").map(encodeURIComponent).join(":")}@`;
        const proxy = `${scheme}://${user}${at.host}`;
        await withClient({ proxy }, async (client) => {
          for (const origin of Object.values(nginx.origins)) await exchange(client, origin);
          const protocols = client.stats().origins.map(({ protocol }) => protocol);
          assert.deepEqual(protocols, ["h2", "http/1.1", "http/1.1"]);
        });
        await withClient({ proxy }, async (client) => {
          const [port] = await freePorts(1);
          const error = await client.fetch(`https://localhost:${port}`).catch((error) => error);
          assert.ok(error instanceof HttpError);
          assert.equal(error.code, "PROXY_REFUSED", error.message);
        });
        if (credentials === undefined) return;
        for (const wrong of [`${scheme}://miller:wrong@${at.host}`, `${scheme}://${at.host}`]) {
          await withClient({ proxy: wrong }, async (client) => {
            const error = await client.fetch(nginx.origins.h2).catch((error) => error);
            assert.ok(error instanceof HttpError);
            assert.equal(error.code, "PROXY_AUTHENTICATION", error.message);
          });
        }
      } finally {
        await running.close();
      }
    });
  }
}

for (const scheme of ["https", "http"]) {
  test(`over a Unix socket: a burst and a large body of nginx, ${scheme}`, {
    skip: noNginx,
  }, () =>
    withClient({ socketPath: join(folder, scheme === "https" ? "secure" : "plain") }, async (client) => {
      await exchange(client, `${scheme}://localhost`);
      const [{ protocol, connections }] = client.stats().origins;
      assert.equal(protocol, scheme === "https" ? "h2" : "http/1.1");
      if (protocol === "h2") assert.equal(connections, 1);
    }));
}
