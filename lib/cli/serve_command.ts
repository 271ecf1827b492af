import { readFile } from "node:fs/promises";
import process from "node:process";
import { explain } from "../precompress/internal.ts";
import { type RunningServer, serve, type ServeOptions } from "../runtime/mod.ts";
import { openStaticHandler, printable } from "../static/internal.ts";
import { endsWithin, Timer } from "../timers/mod.ts";
import { AccessLog } from "./access_log.ts";
import { type Command, DONE } from "./usage.ts";
import { counted, formatBytes } from "../quantities/mod.ts";
import { requireServed, type ServeArguments, serveArguments, serveHelp } from "./serve_arguments.ts";
import { firstEndingSignal, onHangUp } from "./signals.ts";

/** The maximum time in ms for open requests to finish. */
const GRACE = 10_000;

/** The time in ms after which a long scan is reported. */
const SLOW = 1000;

/** The maximum time in ms by which unfinished requests delay the exit. */
const LEFT_OVER = 100;

/** `millrace serve DIR`: a thin shell over {@linkcode openStaticHandler} and the runtime's own server. */
export const serveCommand: Command = {
  help: serveHelp,
  async run(words) {
    const parsed = await serveArguments(words);
    // A closed terminal or reader must not end the server.
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
    if (typeof parsed === "string") return parsed;
    requireServed(parsed);
    return await serveFolder(parsed);
  },
};

type Tell = (line: string) => void;

async function serveFolder(
  { directory, hostname, port, portsToTry, certificate, quiet, options }: ServeArguments,
): Promise<number> {
  const log = quiet ? undefined : new AccessLog(process.stdout);
  const tell: Tell = (line) => log?.tell(line);
  const tls = certificate && await readCertificate(certificate);
  const opening = openStaticHandler(directory, {
    ...options,
    onWarning: ({ path, message }) => warn(`${path || directory}: ${message}`),
  });
  const slow = new Timer(() => tell(`hashing what millrace precompress does not know: requested files come first`));
  slow.start(SLOW);
  let running: RunningServer | undefined = undefined;
  const attempt = async (step: () => Promise<void>, former: string): Promise<void> =>
    await step().catch((error) => warn(`still serving ${former}: ${(error as Error).message}`));
  onHangUp(async () => {
    const opened = await opening.catch(() => {});
    if (opened) {
      await attempt(async () => {
        await opened.handler.reload();
        const { files, bytesInMemory } = opened.handler.stats();
        tell(`scanned ${directory} again (${counted(files, "file")}, ${formatBytes(bytesInMemory)} in memory)`);
      }, "what was there before");
    }
    if (!certificate) return;
    await attempt(async () => {
      if (!running) return;
      running.renew(await readCertificate(certificate));
      tell(`new connections use ${certificate.cert} as it is now`);
    }, "with the certificate of before");
  });
  opening.then(({ whole }) => whole).finally(() => slow.stop()).catch(() => {});
  const { handler } = await opening;
  const { fetch, node } = log?.of(handler) ?? handler;
  const server = await serve({ fetch, node, hostname, port, portsToTry, tls }).catch(async (error) => {
    await handler.close(); // a watched folder would keep the process alive
    throw error;
  });
  running = server;
  const ending = firstEndingSignal();
  const { files: count } = handler.stats();
  const tellPlace = quiet && server.port !== port ? warn : tell;
  if (port !== 0 && server.port !== port) {
    tellPlace(`port ${port} is in use: ${server.port} is the next one that is free`);
  }
  const { href } = new URL(`/${options.basePath ?? ""}/`.replace(/\/{2,}/g, "/"), server.url);
  tellPlace(`serving ${directory} at ${href} (${counted(count, "file")})`);
  const signal = await ending;
  tell(`stopping by ${signal}: requests under way have ${GRACE / 1000} s to finish; a second signal ends it at once`);
  await server.stop(GRACE);
  await endsWithin(handler.close(), LEFT_OVER);
  log?.flush();
  // Deno continues to send responses that stop() could not abort, and would wait for them.
  new Timer(() => process.exit(), { keepsAlive: false }).start(LEFT_OVER);
  return DONE;
}

async function readCertificate(
  files: NonNullable<ServeArguments["certificate"]>,
): Promise<NonNullable<ServeOptions["tls"]>> {
  return { cert: await text("certificate", files.cert), key: await text("key", files.key) };

  async function text(what: string, path: string): Promise<string> {
    return await readFile(path, "utf8").catch((cause) => {
      throw new Error(`cannot read the ${what} ${path}: ${explain(cause)}`, { cause });
    });
  }
}

function warn(message: string): void {
  process.stderr.write(`millrace: ${printable(message)}\n`);
}
