import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import { HttpClient, type HttpClientEvent, type HttpClientOptions } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { Origin, type Protocol } from "../faults/origin.ts";
import { until, within } from "../../support/waits.ts";
import { respond } from "../faults/server_request.ts";
import { type ProxyScheme, TestProxy, type TestProxyOptions } from "./test_proxy.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** A client, a proxy and an origin. */
export interface ProxiedScene {
  readonly client: HttpClient;
  readonly proxy: TestProxy;
  readonly origin: Origin;
  /** The URL of the origin by the name in its certificate, without a path. */
  readonly url: string;
  readonly events: HttpClientEvent[];
}

/** The settings of a scene. */
export interface ProxiedSceneOptions extends TestProxyOptions {
  readonly client?: (proxy: TestProxy) => HttpClientOptions;
}

/** Trusts the tests' authority, at the origin and at the proxy. */
export const trusting: HttpClientOptions = { tls: { ca: certificates.ca }, proxyTls: { ca: certificates.ca } };

/** Runs a client by a proxy to an origin that answers with path and host. Nothing may be left, and nothing have gone past the proxy. */
export async function byProxy(
  scheme: ProxyScheme,
  protocol: Protocol,
  options: ProxiedSceneOptions,
  act: (scene: ProxiedScene) => Promise<void>,
): Promise<void> {
  const origin = await new Origin(protocol, {
    onRequest: (request) => {
      const host = request.fields.get(":authority") ?? request.fields.get("host");
      respond(request, 200, Buffer.from(`${request.path} at ${host}`));
    },
  }).start();
  const proxy = await new TestProxy(scheme, options).start();
  const events: HttpClientEvent[] = [];
  const client = new HttpClient({
    ...trusting,
    h2c: protocol === "h2c",
    proxy: proxy.url,
    onEvent: (event) => void events.push(event),
    ...options.client?.(proxy),
  });
  const url = origin.url.replace("127.0.0.1", "localhost");
  try {
    await within(act({ client, proxy, origin, url, events }), "the scene");
    await within(client.close(), "close()");
    await until(() => proxy.listener.sockets.size + origin.listener.sockets.size === 0, "the end of all sockets");
    assert.deepEqual(origin.violations, []);
  } finally {
    client.destroy();
    await proxy.stop();
    await origin.stop();
  }
  assert.deepEqual(unhandled, []);
}
