import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noApache, secureApache, secureApacheTwoNames, startApache } from "./apache.ts";
import type { RestartingServer } from "./features/restarts.ts";
import { fileHere } from "./files.ts";
import { noNginx, secure, secureTwoNames, startNginx } from "./nginx.ts";
import { type PeerProcess, runtimePath, startApplication } from "./processes.ts";

/** The origins of a server, each for one property of its connections. */
export interface HardOrigins {
  readonly h2: string;
  readonly h1s: string;
  /** The origin where every tenth response is the last of its connection. */
  readonly fewH2: string;
  /** The origin with the same limit over HTTP/1.1. */
  readonly fewH1s: string;
  /** The origin that closes connections idle for 100 ms. */
  readonly brief: string;
  /** The origin that responds with HTTP/1.0. */
  readonly old: string;
  /** The origin with one certificate for one.test and two.test, which respond with their names. */
  readonly names: string;
}

/** nginx or Apache httpd with these origins. */
export interface HardServer extends RestartingServer {
  /** The origins that the server can't have. */
  readonly lacks: ReadonlySet<keyof HardOrigins>;
  readonly origins: () => HardOrigins;
}

function hardOrigins([h2, h1s, fewH2, fewH1s, brief, old, names]: readonly number[]): HardOrigins {
  const host = "127.0.0.1";
  return {
    h2: `https://${host}:${h2}`,
    h1s: `https://${host}:${h1s}`,
    fewH2: `https://${host}:${fewH2}`,
    fewH1s: `https://${host}:${fewH1s}`,
    brief: `http://${host}:${brief}`,
    old: `http://${host}:${old}`,
    names: `https://${host}:${names}`,
  };
}

function startHardNginx(folder: string, upstream: string): Promise<PeerProcess<HardOrigins>> {
  const pass = `location / {
      proxy_pass ${upstream};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
    location = /zipped {
      gzip on;
      gzip_proxied any;
      gzip_types *;
      proxy_pass ${upstream}/stream;
    }`;
  const server = (directives: string): string =>
    `server {
    ${directives}
  }
  `;
  return startNginx(folder, hardOrigins, ([h2, h1s, fewH2, fewH1s, brief, old, names]) =>
    [
      `listen 127.0.0.1:${h2} ssl http2; ${secure} ${pass}`,
      `listen 127.0.0.1:${h1s} ssl; ${secure} ${pass}`,
      `listen 127.0.0.1:${fewH2} ssl http2; keepalive_requests 10; ${secure} ${pass}`,
      `listen 127.0.0.1:${fewH1s} ssl; keepalive_requests 10; ${secure} ${pass}`,
      `listen 127.0.0.1:${brief}; keepalive_timeout 100ms; ${pass}`,
      `listen 127.0.0.1:${old}; return 505;`,
      `listen 127.0.0.1:${names} ssl http2; server_name one.test; ${secureTwoNames} return 200 one.test;`,
      `listen 127.0.0.1:${names} ssl http2; server_name two.test; ${secureTwoNames} return 200 two.test;`,
    ].map(server).join(""), { reloads: true });
}

function startHardApache(folder: string, upstream: string): Promise<PeerProcess<HardOrigins>> {
  const pass = `ProxyPass / ${upstream}/ flushpackets=on`;
  const name = (name: string): string =>
    `ServerName ${name}
  RedirectMatch 404 ^/$
  ErrorDocument 404 ${name}`;
  const host = (port: number, directives: string): string =>
    `<VirtualHost 127.0.0.1:${port}>
  ${directives}
</VirtualHost>
`;
  return startApache(folder, hardOrigins, ([h2, h1s, fewH2, fewH1s, brief, old, names]) =>
    [
      host(h2, `Protocols h2 http/1.1\n${secureApache}\n${pass}`),
      host(h1s, `${secureApache}\n${pass}`),
      host(fewH2, `Protocols h2\n${secureApache}\n${pass}`),
      host(fewH1s, `MaxKeepAliveRequests 9\n${secureApache}\n${pass}`),
      host(brief, `KeepAliveTimeout 100ms\n${pass}`),
      host(old, `SetEnvIf Request_URI . nokeepalive downgrade-1.0 force-response-1.0\n${pass}`),
      host(names, `Protocols h2 http/1.1\n${secureApacheTwoNames}\n${name("one.test")}`),
      host(names, `Protocols h2 http/1.1\n${secureApacheTwoNames}\n${name("two.test")}`),
    ].join(""));
}

/** nginx and Apache httpd; the installed ones run between `start` and `close`. */
export class HardServers {
  #folder = "";
  #upstream: PeerProcess | undefined = undefined;
  #nginx: PeerProcess<HardOrigins> | undefined = undefined;
  #apache: PeerProcess<HardOrigins> | undefined = undefined;
  readonly #noNode: string | false = runtimePath("node") ? false : "node is not installed";

  async start(): Promise<void> {
    if (this.#noNode || (noNginx && noApache)) return;
    this.#folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-servers-")));
    this.#upstream = await startApplication(runtimePath("node") ?? "node", [fileHere("node_server.ts")]);
    const upstream = this.#upstream.origins.h1!;
    if (!noNginx) this.#nginx = await startHardNginx(join(this.#folder, "nginx"), upstream);
    if (!noApache) this.#apache = await startHardApache(join(this.#folder, "apache"), upstream);
  }

  async close(): Promise<void> {
    await this.#nginx?.close();
    await this.#apache?.close();
    await this.#upstream?.close();
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }

  all(): HardServer[] {
    return [
      {
        name: "nginx",
        skip: noNginx || this.#noNode,
        lacks: new Set(["old"]),
        origins: () => this.#nginx!.origins,
        reload: () => this.#nginx!.signal("SIGHUP"),
      },
      {
        name: "Apache httpd",
        skip: noApache || this.#noNode,
        lacks: new Set(["fewH2"]),
        origins: () => this.#apache!.origins,
        reload: () => this.#apache!.signal("SIGUSR1"),
      },
    ];
  }
}
