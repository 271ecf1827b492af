/**
 * The runtime's own modules, each loaded at its first use: `npm run build` puts these in the place of imports of `node:`
 * modules. An import of one reads each of its exports, which takes Node 1 to 5 ms for most of them (those of
 * `node:process` open the standard streams), and Deno 12 ms for `process`.
 *
 * @module
 */

interface Modules {
  "node:buffer": typeof import("node:buffer");
  "node:crypto": typeof import("node:crypto");
  "node:diagnostics_channel": typeof import("node:diagnostics_channel");
  "node:dns": typeof import("node:dns");
  "node:dns/promises": typeof import("node:dns/promises");
  "node:fs": typeof import("node:fs");
  "node:fs/promises": typeof import("node:fs/promises");
  "node:net": typeof import("node:net");
  "node:os": typeof import("node:os");
  "node:path": typeof import("node:path");
  "node:stream": typeof import("node:stream");
  "node:timers": typeof import("node:timers");
  "node:timers/promises": typeof import("node:timers/promises");
  "node:tls": typeof import("node:tls");
  "node:url": typeof import("node:url");
  "node:util": typeof import("node:util");
  "node:worker_threads": typeof import("node:worker_threads");
  "node:zlib": typeof import("node:zlib");
}

/** The globals by which runtimes give them. */
interface Host {
  readonly process?: NodeJS.Process & { getBuiltinModule?<Name extends keyof Modules>(name: Name): Modules[Name] };
  readonly Buffer?: Modules["node:buffer"]["Buffer"];
}

function load<Name extends keyof Modules>(name: Name): Modules[Name] {
  const module = (globalThis as Host).process?.getBuiltinModule?.(name);
  if (module === undefined) throw missing(name);
  return module;
}

/** The error of a host that has no such module, as those that run scripts at the edge of a network. */
function missing(name: string): TypeError {
  return new TypeError(
    `${name} is not there: this part of @millrace/streams runs on Node 22.18, Deno 2.4, Bun 1.2.23 or newer`,
  );
}

let buffer: Modules["node:buffer"] | undefined;
let crypto: Modules["node:crypto"] | undefined;
let diagnosticsChannel: Modules["node:diagnostics_channel"] | undefined;
let dns: Modules["node:dns"] | undefined;
let dnsPromises: Modules["node:dns/promises"] | undefined;
let fs: Modules["node:fs"] | undefined;
let fsPromises: Modules["node:fs/promises"] | undefined;
let net: Modules["node:net"] | undefined;
let os: Modules["node:os"] | undefined;
let path: Modules["node:path"] | undefined;
let stream: Modules["node:stream"] | undefined;
let timers: Modules["node:timers"] | undefined;
let timersPromises: Modules["node:timers/promises"] | undefined;
let tls: Modules["node:tls"] | undefined;
let url: Modules["node:url"] | undefined;
let util: Modules["node:util"] | undefined;
let workerThreads: Modules["node:worker_threads"] | undefined;
let zlib: Modules["node:zlib"] | undefined;
let Buffer: Modules["node:buffer"]["Buffer"] | undefined;
let process: NodeJS.Process | undefined;

/** The modules; `Buffer` is by itself, as most modules that use it need nothing else of `node:buffer`. */
export const builtins = {
  get buffer(): Modules["node:buffer"] {
    return buffer ??= load("node:buffer");
  },
  get crypto(): Modules["node:crypto"] {
    return crypto ??= load("node:crypto");
  },
  get diagnosticsChannel(): Modules["node:diagnostics_channel"] {
    return diagnosticsChannel ??= load("node:diagnostics_channel");
  },
  get dns(): Modules["node:dns"] {
    return dns ??= load("node:dns");
  },
  get dnsPromises(): Modules["node:dns/promises"] {
    return dnsPromises ??= load("node:dns/promises");
  },
  get fs(): Modules["node:fs"] {
    return fs ??= load("node:fs");
  },
  get fsPromises(): Modules["node:fs/promises"] {
    return fsPromises ??= load("node:fs/promises");
  },
  get net(): Modules["node:net"] {
    return net ??= load("node:net");
  },
  get os(): Modules["node:os"] {
    return os ??= load("node:os");
  },
  get path(): Modules["node:path"] {
    return path ??= load("node:path");
  },
  get stream(): Modules["node:stream"] {
    return stream ??= load("node:stream");
  },
  get timers(): Modules["node:timers"] {
    return timers ??= load("node:timers");
  },
  get timersPromises(): Modules["node:timers/promises"] {
    return timersPromises ??= load("node:timers/promises");
  },
  get tls(): Modules["node:tls"] {
    return tls ??= load("node:tls");
  },
  get url(): Modules["node:url"] {
    return url ??= load("node:url");
  },
  get util(): Modules["node:util"] {
    return util ??= load("node:util");
  },
  get workerThreads(): Modules["node:worker_threads"] {
    return workerThreads ??= load("node:worker_threads");
  },
  get zlib(): Modules["node:zlib"] {
    return zlib ??= load("node:zlib");
  },
  get Buffer(): Modules["node:buffer"]["Buffer"] {
    return Buffer ??= (globalThis as Host).Buffer ?? load("node:buffer").Buffer;
  },
  get process(): NodeJS.Process {
    return process ??= given();
  },
};

function given(): NodeJS.Process {
  const { process } = globalThis as Host;
  if (process === undefined) throw missing("process");
  return process;
}
