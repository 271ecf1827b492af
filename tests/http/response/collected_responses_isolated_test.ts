import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { HttpClient, type HttpClientOptions, type HttpInterceptor } from "../../../lib/http/mod.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { atLast, pause, until } from "../../support/waits.ts";
import { respond, whenWhole } from "../faults/server_request.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const skip = collectGarbage === undefined;
const pass: HttpInterceptor = (request, next) => next(request);

/** Ways to read a response to its end, which need not be held meanwhile. */
const ways: Record<string, (response: Response) => Promise<unknown>> = {
  "text()": (response) => response.text(),
  "text() after a look at the body": (response) => {
    assert.equal(response.body?.locked, false);
    return response.text();
  },
  "bytes() of a clone, after a look at the body": async (response) => {
    assert.equal(response.body?.locked, false);
    return Buffer.from(await response.clone().bytes()).toString();
  },
  "the stream": async (response) => {
    let text = "";
    for await (const chunk of response.body!) text += Buffer.from(chunk as Uint8Array).toString();
    return text;
  },
};

for (const protocol of PROTOCOLS) {
  test(
    `${protocol}: a response that is collected while it is read is read to its end`,
    { skip },
    () =>
      scene(protocol, { maxConcurrentStreams: 100, connections: 100 }, (request) => {
        request.head(200);
        request.data(Buffer.from("begin, "));
      }, async ({ client, url, requests }) => {
        const intercepting = new HttpClient({ h2c: protocol === "h2c", intercept: [pass] });
        const found: Record<string, unknown> = {};
        const clients = { plain: client, intercepting };
        const calls = Object.entries(clients).flatMap(([name, { fetch }]) =>
          Object.entries(ways).map(([way, read]) => {
            const set = (text: unknown): void => void (found[`${name}: ${way}`] = text);
            return fetch(`${url}/${name}`).then((response) => read(response as Response)).then(set, set);
          })
        );
        await until(() => requests.length === calls.length, "the requests");
        for (let times = 0; times < 5; times++) {
          await pause(10);
          collectGarbage!();
        }
        for (const request of requests) {
          request.data(Buffer.from("end"));
          request.end();
        }
        await Promise.all(calls);
        for (const [call, text] of Object.entries(found)) assert.equal(text, "begin, end", call);
        assert.equal(Object.keys(found).length, calls.length);
        await intercepting.close();
      }),
  );
}

/** Collects garbage until nothing is left, or the limit of waits passes; returns the names of what is not collected. */
async function kept(held: Record<string, WeakRef<object>>): Promise<string[]> {
  let left: string[] = [];
  await atLast(async () => {
    await pause(left.length === 0 ? 2 : 50);
    collectGarbage!();
    left = Object.keys(held).filter((what) => held[what].deref() !== undefined);
    return left.length === 0;
  });
  return left;
}

/** Options by which a call fails. */
const limits: HttpClientOptions[] = [
  { timeout: 5 },
  { headersTimeout: 5 },
  { bodyTimeout: 5 },
  { maxResponseSize: 1 },
  { closeTimeout: 5 },
];

for (const protocol of PROTOCOLS) {
  test(
    `${protocol}: an error that is kept, and was not looked at, holds nothing of its request`,
    { skip },
    () =>
      scene(protocol, {}, (request) => {
        if (request.path === "/timeout" || request.path === "/headersTimeout") return;
        request.head(200);
        request.data(Buffer.from("begin"));
      }, async ({ url }) => {
        const held: Record<string, WeakRef<object>> = {};
        /** Runs in a separate function, so that its variables can be collected. */
        const fail = async (client: HttpClient, way: string, name: string): Promise<void> => {
          const body = new Blob(["body"]);
          const request = new Request(`${url}/${way}`, { method: "POST" });
          held[`${name}, ${way}: body`] = new WeakRef(body);
          held[`${name}, ${way}: Request`] = new WeakRef(request);
          const response = await client.fetch(request, { body });
          if (way === "closeTimeout") await client.close();
          await response.text();
        };
        const errors: unknown[] = [];
        for (const options of limits) {
          for (const [name, intercept] of Object.entries({ plain: [], intercepting: [pass] })) {
            const client = new HttpClient({ h2c: protocol === "h2c", intercept, ...options });
            await fail(client, Object.keys(options)[0], name).catch((error) => errors.push(error));
            client.destroy();
          }
        }
        assert.deepEqual(await kept(held), []);
        assert.equal(errors.length, 2 * limits.length);
      }),
  );
}

/** Ways to leave a response that has come whole. */
const leaves: Record<string, (response: Response) => Promise<unknown>> = {
  ...ways,
  "not at all": () => Promise.resolve(),
  "a look at the body": (response) => Promise.resolve(response.body),
  "cancel()": async (response) => await response.body?.cancel(),
  "the clone alone": (response) => response.clone().text(),
};

for (const protocol of PROTOCOLS) {
  test(
    `${protocol}: a response that has come whole holds nothing of its request`,
    { skip },
    () =>
      scene(protocol, {}, (request) => {
        whenWhole(request, () => respond(request, 200, Buffer.from("begin, end")));
      }, async ({ client, url }) => {
        const intercepting = new HttpClient({ h2c: protocol === "h2c", intercept: [pass] });
        const held: Record<string, WeakRef<object>> = {};
        /** Runs in a separate function, so that its variables can be collected. */
        const call = async (way: string, name: string, { fetch }: HttpClient): Promise<Response> => {
          const hold = <T extends object>(what: string, value: T): T => {
            held[`${name}, ${way}: ${what}`] = new WeakRef(value);
            return value;
          };
          const body = hold("body", new Blob(["body"]));
          const onUploadProgress = hold("onUploadProgress", () => {});
          const { signal } = new AbortController();
          const trailers = protocol === "h2c" ? { "x-sum": hold("trailer", () => "1") } : undefined;
          const request = hold("Request", new Request(url, { method: "POST", signal }));
          const response = await fetch(request, { body, onUploadProgress, trailers });
          await leaves[way](response as Response);
          return response;
        };
        const responses: Response[] = [];
        for (const way of Object.keys(leaves)) {
          responses.push(await call(way, "plain", client), await call(way, "intercepting", intercepting));
        }
        await until(() => client.stats().active + intercepting.stats().active === 0, "the ends");
        assert.deepEqual(await kept(held), []);
        assert.equal(responses.length, 2 * Object.keys(leaves).length);
        await intercepting.close();
      }),
  );
}
