import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { Child } from "../faults/child.ts";
import { Origin } from "../faults/origin.ts";
import { within } from "../../support/waits.ts";
import { respond } from "../faults/server_request.ts";
import { type ProxyScheme, TestProxy } from "./test_proxy.ts";

for (const protocol of ["h2", "http/1.1 over TLS", "http/1.1"] as const) {
  test(`idle connections by proxies do not keep the process alive: ${protocol}`, async () => {
    const schemes: ProxyScheme[] = ["http", "https", "socks5", "socks5h"];
    const origin = await new Origin(protocol, { onRequest: (request) => respond(request, 200, Buffer.from("hello")) })
      .start();
    const proxies = await Promise.all(schemes.map((scheme) => new TestProxy(scheme).start()));
    const child = new Child(new URL("leaves_by_itself.ts", import.meta.url), [
      origin.url.replace("127.0.0.1", "localhost"),
      ...proxies.map(({ url }) => url),
    ]);
    try {
      assert.equal(await within(child.line(), "its responses"), "200 200 200 200");
      assert.equal(await within(child.ended, "its end"), 0);
    } finally {
      child.kill();
      for (const proxy of proxies) await proxy.stop();
      await origin.stop();
    }
  });
}
