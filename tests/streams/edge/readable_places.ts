import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex, finished, isErrored, isReadable, PassThrough, pipeline, Readable } from "node:stream";
import * as nodeStream from "node:stream";
import * as consumers from "node:stream/consumers";
import { inspect } from "node:util";
import { native, outcome, outcomeFromOutside, type Places, type Use } from "./cells.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Stream = ReadableStream<Bytes>;
type NodeReadable = Parameters<typeof Readable.fromWeb>[0];

const natives = native.ReadableStream.prototype;
const nativeLocked = Object.getOwnPropertyDescriptor(natives, "locked")!.get!;
const bodyReads = ["text", "json", "arrayBuffer", "bytes", "blob"] as const;

const ofBody = (body: Response | Request) => ({ used: body.bodyUsed, locked: body.body?.locked });
const plain = async (value: unknown): Promise<unknown> => {
  if (value instanceof Blob) return await value.text();
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return new TextDecoder().decode(value);
  return value;
};

/** Reads a body in one way, and looks at it before, meanwhile and afterwards. */
function read(body: Response | Request, method: (typeof bodyReads)[number]): Use {
  return async () => {
    const before = ofBody(body);
    const reading = outcome(() => body[method]().then(plain));
    const meanwhile = ofBody(body);
    return [before, meanwhile, await reading, ofBody(body), await outcome(() => body.text())];
  };
}

function clone(body: Response | Request): Use {
  return async () => {
    let copy: Response | Request;
    try {
      copy = body.clone();
    } catch (error) {
      return [(error as Error).name, ofBody(body)];
    }
    const locks = [ofBody(body), ofBody(copy)];
    return [locks, await Promise.all([outcome(() => body.text()), outcome(() => copy.text())]), ofBody(body)];
  };
}

const post = (body: Stream): Request =>
  new Request("http://localhost/", { method: "POST", body, duplex: "half" } as RequestInit);

async function textOf(stream: ReadableStream<unknown>): Promise<string> {
  const reader = natives.getReader.call(stream) as ReadableStreamDefaultReader;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += typeof value === "string" ? value : new TextDecoder().decode(value);
  }
}

// @types/node has it as a member of Readable alone
const { isDisturbed } = nodeStream as unknown as { isDisturbed(stream: unknown): boolean };
const asNode = (stream: Stream): NodeReadable => stream as unknown as NodeReadable;

/** Runs a pipeline with what collects text at its end. */
const collected = (run: (out: PassThrough, done: (error?: unknown) => void) => void): Promise<unknown> =>
  outcome(() =>
    new Promise((resolve, reject) => {
      const out = new PassThrough();
      let text = "";
      out.on("data", (chunk) => text += chunk).on("error", () => {});
      run(out, (error) => error ? reject(error) : setImmediate(() => resolve(text)));
    })
  );

/** Bodies, in each of their ways to be read. */
export const bodies: Places<Stream> = {
  ...Object.fromEntries(
    bodyReads.map((method) => [`Response.${method}()`, (stream: Stream) => read(new Response(stream), method)]),
  ),
  "Request.text()": (stream) => read(post(stream), "text"),
  "Response.clone()": (stream) => clone(new Response(stream)),
  "Request.clone()": (stream) => clone(post(stream)),
  "new Request(request)": (stream) => {
    const request = post(stream);
    return async () => {
      const copy = new Request(request, { duplex: "half" } as RequestInit);
      return [ofBody(request), ofBody(copy), await outcome(() => copy.text()), await outcome(() => request.text())];
    };
  },
  "new Response(response.body)": (stream) => {
    const response = new Response(stream);
    return async () => {
      const copy = new Response(response.body);
      return [copy.body === response.body, ofBody(copy), await outcome(() => copy.text()), ofBody(response)];
    };
  },
  "Response.body, read": (stream) => {
    const response = new Response(stream);
    return async () => [
      await outcome(async () => {
        const reader = response.body!.getReader();
        const { value } = await reader.read();
        return [await plain(value), ofBody(response)];
      }),
      await outcome(() => response.text()),
    ];
  },
};

