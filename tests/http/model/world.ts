import type { LookupFunction } from "node:net";
import { certificates } from "../certificates.ts";
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

/** What looking up a host comes to: addresses, an error, or nothing ever. */
export type Found = readonly string[] | "fails" | "hangs";

/** Hosts with https, and those without. */
export const SECURE: readonly string[] = ["one.test", "two.test", "a.many.test", "b.many.test"];
export const CLEAR: readonly string[] = ["clear.test", "plain.test"];

/** Machines, the names that lead to them, and the books of what they were asked for. Proxies would be machines of their own. */
export class World implements MachineOwner {
  readonly machines: Machine[] = [];
  readonly wrong: string[] = [];
  readonly entries: Map<number, Entry> = new Map();
  readonly #names = new Map<string, Found>();
  readonly #led = new Set<string>();
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
  }

  /** Begins anew. */
  async reset(speaksH2c: boolean): Promise<void> {
    this.entries.clear();
    this.#led.clear();
    this.wrong.length = 0;
    this.#clear.speaksH2c = speaksH2c;
    for (const host of SECURE) this.lead(host, [host.endsWith("many.test") ? "127.0.0.2" : "127.0.0.1"]);
    for (const host of CLEAR) this.lead(host, ["127.0.0.1"]);
    for (const machine of this.machines) await this.revive(machine);
  }

  /** From now on a look-up of the host comes to this. */
  lead(host: string, found: Found): void {
    this.#names.set(host, found);
    if (typeof found === "string") return;
    for (const address of found) this.#led.add(`${host} ${address}`);
  }

  /** Has a machine listen again, if it does not. */
  async revive(machine: Machine): Promise<void> {
    if (!machine.listener.listening) await machine.listener.start();
  }

  /** How many sockets machines have open. */
  get sockets(): number {
    return this.machines.reduce((sum, { listener }) => sum + listener.sockets.size, 0);
  }

  async stop(): Promise<void> {
    for (const { listener } of this.machines) await listener.stop();
  }

  entryOf(id: number): Entry | undefined {
    return this.entries.get(id);
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
