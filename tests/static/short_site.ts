/** Serves a folder while no descriptor is free, and prints what it does then and afterwards: `short_site.ts FOLDER SCENE` */
import { closeSync, openSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { openStaticHandler } from "../../lib/static/internal.ts";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { atLast, pause } from "../support/waits.ts";
import { serveNatively } from "./native_server.ts";

const [folder, scene] = process.argv.slice(2);
const warnings: string[] = [];
const onWarning: StaticHandlerOptions["onWarning"] = ({ path, message }) => void warnings.push(`${path}: ${message}`);

process.on("SIGUSR2", () => {}); // Deno opens pipes for signals at some time, and panics if it cannot

const held: number[] = [];
/** Takes the descriptors that others close. */
let holding: ReturnType<typeof setInterval> | undefined;
function hold(): void {
  holding ??= setInterval(hold, 1);
  try {
    for (;;) held.push(openSync("/dev/null", "r"));
  } catch {
    // no descriptor is free
  }
}
function free(): void {
  clearInterval(holding);
  holding = undefined;
  for (const descriptor of held.splice(0)) closeSync(descriptor);
}

/** Waits until a handler has verified all its variants, and Deno has opened what it needs. */
async function rest(handler: StaticHandler): Promise<void> {
  await atLast(async () => await ask(handler, "large0.js") === "200 br");
  await pause(100);
}

async function ask({ fetch }: Pick<StaticHandler, "fetch">, path: string): Promise<string> {
  const response = await fetch(new Request(`http://site/${path}`, { headers: { "accept-encoding": "br" } }));
  await response.arrayBuffer();
  const { status, headers } = response;
  return [status, headers.get("content-encoding") ?? headers.get("retry-after") ?? "-"].join(" ");
}

const scenes: Readonly<Record<string, () => Promise<unknown>>> = {
  /** Requests variants for the first time in a shortage, with little memory and with enough. */
  async first() {
    const found: string[][] = [];
    for (const memoryLimit of [0, 1e8]) {
      const handler = await createStaticHandler(folder, { memoryLimit, onWarning });
      await pause(100); // Deno ends if its own files cannot be opened
      await handler.reload();
      hold(); // before the large variants are verified
      const during = await Promise.all(["small.js", "middle.js", "large7.js"].map((path) => ask(handler, path)));
      await pause(200); // the verification of large variants tries again meanwhile
      free();
      await atLast(async () => await ask(handler, "large7.js") === "200 br");
      found.push(during, [await ask(handler, "small.js"), await ask(handler, "middle.js")]);
      await handler.close();
    }
    return found;
  },
  /** reload() in a shortage, and in one that comes and goes. */
  async reload() {
    await using handler = await createStaticHandler(folder, { onWarning });
    await rest(handler);
    const { files } = handler.stats();
    const outcomes: string[] = [];
    const reload = async (): Promise<void> => {
      const outcome = await handler.reload().then(() => "resolved", (error) => `rejected: ${error.message}`);
      outcomes.push(`${outcome}, ${handler.stats().files - files} more files`);
    };
    hold();
    await reload();
    free();
    for (let i = 0; i < 5; i++) {
      const turns = setInterval(() => held.length > 0 ? free() : hold(), 3);
      await reload();
      clearInterval(turns);
      free();
    }
    return outcomes;
  },
  /** A deploy in a shortage is served once that is over. */
  async watch() {
    await using handler = await createStaticHandler(folder, { onWarning, watch: true });
    await pause(1500); // for what watchers report late
    hold();
    free();
    writeFileSync(`${folder}/.new`, "new");
    renameSync(`${folder}/.new`, `${folder}/new.txt`);
    hold();
    await pause(7000);
    const during = await ask(handler, "small.js");
    free();
    await atLast(async () => await ask(handler, "new.txt") === "200 -");
    return [during.slice(0, 3), warnings.splice(0).every((each) => /too many|cannot be read/.test(each))];
  },
  /** Files that are read behind the start. */
  async hasty() {
    const { handler, whole } = await openStaticHandler(folder, { onWarning });
    hold();
    await pause(100);
    const during = await ask(handler, "large7.js");
    free();
    const afterwards = await ask(handler, "large7.js");
    await whole;
    await handler.close();
    return [during, afterwards.slice(0, 3)];
  },
  /** Answers of the runtime's own server, on a connection from before. */
  async server() {
    await using handler = await createStaticHandler(folder, { onWarning });
    await rest(handler);
    const server = serveNatively(handler.fetch);
    const socket = connect(server.port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => received += chunk.toString("latin1"));
    const request = async (fields = ""): Promise<string> => {
      received = "";
      socket.write(`GET /large7.js HTTP/1.1\r\nHost: site\r\n${fields}\r\n`);
      await atLast(() => received.includes("\r\n\r\n"));
      await pause(500);
      return [/^HTTP\/1.1 (\d+)/.exec(received)?.[1], /^retry-after: *(\d+)/im.exec(received)?.[1]].join(" ");
    };
    const found = [await request("Range: bytes=0-1\r\n")];
    hold();
    found.push(await request(), await request("Range: bytes=100-400000\r\n"));
    free();
    found.push(await request());
    socket.destroy();
    await server.close();
    return found;
  },
};

const outcome = await scenes[scene]();
console.log(JSON.stringify({ outcome, warnings }));
process.exit();
