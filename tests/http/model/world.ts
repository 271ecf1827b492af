import { isIP, type LookupFunction } from "node:net";
import { certificates } from "../certificates.ts";
import type { Listener } from "../faults/listener.ts";
import type { SeededRandom } from "../faults/seeded_random.ts";
import { type ProxyScheme, TestProxy } from "../proxy/test_proxy.ts";
import type { Entry } from "./entry.ts";
import { Machine, type MachineOptions, type MachineOwner } from "./machine.ts";

const COVERED = /^(one|two|[a-z]+\.many)\.test$/;
const ANYTHING = { covers: () => true };
const { twoNames } = certificates;

/** The machines: of the same port where they speak TLS, so that names can move between them. */
const MACHINES: readonly MachineOptions[] = [
  { address: "127.0.0.1", certificate: twoNames, alpn: ["h2", "http/1.1"], covers: (host) => COVERED.test(host) },
  { address: "127.0.0.2", certificate: twoNames, alpn: ["h2"], covers: (host) => COVERED.test(host) },
  { address: "127.0.0.3", certificate: twoNames, alpn: ["http/1.1"], covers: (host) => COVERED.test(host) },
  { address: "127.0.0.4", certificate: certificates, alpn: ["h2"], covers: () => false },
];

/** The outcome of a DNS lookup: addresses, an error, or no response. */
export type Found = readonly string[] | "fails" | "hangs";

/** The time after its end in which a connection may still be accepted, in ms. */
const LATE = 50;

/** The ways to reach a host: directly (`undefined`), or by a proxy with this scheme. */
export const WAYS = [undefined, "http", "https", "socks5", "socks5h"] as const;
export type Way = typeof WAYS[number];

/** Hosts with https, and those without. */
export const SECURE: readonly string[] = ["one.test", "two.test", "a.many.test", "b.many.test"];
export const CLEAR: readonly string[] = ["clear.test", "plain.test"];

/** Machines, proxies, the names that lead to machines, and the records of their requests. */
export class World implements MachineOwner {
  readonly machines: Machine[] = [];
  readonly wrong: string[] = [];
  readonly entries: Map<number, Entry> = new Map();
  /** An address that the client may not connect to; undefined: none. */
  refused: { readonly address: string; readonly whenRedirected: boolean } | undefined = undefined;
  readonly #names = new Map<string, Found>();
  readonly #led = new Set<string>();
  readonly #proxies = new Map<Way, TestProxy>();
  /** The ways by which hosts are to be reached; those that are not here: by no proxy. */
  readonly #ways = new Map<string, Way>();
  /** The proxies' connections to machines, by both ends, and until when machines may have accepted them. */
  readonly #upstream = new Map<string, { readonly way: Way; until: number }>();
  #clear!: Machine;

  /** The system's look-up, as a client gets it. */
  readonly lookup: LookupFunction = (host, options, done) => {
    const found = this.#names.get(host) ?? "fails";
    if (found === "hangs") return;
    setImmediate(() => {
      if (found === "fails") return done(Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" }), "");
      const addresses = found.map((address) => ({ address, family: 4 }));
      if (options.all) done(null, addresses);
      else done(null, addresses[0]!.address, 4);
    });
  };

  /** Starts the machines. */
  async start(): Promise<void> {
    for (const options of MACHINES) {
      const machine = new Machine(options, this);
      machine.listener.port = this.machines[0]?.listener.port ?? 0;
      await machine.listener.start();
      this.machines.push(machine);
    }
    this.#clear = new Machine({ address: "127.0.0.1", ...ANYTHING }, this);
    await this.#clear.listener.start();
    this.machines.push(this.#clear);
    for (const scheme of ["http", "https", "socks5", "socks5h"] as const) await this.#startProxy(scheme);
  }

  /** Chooses what the client may not connect to. */
  refuse(random: SeededRandom, isCalm: boolean): void {
    const refused = [{ address: "127.0.0.3", whenRedirected: false }, { address: "127.0.0.2", whenRedirected: true }];
    this.refused = isCalm ? undefined : random.pick([undefined, ...refused]);
  }

  /** Resets the world for the next program. */
  async reset(speaksH2c: boolean): Promise<void> {
    this.entries.clear();
    this.#led.clear();
    this.wrong.length = 0;
    this.#ways.clear();
    this.#clear.speaksH2c = speaksH2c;
    for (const host of SECURE) this.lead(host, [host.endsWith("many.test") ? "127.0.0.2" : "127.0.0.1"]);
    for (const host of CLEAR) this.lead(host, ["127.0.0.1"]);
    for (const listener of this.listeners) await this.revive(listener);
  }

  /** Sets the result of further look-ups of the host. */
  lead(host: string, found: Found): void {
    this.#names.set(host, found);
    if (typeof found === "string") return;
    for (const address of found) this.#led.add(`${host} ${address}`);
  }

  /** Sets the way to a host; not changed while a client runs. */
  setWay(host: string, way: Way): void {
    this.#ways.set(host, way);
  }

  /** Returns the proxy that a client has to take for a host. */
  proxyOf(host: string): string | undefined {
    const way = this.#ways.get(host);
    return way && `${way}://127.0.0.1:${this.#proxies.get(way)!.listener.port}`;
  }

  /**
   * Returns the proxy through which a connection has reached a machine. @param ends Port and address of the client, and of
   * the machine.
   */
  wayOf(ends: string, acceptedAt: number): Way {
    const upstream = this.#upstream.get(ends);
    return upstream !== undefined && acceptedAt < upstream.until ? upstream.way : undefined;
  }

  /** Returns the way by which a host is to be reached. */
  dueWayOf(host: string): Way {
    return this.#ways.get(host);
  }

  /** The listeners of machines and proxies. */
  get listeners(): Listener[] {
    return [...this.machines, ...this.#proxies.values()].map(({ listener }) => listener);
  }

  /** Makes a listener listen again, if it does not. */
  async revive(listener: Listener): Promise<void> {
    if (!listener.listening) await listener.start();
  }

  /** The number of sockets that machines and proxies have open. */
  get sockets(): number {
    return this.listeners.reduce((sum, { sockets }) => sum + sockets.size, 0);
  }

  async stop(): Promise<void> {
    for (const listener of this.listeners) await listener.stop();
  }

  async #startProxy(scheme: ProxyScheme): Promise<void> {
    const proxy = new TestProxy(scheme, {
      lead: (host) => isIP(host) ? host : this.#addressOf(host),
      onUpstream: (socket) => {
        const upstream = { way: scheme, until: Infinity };
        this.#upstream.set(`${socket.localPort} ${socket.remoteAddress} ${socket.remotePort}`, upstream);
        socket.on("close", () => upstream.until = performance.now() + LATE);
      },
    });
    this.#proxies.set(scheme, await proxy.start());
  }

  #addressOf(host: string): string | undefined {
    const found = this.#names.get(host);
    return typeof found === "object" ? found[0] : undefined;
  }

  entryOf(id: number): Entry | undefined {
    return this.entries.get(id);
  }

  refuses(address: string, isRedirected: boolean): boolean {
    return this.refused?.address === address && (isRedirected || !this.refused.whenRedirected);
  }

  hasLed(host: string, address: string): boolean {
    return this.#led.has(`${host} ${address}`);
  }

  urlOf(host: string, path: string): string {
    const isClear = CLEAR.includes(host);
    const { port } = (isClear ? this.#clear : this.machines[0]!).listener;
    return `${isClear ? "http" : "https"}://${host}:${port}${path}`;
  }

  note(wrong: string): void {
    this.wrong.push(wrong);
  }
}
