import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PeerProcess, programPath, startDaemon } from "./processes.ts";
import { freePorts } from "../../support/ports.ts";

/** A third-party proxy in front of the client. */
export interface ForwardProxy {
  readonly name: string;
  /** The reason to skip it; false if it is installed. */
  readonly skip: string | false;
  /** The schemes of its URL. */
  readonly schemes: readonly ("http" | "socks5" | "socks5h")[];
  /** The `user:password` that it asks for; undefined: none. */
  readonly credentials: string | undefined;
  /** All that it writes goes to `folder`. */
  readonly start: (folder: string) => Promise<PeerProcess<{ proxy: string }>>;
}

/** The password has characters that URLs have to encode. */
const CREDENTIALS = "miller:wat er@7";

const missing = (program: string): string | false => programPath(program) ? false : `${program} is not installed`;

/** The proxies there are. */
export const forwardProxies: readonly ForwardProxy[] = [
  { name: "tinyproxy", skip: missing("tinyproxy"), schemes: ["http"], credentials: undefined, start: startTinyproxy },
  {
    name: "tinyproxy with a password",
    skip: missing("tinyproxy"),
    schemes: ["http"],
    credentials: "miller:water7", // it takes no other characters
    start: (folder) => startTinyproxy(folder, "BasicAuth miller water7"),
  },
  { name: "squid", skip: missing("squid"), schemes: ["http"], credentials: undefined, start: startSquid },
  {
    name: "microsocks",
    skip: missing("microsocks"),
    schemes: ["socks5", "socks5h"],
    credentials: undefined,
    start: () => startMicrosocks([]),
  },
  {
    name: "microsocks with a password",
    skip: missing("microsocks"),
    schemes: ["socks5", "socks5h"],
    credentials: CREDENTIALS,
    start: () => startMicrosocks(["-u", "miller", "-P", "wat er@7"]),
  },
  {
    name: "dante",
    skip: missing("danted"),
    schemes: ["socks5", "socks5h"],
    credentials: undefined,
    start: startDante,
  },
];

function startTinyproxy(folder: string, more = ""): Promise<PeerProcess<{ proxy: string }>> {
  return startDaemon(programPath("tinyproxy") ?? "tinyproxy", async () => {
    await mkdir(folder, { recursive: true });
    const [port] = await freePorts(1);
    const conf = join(folder, "tinyproxy.conf");
    await writeFile(conf, `Port ${port}\nListen 127.0.0.1\nTimeout 60\nLogLevel Critical\nMaxClients 200\n${more}\n`);
    return { words: ["-d", "-c", conf], origins: { proxy: `http://127.0.0.1:${port}` } };
  });
}

function startSquid(folder: string): Promise<PeerProcess<{ proxy: string }>> {
  return startDaemon(programPath("squid") ?? "squid", async () => {
    await mkdir(folder, { recursive: true });
    const [port] = await freePorts(1);
    const conf = join(folder, "squid.conf");
    await writeFile(
      conf,
      `http_port 127.0.0.1:${port}
http_access allow localhost
cache deny all
cache_mem 8 MB
access_log none
cache_log ${join(folder, "cache.log")}
pid_filename ${join(folder, "squid.pid")}
coredump_dir ${folder}
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
visible_hostname localhost
workers 1
`,
    );
    return { words: ["-N", "-f", conf], origins: { proxy: `http://127.0.0.1:${port}` } };
  });
}

function startMicrosocks(words: readonly string[]): Promise<PeerProcess<{ proxy: string }>> {
  return startDaemon(programPath("microsocks") ?? "microsocks", async () => {
    const [port] = await freePorts(1);
    const place = ["-i", "127.0.0.1", "-p", String(port)];
    return { words: [...place, ...words], origins: { proxy: `socks5://127.0.0.1:${port}` } };
  });
}

function startDante(folder: string): Promise<PeerProcess<{ proxy: string }>> {
  return startDaemon(programPath("danted") ?? "danted", async () => {
    await mkdir(folder, { recursive: true });
    const [port] = await freePorts(1);
    const conf = join(folder, "danted.conf");
    await writeFile(
      conf,
      `logoutput: ${join(folder, "danted.log")}
internal: 127.0.0.1 port = ${port}
external: 127.0.0.1
clientmethod: none
socksmethod: none
client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
`,
    );
    const words = ["-f", conf, "-p", join(folder, "danted.pid")];
    return { words, origins: { proxy: `socks5://127.0.0.1:${port}` } };
  });
}
