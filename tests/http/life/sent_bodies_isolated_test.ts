import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { connect, type Socket } from "node:net";
import process from "node:process";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { HttpClient, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { tries } from "../../support/long_run.ts";
import { pause, turn, until } from "../../support/waits.ts";
import { chosenSeed, SeededRandom } from "../faults/seeded_random.ts";
import type { ServerRequest } from "../faults/server_request.ts";
import { PROTOCOLS, scene } from "../scene.ts";

/** MILLRACE_BODIES: the number of requests of each protocol; MILLRACE_SEED: the seed of the first. */
const requests = Number(process.env.MILLRACE_BODIES || tries(180));
/** The number of them that run at a time. */
const AT_A_TIME = 20;
/** The window of a stream that a server gives at first. */
const WINDOW = 65_535;

const PATTERN = Uint8Array.from({ length: 400_000 }, (_, i) => 32 + i % 64);

const KINDS = ["bytes", "text", "Blob", "stream", "iterator"] as const;
const ACTS = ["read", "keep", "collect", "read and close", "close", "abort", "destroy", "cancel"] as const;
/** Faults of the body's source, and of the server or its connection, before the body is sent. */
const FAULTS = ["source throws", "source is short", "source is long", "reset", "NO_ERROR", "destroy", "stall"] as const;
/** The acts after which the client still has to send the body. */
const PATIENT: readonly string[] = ["read", "keep", "collect", "read and close"] satisfies (typeof ACTS[number])[];

/** A random request: the kind of its body, the pace and answer of its server, and the act of its caller. */
class Plan {
  readonly #random: SeededRandom;
  #sum = 0;
  #isStalled = false;
  #isOver = false;
  readonly size: number;
  readonly kind: typeof KINDS[number];
  readonly isSized: boolean;
  readonly tellsProgress: boolean;
  readonly isSlow: boolean;
  readonly act: typeof ACTS[number];
  readonly fault: typeof FAULTS[number] | undefined;
  readonly faultAt: number;
  /** The bytes that the server has when it begins its response, and when it ends it. */
  readonly answerAt: number;
  readonly endAt: number;
  readonly steps: string[] = [];
  readonly reported: unknown[] = [];
  readonly faults: string[] = [];
  request: ServerRequest | undefined;
  /** Whether the system had all of the body when its server was gone. */
  way: SlowWay | undefined;

  constructor(seed: number, isH2: boolean) {
    const random = this.#random = new SeededRandom(seed);
    this.size = random.below(random.pick([2, 100, 40_000, 120_000, 400_000]));
    this.kind = random.pick(KINDS);
    const isStream = this.kind === "stream" || this.kind === "iterator";
    this.isSized = !isStream || random.chance(0.5);
    this.tellsProgress = random.chance(0.3);
    this.isSlow = !isH2 || random.chance(0.5);
    this.act = random.pick(ACTS);
    const fault = random.chance(0.4) ? random.pick(FAULTS) : undefined;
    const isPossible = fault?.startsWith("source")
      ? isStream && this.size > 0 && (fault === "source throws" || this.isSized)
      : isH2 || fault !== "NO_ERROR";
    this.fault = isPossible ? fault : undefined;
    this.faultAt = random.below(this.size);
    this.answerAt = random.pick([0, random.below(this.size), this.size]);
    this.endAt = Math.max(this.answerAt, random.pick([0, random.below(this.size), this.size]));
  }

  body(): HttpRequestInit["body"] {
    const { kind } = this;
    const bytes = PATTERN.slice(0, this.size);
    for (const byte of bytes) this.#sum += byte;
    if (kind === "bytes") return bytes;
    if (kind === "text") return Buffer.from(bytes).toString("latin1");
    if (kind === "Blob") return new Blob([bytes]);
    const pieces = this.#pieces(bytes);
    if (kind === "iterator") return pieces;
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
  }

  async *#pieces(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const size = this.#random.pick([1 + (this.size >> 4), 20_000, 100_000]);
    for (let at = 0; at < this.size; at += size) {
      if (this.#random.chance(0.3)) await this.wait();
      if (this.fault === "source throws" && at + size > this.faultAt) throw new Error("disk gone");
      if (this.fault === "source is short" && at + size >= this.size) return;
      yield bytes.slice(at, at + size);
    }
    if (this.fault === "source is long") yield new Uint8Array(1);
  }

  wait(): Promise<void> {
    return this.#random.chance(0.5) ? turn() : pause(this.#random.below(6));
  }

  /** Answers, reads by fits and starts, and fails, as the plan says. */
  serve(request: ServerRequest): void {
    this.request = request;
    let [isAnswered, hasEnded, hasFailed] = [false, false, false];
    const step = (): void => {
      const { received, isWhole } = request;
      if (!isAnswered && (received >= this.answerAt && this.answerAt < this.size || isWhole)) {
        isAnswered = true;
        request.head(200);
        request.data(Buffer.from("early "));
      }
      if (isAnswered && !hasEnded && (received >= this.endAt && this.endAt < this.size || isWhole)) {
        hasEnded = true;
        request.data(Buffer.from("late"));
        request.end();
      }
      if (!hasFailed && received >= this.faultAt) {
        hasFailed = true;
        if (this.fault === "reset") request.reset(2);
        if (this.fault === "NO_ERROR") request.reset(0);
        if (this.fault === "destroy") request.socket.destroy();
        if (this.fault === "stall" && this.way !== undefined) this.way.isStalled = true;
      }
      this.#isStalled ||= this.fault === "stall" && received >= this.faultAt;
      if (this.#isOver || !(this.#isStalled || this.#random.chance(0.5))) return;
      request.isHolding = true;
      void this.wait().then(() => request.isHolding = this.#isStalled && !this.#isOver);
    };
    request.onBytes = request.onWhole = step;
    step();
  }

  /** The client is done: the server reads on. */
  end(): void {
    this.#isOver = true;
    if (this.request !== undefined) this.request.isHolding = false;
  }

  get isWhole(): boolean {
    const { request } = this;
    return request?.isWhole === true && request.received === this.size && request.sum === this.#sum;
  }

  /** Whether the system can have taken all of the body, as far as the server and the stream know. */
  get canBeSent(): boolean {
    return this.way === undefined ? this.size <= (this.request?.received ?? 0) + WINDOW : this.way.passed >= this.size;
  }

  /** Notes a report of success at a time when the body cannot have been sent. */
  onSent(what: string): void {
    if (!this.canBeSent) this.faults.push(`${what} was told before the body was sent`);
  }

  onUnheld(): void {
    if (this.fault !== undefined || !PATIENT.includes(this.act) || this.canBeSent) return;
    this.faults.push("the process was not kept alive while the body was sent");
  }

  /** Returns what is wrong. */
  judge(): string[] {
    const { fault, act, reported, isWhole, canBeSent, steps } = this;
    const isWanted = fault === undefined && PATIENT.includes(act);
    const isLeft = act === "cancel" || fault === "NO_ERROR";
    // A client cannot know which bytes the server has not read after the system has taken them.
    const isUnknown = canBeSent && (fault !== undefined || act === "destroy");
    const rules: [isKept: boolean, broken: string][] = [
      [isWhole || !isWanted, "it was cut"],
      [reported.length === 0 || !isWanted, "its failure was told"],
      [isWhole || reported.length > 0 || isLeft || isUnknown, "it was lost in silence"],
      [isWhole || !steps.includes("trailers") || isLeft || isUnknown, "its success was published"],
      [steps.toSorted().join() === "bodySent,trailers" || !isWanted, "its steps were published otherwise"],
    ];
    return [...rules.filter(([isKept]) => !isKept).map(([, broken]) => broken), ...this.faults];
  }

  toString(): string {
    const { size, kind, isSized, isSlow, tellsProgress, act, fault, faultAt, answerAt, endAt } = this;
    const { received, isWhole } = this.request ?? {};
    const { reported, steps } = this;
    return JSON.stringify({
      size,
      kind,
      isSized,
      isSlow,
      tellsProgress,
      act,
      fault,
      faultAt,
      answerAt,
      endAt,
      received,
      isWhole,
    }) +
      ` ${steps} ${reported}`;
  }
}

/** A connection whose system takes bytes by fits and starts. */
class SlowWay extends Duplex {
  passed = 0;
  isStalled = false;
  readonly #socket: Socket;
  readonly #plan: Plan;
  #isHeld = true;

  constructor(socket: Socket, plan: Plan) {
    super({ highWaterMark: 16_384 });
    this.#socket = socket;
    this.#plan = plan;
    socket.on("data", (bytes) => this.push(bytes)).on("end", () => this.push(null));
    socket.on("error", () => {}).on("close", () => this.destroy());
  }

  ref(): void {
    this.#isHeld = true;
  }

  unref(): void {
    this.#isHeld = false;
  }

  override _read(): void {}

  override _write(bytes: Uint8Array, _: string, done: () => void): void {
    void this.#pass(Uint8Array.from(bytes)).then(done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  async #pass(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !this.destroyed; at += 30_000) {
      await this.#plan.wait();
      while (this.isStalled && !this.destroyed) await pause(5);
      if (!this.#isHeld) this.#plan.onUnheld();
      const piece = bytes.subarray(at, at + 30_000);
      this.#socket.write(piece);
      this.passed += piece.length;
    }
  }
}

async function send(plan: Plan, url: string, isH2: boolean): Promise<void> {
  const { act, fault, reported } = plan;
  const ms = fault === "stall" ? 60 : 0;
  const client = new HttpClient({
    h2c: isH2,
    headersTimeout: ms,
    bodyTimeout: ms,
    pingTimeout: ms || 10_000, // the limit of the end, too
    closeTimeout: act === "close" || act === "read and close" ? 1 : 0,
    connect: plan.isSlow
      ? ({ hostname, port }) => plan.way = new SlowWay(connect({ host: hostname, port }), plan)
      : undefined,
    onEvent: (event) => void (event.type === "failed" && reported.push(event.error)),
  });
  const note = (error: unknown): void => void reported.push(error);
  const controller = new AbortController();
  const init: HttpRequestInit = { method: "POST", body: plan.body(), signal: controller.signal };
  if (plan.isSized && plan.kind !== "text") init.headers = { "content-length": String(plan.size) };
  if (plan.tellsProgress) {
    init.onUploadProgress = ({ sent, total }) => {
      if (sent === total) plan.onSent("all of it");
      else if (!plan.isSlow && sent > (plan.request?.received ?? 0) + WINDOW) {
        plan.faults.push("more than the window was told");
      }
    };
  }
  const ended = (): Promise<void> =>
    until(() => plan.isWhole || reported.length > 0 || client.stats().active === 0, `the end of ${plan}`);
  try {
    if (act === "collect") await client.fetch(url, init).then(({ status }) => status);
    else await use(await client.fetch(url, init));
  } catch (error) {
    note(error);
  }
  await ended();
  await until(() => client.stats().active === 0, `the end of the call: ${plan}`);
  await client.close();
  plan.end();
  if (plan.request !== undefined) {
    await until(() => plan.isWhole || plan.request!.isGone, `the end at the server: ${plan}`);
  }

  async function use(response: Response): Promise<void> {
    if (act === "keep") await ended();
    if (act === "cancel") await response.body!.cancel();
    else if (act === "close") await Promise.all([client.close(), ended().then(() => response.text())]);
    else {
      const text = response.text().catch(note);
      if (act === "abort") controller.abort();
      else if (act === "destroy") client.destroy();
      else await text;
      if (act === "read and close") await client.close();
    }
  }
}

for (const protocol of PROTOCOLS) {
  test(`${protocol}: whatever a server and a caller do, a body is sent whole, or its failure is told`, async () => {
    const isH2 = protocol === "h2c";
    const first = chosenSeed();
    const plans = Array.from({ length: requests }, (_, i) => new Plan(first + i, isH2));
    const planOf = (path: string): Plan => plans[Number(path.slice(1))];
    const told = (message: unknown, name: string | symbol): void => {
      const { path } = (message as { request: { path: string } }).request;
      if (path.startsWith("/fine")) return;
      const step = String(name).split(":")[2];
      planOf(path).steps.push(step);
      if (step === "bodySent") planOf(path).onSent(step);
    };
    const channels = ["bodySent", "trailers", "error"].map((step) => `undici:request:${step}`);
    for (const channel of channels) subscribe(channel, told);
    const collecting = setInterval(() => collectGarbage?.(), 250);
    try {
      await scene(protocol, {}, (request) => planOf(request.path).serve(request), async ({ url }) => {
        let next = 0;
        const failures: string[] = [];
        const runs = Array.from({ length: AT_A_TIME }, async () => {
          for (let i = next++; i < requests; i = next++) {
            const plan = plans[i];
            await send(plan, `${url}/${i}`, isH2);
            const faults = plan.judge();
            if (faults.length > 0) failures.push(`MILLRACE_SEED=${first + i}: ${faults}: ${plan}`);
          }
        });
        await Promise.all(runs);
        assert.deepEqual(failures, []);
      });
    } finally {
      clearInterval(collecting);
      for (const channel of channels) unsubscribe(channel, told);
    }
  });
}
