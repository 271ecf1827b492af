import { failsWith, failure, sameAsNative } from "./drop_in_comparison.ts";
import { byteSources, utf8, watched } from "./drop_in_streams.ts";

const pieces = ['{ "name":', ' "grüße" }'];
const text = pieces.join("");

/** Returns options with `duplex`, which `lib.dom` lacks and a request with a stream needs. */
function post(body: ReadableStream, more: RequestInit = {}): RequestInit {
  return { method: "POST", body, duplex: "half", ...more } as RequestInit;
}

for (const [kind, make] of Object.entries(byteSources)) {
  sameAsNative(`new Request() reads ${kind} as text, JSON and bytes`, async (streams) => {
    const request = (): Request => new Request("http://host/", post(make(streams, pieces)));
    return {
      text: await request().text(),
      json: await request().json(),
      bytes: [...await request().bytes()],
      blob: await (await request().blob()).text(),
      body: await new Response(request().body).text(),
    };
  }, { expected: { text, json: JSON.parse(text), bytes: [...utf8(text)], blob: text, body: text } });
}

sameAsNative("a request with a stream has a body that is a native stream", ({ ReadableStream }) => {
  const stream = new ReadableStream();
  const { body } = new Request("http://host/", post(stream));
  return { same: body === stream, instance: body instanceof globalThis.ReadableStream };
});

sameAsNative("a request's clone reads the same stream", async (streams) => {
  const request = new Request("http://host/", post(watched(streams, pieces.map(utf8)).stream));
  const copy = request.clone();
  return await Promise.all([copy.text(), request.text()]);
}, { expected: [text, text] });

sameAsNative("a request made of a request takes its stream over", async (streams) => {
  const first = new Request("http://host/", post(watched(streams, pieces.map(utf8)).stream));
  const second = new Request(first);
  return { used: first.bodyUsed, locked: first.body!.locked, text: await second.text() };
});

sameAsNative("a stream without duplex, with GET or already locked makes no request", async (streams) => {
  const stream = (): ReadableStream => watched(streams, pieces.map(utf8)).stream;
  const locked = stream();
  locked.getReader();
  return [
    await failure(() => new Request("http://host/", { method: "POST", body: stream() })),
    await failure(() => new Request("http://host/", { ...post(stream()), method: "GET" })),
    await failure(() => new Request("http://host/", post(locked))),
  ];
});

sameAsNative("request.bodyUsed and stream.locked change when the body is taken", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8));
  const request = new Request("http://host/", post(stream));
  const before = [request.bodyUsed, request.body!.locked];
  const reading = request.text();
  const during = [request.bodyUsed, request.body!.locked];
  await reading;
  return { before, during, used: request.bodyUsed, again: await failure(() => request.text()) };
});

sameAsNative("a failed stream fails the request's body with its own error", async (streams) => {
  const reason = new RangeError("source broke");
  const broken = (): Request => {
    return new Request("http://host/", post(watched(streams, [utf8("begun")], { failure: reason }).stream));
  };
  return [await failsWith(reason, () => broken().text()), await failsWith(reason, () => broken().arrayBuffer())];
}, { expected: [true, true] });

sameAsNative("a form in a stream is parsed", async (streams) => {
  const form = "a=1&b=%C3%BC";
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const { stream } = watched(streams, [utf8(form.slice(0, 5)), utf8(form.slice(5))]);
  const request = new Request("http://host/", post(stream, { headers }));
  return [...(await request.formData()).entries()];
}, { expected: [["a", "1"], ["b", "ü"]] });
