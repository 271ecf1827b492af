import { native, outcome, outcomeFromOutside, type Places, type Use } from "./cells.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Stream = ReadableStream<Bytes>;

const natives = native.ReadableStream.prototype;
const nativeLocked = Object.getOwnPropertyDescriptor(natives, "locked")!.get!;
const bodyReads = ["text", "json", "arrayBuffer", "bytes", "blob"] as const;

export const ofBody = (body: Response | Request): { used: boolean; locked: boolean | undefined } => ({
  used: body.bodyUsed,
  locked: body.body?.locked,
});
export const plain = async (value: unknown): Promise<unknown> => {
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

export async function textOf(stream: ReadableStream<unknown>): Promise<string> {
  const reader = natives.getReader.call(stream) as ReadableStreamDefaultReader;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += typeof value === "string" ? value : new TextDecoder().decode(value);
  }
}

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
