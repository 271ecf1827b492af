import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recipe } from "./recipe.ts";
import { type ServerProcess, startServer } from "./server_process.ts";

/** The reason for a missing Caddy; false if it is installed. */
export const noCaddy: string | false = spawnSync("caddy", ["version"]).status === 0 ? false : "Caddy is not installed";

/** Serves `tree` with the configuration `name` of the page on deploying; all that Caddy writes goes to `folder`. */
export async function startCaddy(
  name: string,
  folder: string,
  tree: string,
  replacements: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  await mkdir(folder, { recursive: true });
  const conf = join(folder, "Caddyfile");
  return await startServer("caddy", async (port) => {
    const site = await recipe(name, {
      ":80 {": `http://127.0.0.1:${port} {`,
      "/srv/dist\n": `${tree}\n`,
      ...replacements,
    });
    await writeFile(conf, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
    return ["run", "--config", conf, "--adapter", "caddyfile"];
  }, { XDG_DATA_HOME: join(folder, "data"), XDG_CONFIG_HOME: join(folder, "config") });
}
