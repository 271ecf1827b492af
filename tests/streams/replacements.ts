type Streams = typeof import("../../lib/streams/mod.ts");

const classes = [
  "ReadableStream",
  "ReadableStreamDefaultReader",
  "ReadableStreamBYOBReader",
  "ReadableStreamDefaultController",
  "WritableStream",
  "WritableStreamDefaultWriter",
  "TransformStream",
] as const;

function extend(name: (typeof classes)[number]): void {
  const Base = globalThis[name] as unknown as new () => object;
  const { [name]: value } = { [name]: class extends Base {} };
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

/**
 * Installs a class of its own, as zone.js does, and a `then()` of the language's promises that returns an instance of it.
 */
function zone(): void {
  const { Promise } = globalThis;
  const { then } = Promise.prototype;
  type Settle = (value: unknown) => void;
  type Reaction = (value: unknown) => unknown;
  class ZonePromise {
    readonly #native: Promise<unknown>;
    readonly zoneReactions: unknown[] = [];
    constructor(executor: (resolve: Settle, reject: Settle) => void) {
      this.#native = new Promise(executor);
    }
    get [Symbol.toStringTag](): string {
      return "Promise";
    }
    then(onFulfilled?: Reaction, onRejected?: Reaction): ZonePromise {
      this.zoneReactions.push(onFulfilled); // a TypeError for any other promise, as in zone.js
      return new ZonePromise((resolve, reject) => then.call(this.#native, resolve, reject))
        .#react(onFulfilled, onRejected);
    }
    #react(onFulfilled?: Reaction, onRejected?: Reaction): ZonePromise {
      return new ZonePromise((resolve, reject) =>
        then.call(then.call(this.#native, onFulfilled, onRejected), resolve, reject)
      );
    }
    catch(onRejected?: Reaction): ZonePromise {
      return this.then(undefined, onRejected);
    }
    finally(onFinally: () => void): ZonePromise {
      return this.then((value) => (onFinally(), value), (error) => {
        onFinally();
        throw error;
      });
    }
    static resolve(value: unknown): ZonePromise {
      return value instanceof ZonePromise ? value : new ZonePromise((resolve) => resolve(value));
    }
    static reject(error: unknown): ZonePromise {
      return new ZonePromise((_, reject) => reject(error));
    }
    static withResolvers(): object {
      const deferred = {};
      const promise = new ZonePromise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
      return Object.assign(deferred, { promise });
    }
    static all(values: Iterable<unknown>): ZonePromise {
      return ZonePromise.resolve(Promise.all(values));
    }
    static race(values: Iterable<unknown>): ZonePromise {
      return ZonePromise.resolve(Promise.race(values));
    }
  }
  Promise.prototype.then = function (...args: Parameters<typeof then>) {
    return new ZonePromise((resolve, reject) => then.call(this, resolve, reject)).then(...args as []) as never;
  };
  Object.defineProperty(globalThis, "Promise", { value: ZonePromise, writable: true, configurable: true });
}

/** Installs the replacement of mocks: a class that extends the language's, and does more in `then()`. */
function mockPromise(): void {
  class Mock<T> extends Promise<T> {
    override then<A = T, B = never>(...args: Parameters<Promise<T>["then"]>): Promise<A | B> {
      if (new Error().stack?.includes("lib/streams")) throw new Error("then() of a mock was called by our streams");
      return super.then(...args) as Promise<A | B>;
    }
  }
  Object.defineProperty(globalThis, "Promise", { value: Mock, writable: true, configurable: true });
}

/** Installs the replacement of instrumentation: `fetch()` and `Response` of its own. */
function wrapFetch(): void {
  const { fetch: before } = globalThis;
  globalThis.fetch = (...args) => before(...args).then((response) => new Response(response.body, response));
  globalThis.Response = class extends Response {};
}

/** Functions that replace globals, by name. */
export const replacements: Readonly<Record<string, () => void>> = {
  nothing() {},
  ...Object.fromEntries(classes.map((name) => [`${name} by a class that extends it`, () => extend(name)])),
  "all classes of streams by ones that extend them": () => classes.forEach(extend),
  "Promise as zone.js does": zone,
  "Promise by a mock": mockPromise,
  "fetch() and Response by wrappers": wrapFetch,
};

/** Uses streams of both kinds like a page or a server, and returns the outcomes. */
export async function tries(load: () => Promise<Streams>): Promise<Record<string, unknown>> {
  const native = { ReadableStream, WritableStream, TransformStream, TextEncoderStream };
  const ours = await load();
  const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  const decoded = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
    let text = "";
    for await (const chunk of stream) text += new TextDecoder().decode(chunk);
    return text;
  };
  const all: Record<string, () => Promise<unknown>> = {
    "iterate over fromNative()": () => decoded(ours.fromNative(new Blob(["abc"]).stream())),
    async "pipeTo() from a native stream"() {
      let text = "";
      const write = (chunk: Uint8Array): void => void (text += new TextDecoder().decode(chunk));
      await ours.pipeTo(new Blob(["abc"]).stream(), new ours.WritableStream({ write }));
      return text;
    },
    async "pipeTo() a native stream"() {
      let text = "";
      const write = (chunk: string): void => void (text += chunk);
      await ours.ReadableStream.from(["a", "b", "c"]).pipeTo(new native.WritableStream<string>({ write }));
      return text;
    },
    "pipeThrough() a native transform": () =>
      new Response(ours.ReadableStream.from(["abc"]).pipeThrough(new native.TextEncoderStream())).text(),
    "native pipeThrough() a transform": () =>
      new Response(new Response("abc").body!.pipeThrough(new ours.TransformStream())).text(),
    "Response of a stream": () => new Response(ours.ReadableStream.from([bytes("abc")])).text(),
    "Response of a byte stream": () =>
      new Response(
        new ours.ReadableStream({
          type: "bytes",
          start: (controller) => (controller.enqueue(bytes("abc")), controller.close()),
        }),
      ).text(),
    async "a reader of a promise that a source returns"() {
      let count = 0;
      const stream = new ours.ReadableStream<string>({
        async pull(controller) {
          await new Promise((passed) => setTimeout(passed));
          if (++count > 3) controller.close();
          else controller.enqueue("abc"[count - 1]!);
        },
      });
      let text = "";
      for await (
        const chunk of stream.pipeThrough(
          new ours.TransformStream({ transform: async (chunk, controller) => controller.enqueue(await chunk) }),
        )
      ) text += chunk;
      return text;
    },
    async "tee()"() {
      const [one, two] = ours.fromNative(new Blob(["abc"]).stream()).tee();
      return [await decoded(one), await decoded(two)].join() === "abc,abc" ? "abc" : "another";
    },
    async "toNative()"() {
      return await decoded(ours.toNative(ours.ReadableStream.from([bytes("abc")])));
    },
  };
  const seen: Record<string, unknown> = {};
  const late = (): Promise<string> => new Promise((resolve) => setTimeout(resolve, 10_000, "no answer"));
  for (const [name, run] of Object.entries(all)) {
    seen[name] = await Promise.race([run().catch((error: unknown) => String(error)), late()]);
  }
  return seen;
}
