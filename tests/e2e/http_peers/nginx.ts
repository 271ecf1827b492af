import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { certificateFile, originsAt } from "./files.ts";
import { type PeerProcess, programPath, startDaemon } from "./processes.ts";
import { freePorts } from "../../support/ports.ts";

const command = programPath("nginx");

/** The reason for a missing nginx; false if it is installed. */
export const noNginx: string | false = command ? false : "nginx is not installed";

/** The directives of a server block with TLS. */
export const secure: string = `ssl_certificate ${certificateFile("localhost.pem")};
    ssl_certificate_key ${certificateFile("localhost.key")};`;

/** The same directives for one.test and two.test. */
export const secureTwoNames: string = `ssl_certificate ${certificateFile("two_names.pem")};
    ssl_certificate_key ${certificateFile("two_names.key")};`;

/** Directives that demand a certificate of clients, as one line. */
const verifying = `ssl_client_certificate ${certificateFile("ca.pem")};
    ssl_verify_client on;`;

/**
 * Starts nginx with server blocks; all that it writes goes to `folder`.
 *
 * @param servers Called with as many free ports as they take arguments.
 * @param options.reloads Whether it will reload. Only then it has a process beside its worker: Deno kills at the end of
 * a test file the processes that were started there, and of those two the worker would stay.
 */
export async function startNginx<Served extends object>(
  folder: string,
  origins: (ports: readonly number[]) => Served,
  servers: (ports: readonly number[]) => string,
  { reloads = false }: { readonly reloads?: boolean } = {},
): Promise<PeerProcess<Served>> {
  await mkdir(folder, { recursive: true });
  const conf = join(folder, "nginx.conf");
  return await startDaemon(command ?? "nginx", async () => {
    const ports = await freePorts(8);
    await writeFile(conf, configuration(folder, servers(ports), reloads));
    return { words: ["-e", "stderr", "-p", folder, "-c", conf], origins: origins(ports) };
  });
}

function configuration(folder: string, servers: string, reloads: boolean): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join("\n  ");
  // As root it would take another user, who may not read our folder.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `${user}
daemon off;
master_process ${reloads ? "on" : "off"};
worker_processes 1;
pid ${join(folder, "nginx.pid")};
error_log stderr crit;
events {
  worker_connections 4096;
}
http {
  access_log off;
  ${temporary}
  ${servers}
}
`;
}

/** nginx before the application at `upstream`, an origin of HTTP/1.1. */
export async function startNginxProxy(folder: string, upstream: string): Promise<PeerProcess> {
  const application = `
    client_max_body_size 0;
    large_client_header_buffers 8 32k;
    http2_max_concurrent_streams 32;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_request_buffering off;
    proxy_buffering off;
    proxy_buffer_size 128k;
    proxy_buffers 4 128k;
    location / {
      proxy_pass ${upstream};
    }
    location = /refuse {
      client_max_body_size 1k;
      proxy_pass ${upstream};
    }`;
  return await startNginx(folder, originsAt, ([h2, h2c, h1, h1s, verified]) => `
  server {
    listen 127.0.0.1:${h2} ssl http2;
    ${secure}
    ${application}
  }
  server {
    listen 127.0.0.1:${h2c} http2;
    ${application}
  }
  server {
    listen 127.0.0.1:${h1};
    ${application}
  }
  server {
    listen 127.0.0.1:${h1s} ssl;
    ${secure}
    ${application}
  }
  server {
    listen 127.0.0.1:${verified} ssl http2;
    ${secure}
    ${verifying}
    location / {
      return 200 $ssl_client_s_dn;
    }
  }`);
}
