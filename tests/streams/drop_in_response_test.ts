import { failsWith, failure, sameAsNative } from "./drop_in_comparison.ts";
import { type Bytes, byteSources, utf8, watched } from "./drop_in_streams.ts";

const pieces = ['{ "name":', ' "grüße",', ' "list": [1, 2', ", 3] }"];
const text = pieces.join("");

for (const [kind, make] of Object.entries(byteSources)) {
  sameAsNative(`new Response() reads ${kind} as text, JSON, bytes, a buffer and a blob`, async (streams) => {
    const response = (): Response => new Response(make(streams, pieces));
    const blob = await response().blob();
    return {
      text: await response().text(),
      json: await response().json(),
      bytes: [...await response().bytes()],
      arrayBuffer: [...new Uint8Array(await response().arrayBuffer())],
      blob: [blob.size, await blob.text()],
    };
  }, {
    expected: {
      text,
      json: JSON.parse(text),
      bytes: [...utf8(text)],
      arrayBuffer: [...utf8(text)],
      blob: [utf8(text).length, text],
    },
  });

  sameAsNative(`response.clone() reads ${kind} twice`, async (streams) => {
    const response = new Response(make(streams, pieces));
    const copy = response.clone();
    return await Promise.all([response.text(), copy.text()]);
  }, { expected: [text, text] });

  sameAsNative(`response.body of ${kind} can be iterated and piped on`, async (streams) => {
    let iterated = "";
    for await (const chunk of new Response(make(streams, pieces)).body!) iterated += [...chunk].join() + ",";
    let piped = "";
    const sink = new streams.WritableStream<string>({
      write(chunk): void {
        piped += chunk;
      },
    });
    await new Response(make(streams, pieces)).body!.pipeThrough(new TextDecoderStream()).pipeTo(sink);
    return { iterated, piped };
  }, { expected: { iterated: [...utf8(text)].join() + ",", piped: text } });
}

sameAsNative("an empty stream makes an empty body", async ({ ReadableStream }) => {
  const empty = (): Response => new Response(new ReadableStream({ start: (controller) => controller.close() }));
  return [await empty().text(), (await empty().bytes()).length, (await empty().blob()).size];
}, { expected: ["", 0, 0] });

sameAsNative("a body of thousands of chunks arrives whole", async (streams) => {
  const chunks = Array.from({ length: 5000 }, (_, i) => utf8(`${i};`.repeat(i % 50)));
  const body = await new Response(watched(streams, chunks).stream).text();
  return body === Buffer.concat(chunks).toString();
}, { expected: true });

sameAsNative("response.body is the stream that was given", ({ ReadableStream }) => {
  const stream = new ReadableStream();
  const { body } = new Response(stream);
  return { same: body === stream, instance: body instanceof globalThis.ReadableStream };
});

sameAsNative("response.bodyUsed and stream.locked change when the body is taken", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8));
  const response = new Response(stream);
  const state = (): unknown => [response.bodyUsed, response.body!.locked];
  const before = state();
  const reading = response.text();
  const during = state();
  await reading;
  return { before, during, used: response.bodyUsed, again: await failure(() => response.text()) };
});

sameAsNative("a stream whose body was read gives nothing more", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8));
  await new Response(stream).text();
  return [await failure(() => new Response(stream)), await failure(() => stream.pipeTo(new streams.WritableStream()))];
});

sameAsNative("a stream that is locked or was read from is no body", async (streams) => {
  const locked = watched(streams, pieces.map(utf8)).stream;
  locked.getReader();
  const disturbed = watched(streams, pieces.map(utf8)).stream;
  const reader = disturbed.getReader();
  await reader.read();
  reader.releaseLock();
  const cancelled = watched(streams, pieces.map(utf8)).stream;
  await cancelled.cancel();
  const tried = (stream: ReadableStream): unknown => {
    try {
      return new Response(stream).bodyUsed;
    } catch (error) {
      return (error as Error).name;
    }
  };
  return { locked: tried(locked), disturbed: tried(disturbed), cancelled: tried(cancelled) };
}, {
  expected: { locked: "TypeError", disturbed: "TypeError", cancelled: "TypeError" },
});

