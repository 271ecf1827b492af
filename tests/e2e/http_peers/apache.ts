import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { certificateFile, originsAt } from "./files.ts";
import { type PeerProcess, programPath, startDaemon } from "./processes.ts";
import { freePorts } from "../../support/ports.ts";

const command = programPath("apache2");
const modules = ["mpm_event", "authz_core", "http2", "ssl", "proxy", "proxy_http", "headers", "setenvif", "alias"];

/** The reason for a missing Apache httpd; false if it is installed. */
export const noApache: string | false = command ? false : "Apache httpd is not installed";

/** The directives of a virtual host with TLS. */
export const secureApache: string = `SSLEngine on
  SSLCertificateFile ${certificateFile("localhost.pem")}
  SSLCertificateKeyFile ${certificateFile("localhost.key")}`;

/** The same directives for one.test and two.test. */
export const secureApacheTwoNames: string = `SSLEngine on
  SSLCertificateFile ${certificateFile("two_names.pem")}
  SSLCertificateKeyFile ${certificateFile("two_names.key")}`;

/** The directives that require a client certificate. */
const verifyingApache = `SSLVerifyClient require
  SSLVerifyDepth 2
  SSLCACertificateFile ${certificateFile("ca.pem")}`;

/** Starts Apache httpd with virtual hosts; all that it writes goes to `folder`. */
export async function startApache<Served extends object>(
  folder: string,
  origins: (ports: readonly number[]) => Served,
  hosts: (ports: readonly number[]) => string,
): Promise<PeerProcess<Served>> {
  await mkdir(folder, { recursive: true });
  const conf = join(folder, "apache.conf");
  return await startDaemon(command ?? "apache2", async () => {
    const ports = await freePorts(8);
    const served = origins(ports);
    await writeFile(conf, configuration(folder, Object.values(served), hosts(ports)));
    return { words: ["-D", "FOREGROUND", "-d", folder, "-f", conf], origins: served };
  });
}

function configuration(folder: string, origins: readonly string[], hosts: string): string {
  const listens = origins.map((origin) => `Listen ${new URL(origin).host}`);
  return `ServerName localhost
DefaultRuntimeDir ${folder}
PidFile ${join(folder, "apache.pid")}
ErrorLog ${join(folder, "error.log")}
LogLevel emerg
Mutex sem
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join("\n")}
${process.getuid?.() === 0 ? "User nobody\nGroup nogroup" : ""}
StartServers 1
ServerLimit 8
ThreadLimit 320
ThreadsPerChild 320
MaxRequestWorkers 320
KeepAlive on
MaxKeepAliveRequests 0
KeepAliveTimeout 30
GracefulShutdownTimeout 5
H2MaxSessionStreams 32
H2EarlyHints on
${[...new Set(listens)].join("\n")}
${hosts}
`;
}

/** Apache httpd before the application at `upstream`, an origin of HTTP/1.1. */
export async function startApacheProxy(folder: string, upstream: string): Promise<PeerProcess> {
  const application = `ProxyPass / ${upstream}/ flushpackets=on`;
  return await startApache(folder, originsAt, ([h2, h2c, h1, h1s, verified]) => `
<VirtualHost 127.0.0.1:${h2}>
  Protocols h2 http/1.1
  ${secureApache}
  ${application}
</VirtualHost>
<VirtualHost 127.0.0.1:${h2c}>
  Protocols h2c http/1.1
  ${application}
</VirtualHost>
<VirtualHost 127.0.0.1:${h1}>
  Protocols http/1.1
  ${application}
</VirtualHost>
<VirtualHost 127.0.0.1:${h1s}>
  Protocols http/1.1
  ${secureApache}
  ${application}
</VirtualHost>
<VirtualHost 127.0.0.1:${verified}>
  Protocols h2 http/1.1
  ${secureApache}
  ${verifyingApache}
  ${application}
</VirtualHost>`);
}
