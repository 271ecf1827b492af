import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { noCaddy } from "./same_tree/caddy.ts";
import { type ServerProcess, startServer } from "./same_tree/server_process.ts";

/** The path of nginx, which is not on every `PATH`. */
const nginx = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].find((path) => existsSync(path)) ?? "nginx";

/** A reverse proxy in front of a server of this package. */
export interface UploadProxy {
  /** The reason to skip the proxy; false if it is installed. */
  readonly skip: string | false;
  /** Whether the proxy receives a whole request before it contacts the server. */
  readonly buffers: boolean;
  /** Passes everything on to `port`; all that it writes goes to `folder`. */
  readonly start: (folder: string, port: number) => Promise<ServerProcess>;
}

const noNginx = spawnSync(nginx, ["-v"]).status === 0 ? false : "nginx is not installed";

/** The proxies by name. */
export const uploadProxies: Readonly<Record<string, UploadProxy>> = {
  "nginx": { skip: noNginx, buffers: false, start: (folder, port) => startNginx(folder, port, "off") },
  "nginx that buffers": { skip: noNginx, buffers: true, start: (folder, port) => startNginx(folder, port, "on") },
  "Caddy": { skip: noCaddy, buffers: false, start: startCaddy },
};

async function startNginx(folder: string, port: number, buffering: "on" | "off"): Promise<ServerProcess> {
  await mkdir(folder, { recursive: true });
  const conf = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join("\n");
  return await startServer(nginx, async (own) => {
    const text = `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
pid ${join(folder, "nginx.pid")};
error_log stderr;
events {}
http {
  access_log off;
  ${temporary}
  client_max_body_size 0;
  server {
    listen 127.0.0.1:${own};
    location / {
      proxy_pass http://127.0.0.1:${port};
      proxy_http_version 1.1;
      proxy_request_buffering ${buffering};
    }
  }
}
`;
    await writeFile(conf, text);
    return ["-e", "stderr", "-p", folder, "-c", conf];
  });
}

async function startCaddy(folder: string, port: number): Promise<ServerProcess> {
  await mkdir(folder, { recursive: true });
  const conf = join(folder, "Caddyfile");
  return await startServer("caddy", async (own) => {
    const text = `{
	admin off
	auto_https off
}
http://127.0.0.1:${own} {
	reverse_proxy 127.0.0.1:${port}
}
`;
    await writeFile(conf, text);
    return ["run", "--config", conf, "--adapter", "caddyfile"];
  }, { XDG_DATA_HOME: join(folder, "data"), XDG_CONFIG_HOME: join(folder, "config") });
}