sameAsNative("a reader that was taken and released without a read leaves the stream a good body", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8));
  stream.getReader().releaseLock();
  return await new Response(stream).text();
}, { expected: text });

sameAsNative("a response whose stream is locked from outside cannot be read or cloned", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8));
  const response = new Response(stream);
  const reader = stream.getReader();
  const used = response.bodyUsed;
  const names = [await failure(() => response.clone()), await failure(() => response.text())];
  reader.releaseLock();
  return { used, names, afterwards: await new Response(watched(streams, pieces.map(utf8)).stream).text() };
});

sameAsNative("a failed stream fails every kind of consumption with its own error", async (streams) => {
  const reason = new RangeError("source broke");
  const broken = (): Response => new Response(watched(streams, [utf8("begun")], { failure: reason }).stream);
  return [
    await failsWith(reason, () => broken().text()),
    await failsWith(reason, () => broken().json()),
    await failsWith(reason, () => broken().bytes()),
    await failsWith(reason, () => broken().arrayBuffer()),
    await failsWith(reason, () => broken().blob()),
    await failsWith(reason, async () => {
      for await (const _ of broken().body!);
    }),
  ];
}, { expected: Array(6).fill(true) });

sameAsNative("a failed stream fails both branches of a clone", async (streams) => {
  const reason = new RangeError("source broke");
  const response = new Response(watched(streams, [utf8("begun")], { failure: reason }).stream);
  const copy = response.clone();
  return await Promise.all([failsWith(reason, () => response.text()), failsWith(reason, () => copy.text())]);
}, { expected: [true, true] });

sameAsNative("a source that throws in pull() fails the body with what it threw", async ({ ReadableStream }) => {
  const reason = new RangeError("pull broke");
  const thrower = (type?: "bytes"): Response => {
    const pull = (): never => {
      throw reason;
    };
    return new Response(new ReadableStream({ type, pull } as UnderlyingSource<Bytes>));
  };
  return [await failsWith(reason, () => thrower().text()), await failsWith(reason, () => thrower("bytes").text())];
}, { expected: [true, true] });

for (
  const [name, chunk] of Object.entries({
    "a string": "text",
    "a number": 17,
    null: null,
    undefined: undefined,
    "an array": [1, 2],
    "an ArrayBuffer": new ArrayBuffer(3),
    "a DataView": new DataView(new ArrayBuffer(3)),
    "a Uint16Array": new Uint16Array(3),
    "a blob": new Blob(["x"]),
  })
) {
  sameAsNative(`a chunk that is ${name} is taken or refused as in a native body`, async (streams) => {
    const body = (): Response => new Response(watched(streams, [utf8("a"), chunk]).stream as ReadableStream<Bytes>);
    return {
      text: await body().text().catch((error) => error.name),
      bytes: await body().bytes().then((bytes) => [...bytes], (error) => error.name),
      blob: await body().blob().then((blob) => blob.text(), (error) => error.name),
    };
  });
}

sameAsNative("response.body.cancel() reaches the source with its reason", async (streams) => {
  const { stream, cancelled } = watched(streams, pieces.map(utf8));
  const reason = new Error("unwanted");
  await new Response(stream).body!.cancel(reason);
  return await cancelled === reason;
}, { expected: true });

sameAsNative("cancelling both branches of a clone reaches the source", async (streams) => {
  const { stream, cancelled } = watched(streams, pieces.map(utf8));
  const response = new Response(stream);
  const copy = response.clone();
  await Promise.all([response.body!.cancel("one"), copy.body!.cancel("two")]);
  return await cancelled;
}, { expected: ["one", "two"] });

sameAsNative("a tee of a stream feeds two responses", async (streams) => {
  const [left, right] = watched(streams, pieces.map(utf8)).stream.tee();
  return [await new Response(left).text(), await new Response(right).text()];
}, { expected: [text, text] });
