import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { recipe } from "./recipe.ts";
import { type ServerProcess, startServer } from "./server_process.ts";

const MODULE = "ngx_http_brotli_static_module.so";
/** The path of nginx, which is not on every `PATH`. */
const command = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].find((path) => existsSync(path)) ?? "nginx";
const told = spawnSync(command, ["-V"], { encoding: "utf8" });
const modules = builtWith("modules-path");
const types = join(dirname(builtWith("conf-path") ?? ""), "mime.types");

/** The reason for a missing nginx; false if it is installed. */
export const noNginx: string | false = reason();

function reason(): string | false {
  if (told.error || told.status !== 0) return "nginx is not installed";
  if (!modules || !existsSync(join(modules, MODULE))) return "nginx has no brotli_static module";
  return existsSync(types) ? false : "nginx has no mime.types";
}

function builtWith(option: string): string | undefined {
  return new RegExp(`--${option}=(\\S+)`).exec(told.stderr ?? "")?.[1];
}

/** Serves `tree` with the configuration `name` of the page on deploying; all that nginx writes goes to `folder`. */
export async function startNginx(
  name: string,
  folder: string,
  tree: string,
  replacements: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  await mkdir(folder, { recursive: true });
  const conf = join(folder, "nginx.conf");
  return await startServer(command, async (port) => {
    const server = await recipe(name, {
      "listen 80;": `listen 127.0.0.1:${port};`,
      "/srv/dist;": `${tree};`,
      ...replacements,
    });
    await writeFile(conf, configuration(folder, server));
    return ["-e", "stderr", "-p", folder, "-c", conf];
  });
}

function configuration(folder: string, server: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join("\n");
  // As root it would take another user, who may not read our folder.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `load_module ${join(modules!, MODULE)};
${user}
daemon off;
worker_processes 1;
pid ${join(folder, "nginx.pid")};
error_log stderr;
events {}
http {
access_log off;
include ${types};
${temporary}
${server}
}
`;
}