/** The runtime's own methods and getters. */
export const methods: Places<Stream> = {
  locked: (stream) => () => [stream.locked, nativeLocked.call(stream)],
  "getReader()": (stream) => () => outcome(() => textOf(stream)),
  "getReader(), released": (stream) => () => {
    const reader = natives.getReader.call(stream) as ReadableStreamDefaultReader;
    reader.closed.catch(() => {});
    const locked = stream.locked;
    reader.releaseLock();
    return [locked, stream.locked, nativeLocked.call(stream)];
  },
  "cancel()": (stream) => async () => [await outcome(() => natives.cancel.call(stream)), stream.locked],
  "tee()": (stream) => () =>
    outcome(() => Promise.all((natives.tee.call(stream) as Stream[]).map((branch) => textOf(branch)))),
  "pipeTo()": (stream) => async () => {
    let text = "";
    const write = async (chunk: Bytes): Promise<void> => void (text += await plain(chunk));
    return [
      await outcome(() => natives.pipeTo.call(stream, new native.WritableStream({ write }))),
      text,
      stream.locked,
    ];
  },
  "pipeThrough()": (stream) => () =>
    outcome(() => textOf(natives.pipeThrough.call(stream, new native.TextDecoderStream() as never))),
  "pipeThrough() of a CompressionStream": (stream) => () =>
    outcomeFromOutside(async () => {
      const pair = new CompressionStream("gzip") as ReadableWritablePair;
      return typeof await textOf(natives.pipeThrough.call(stream, pair));
    }),
  "structuredClone()": (stream) => () =>
    outcomeFromOutside(async () => {
      const copy = structuredClone(stream, { transfer: [stream as Transferable] });
      return [stream.locked, await textOf(copy)];
    }),
  "structuredClone() without transfer": (stream) => () => outcome(() => structuredClone(stream)),
};

/** `node:stream` and `node:util`. */
export const nodeModules: Places<Stream> = {
  "consumers.text()": (stream) => () => outcome(() => consumers.text(asNode(stream))),
  "Readable.fromWeb()": (stream) => () => outcome(() => consumers.text(Readable.fromWeb(asNode(stream)))),
  "Readable.from()": (stream) => () => outcome(async () => (await Readable.from(stream).toArray()).join()),
  "Duplex.from()": (stream) => () => collected((out, done) => pipeline(Duplex.from(stream as never), out, done)),
  "pipeline() into a node stream": (stream) => () => collected((out, done) => pipeline(asNode(stream), out, done)),
  "pipeline() into a native WritableStream": (stream) => () => {
    let text = "";
    const write = (chunk: Bytes): void => void (text += new TextDecoder().decode(chunk));
    const sink = new native.WritableStream({ write });
    return outcome(() =>
      new Promise((resolve) => pipeline(asNode(stream), sink as never, (error) => resolve([error?.name, text])))
    );
  },
  "finished()": (stream) => () =>
    outcome(() => new Promise((resolve) => finished(stream as never, (error) => resolve(error?.name)))),
  "isDisturbed() and the like": (stream) => () => [
    isDisturbed(stream),
    isErrored(stream as never),
    isReadable(stream as never),
  ],
  "inspect()": (stream) => () => inspect(stream, { depth: 0 }).replace("Subclass", "ReadableStream"),
};

interface BunGlobal {
  write(path: string, data: unknown): Promise<number>;
  readableStreamToText(stream: Stream): Promise<string>;
  readableStreamToJSON(stream: Stream): Promise<unknown>;
  readableStreamToBytes(stream: Stream): Promise<Uint8Array>;
  readableStreamToArrayBuffer(stream: Stream): Promise<ArrayBuffer>;
  readableStreamToBlob(stream: Stream): Promise<Blob>;
  readableStreamToArray(stream: Stream): Promise<Bytes[]>;
}
interface Rewriter {
  transform(response: Response): Response;
}

/** What Bun has besides. */
export const bunPlaces: Places<Stream> = {
  ...Object.fromEntries(
    (["Text", "JSON", "Bytes", "ArrayBuffer", "Blob", "Array"] as const).map((kind) => [
      `Bun.readableStreamTo${kind}()`,
      (stream: Stream) => () =>
        outcome(async () => {
          const { Bun } = globalThis as unknown as { Bun: BunGlobal };
          const value = await Bun[`readableStreamTo${kind}`](stream);
          return Array.isArray(value) ? value.map(String) : await plain(value);
        }),
    ]),
  ),
  "Bun.write()": (stream) => {
    const response = new Response(stream);
    return () =>
      outcomeFromOutside(async () => {
        const { Bun } = globalThis as unknown as { Bun: BunGlobal };
        const folder = await mkdtemp(join(tmpdir(), "millrace-edge-"));
        try {
          const written = await Bun.write(join(folder, "file"), response);
          return [written, await readFile(join(folder, "file"), "utf8")];
        } finally {
          await rm(folder, { recursive: true });
        }
      });
  },
  "HTMLRewriter": (stream) => {
    const response = new Response(stream);
    return () =>
      outcome(() => {
        const { HTMLRewriter } = globalThis as unknown as { HTMLRewriter: new () => Rewriter };
        return new HTMLRewriter().transform(response).text();
      });
  },
};
