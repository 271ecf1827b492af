/**
 * Has ours and the runtime's own fetch send a POST right after the answer to a GET, while the server ends the connection: every 50 µs from
 * the answer on, by FIN and by RST. Prints how many were lost; exit code 1 if ours loses more.
 *
 *   node tests/http/differential/sweep.ts [--rounds 5] [--until 3000]
 */
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { HttpClient } from "../../../lib/http/mod.ts";

const STEP = 50;
const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/**
 * Answers every request, and then ends the connection of `/MICROSECONDS/ENDING`. It runs in a separate process, because
 * it waits in a busy loop.
 */
function serve(): void {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      socket.write(ANSWER);
      const end = /^GET \/(\d+)\/(\w+)/.exec(data.toString("latin1"));
      if (end === null) return;
      for (const start = performance.now(); (performance.now() - start) * 1000 < Number(end[1]););
      if (end[2] === "fin") socket.end();
      else socket.resetAndDestroy();
    });
  });
  server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
  process.stdin.resume().on("end", () => process.exit());
}

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Whether a POST that follows a GET at once is answered; undefined if the GET was not. */
async function survives(fetch: Fetch, url: string, way: string): Promise<boolean | undefined> {
  try {
    await (await fetch(`${url}${way}`)).text();
  } catch {
    return undefined;
  }
  try {
    return await (await fetch(`${url}/post`, { method: "POST", body: "hello" })).text() === "ok";
  } catch {
    return false;
  }
}

async function sweep(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: "5" }, until: { type: "string", default: "3000" } },
  });
  // Node's sockets send what is written at once.
  const server = spawn("node", [fileURLToPath(import.meta.url), "--serve"], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await new Promise<string[]>((resolve) =>
    createInterface(server.stdout).once("line", (...line) => resolve(line))
  );
  const url = `http://127.0.0.1:${port}`;
  const client = new HttpClient();
  const fetches: Record<string, Fetch> = {
    ours: (input, init) => client.fetch(input, init) as unknown as Promise<Response>,
    native: globalThis.fetch,
  };
  const lost: Record<string, number> = {};
  for (const ending of ["fin", "reset"]) {
    for (const [name, fetch] of Object.entries(fetches)) {
      let [sent, failed, unanswered] = [0, 0, 0];
      for (let round = 0; round < Number(values.rounds); round++) {
        for (let microseconds = 0; microseconds <= Number(values.until); microseconds += STEP) {
          const survived = await survives(fetch, url, `/${microseconds}/${ending}`);
          if (survived === undefined) unanswered++;
          else sent++;
          if (survived === false) failed++;
        }
      }
      lost[name] = (lost[name] ?? 0) + failed;
      console.log(`${ending}, ${name}: ${failed} of ${sent} POSTs lost; ${unanswered} GETs`);
    }
  }
  server.stdin.end();
  process.exit(lost.ours <= lost.native ? 0 : 1);
}

if (process.argv.includes("--serve")) serve();
else await sweep();
