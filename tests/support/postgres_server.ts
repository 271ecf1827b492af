import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, globSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { within } from "./waits.ts";
import { freePort } from "./ports.ts";

const programs = globSync("/usr/lib/postgresql/*/bin").sort().at(-1) ?? "";
const isRoot = process.getuid?.() === 0;

/** The reason for a missing server of Postgres; false if it can run. */
export const cannotServePostgres: string | false = !existsSync(join(programs, "initdb"))
  ? "Postgres is not installed"
  : isRoot && !hasOwner()
  ? "Postgres does not run as root, and there is no user named postgres"
  : false;

/** A server of Postgres with an empty database, for a test. */
export class PostgresServer {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url;
    this.#child = child;
    this.#folder = folder;
  }

  /** @param options Settings, such as `fsync=off`. */
  static async start(...options: string[]): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), "millrace-postgres-"));
    if (isRoot) {
      const [uid, gid] = ownerIds();
      chownSync(folder, uid, gid);
    }
    const data = join(folder, "data");
    const initdb = asOwner(join(programs, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N");
    execFileSync(initdb[0], [...initdb.slice(1), "--no-locale"], { stdio: "ignore", cwd: folder });
    const port = await freePort();
    const settings = ["listen_addresses=127.0.0.1", `port=${port}`, `unix_socket_directories=${folder}`, ...options];
    const [command, ...args] = asOwner(
      join(programs, "postgres"),
      "-D",
      data,
      ...settings.flatMap((one) => ["-c", one]),
    );
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], cwd: folder });
    const server = new PostgresServer(`postgres://postgres@127.0.0.1:${port}/postgres`, child, folder);
    try {
      await within(server.#isReady(), "the start of Postgres");
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  async stop(): Promise<void> {
    const ended = this.#child.exitCode !== null
      ? undefined
      : new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGINT"); // without waiting for clients
    await within(Promise.resolve(ended), "the end of Postgres");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #isReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      let told = "";
      this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => {
        told += text;
        if (told.includes("ready to accept connections")) resolve();
      });
      this.#child.once("exit", () => reject(new Error(`Postgres ended: ${told}`)));
      this.#child.once("error", reject);
    });
  }
}

/** Returns the command with the user that may run Postgres. */
function asOwner(...words: string[]): string[] {
  return isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", ...words] : words;
}

function ownerIds(): number[] {
  return ["-u", "-g"].map((what) =>
    Number(execFileSync("id", [what, "postgres"], { stdio: ["ignore", "pipe", "ignore"] }))
  );
}

function hasOwner(): boolean {
  try {
    return ownerIds().length === 2 && statSync("/usr/bin/setpriv").isFile();
  } catch {
    return false;
  }
}
