import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import test from "node:test";
import { HttpClient } from "../../../lib/http/mod.ts";
import { within } from "../../support/waits.ts";

const form = new FormData();
form.append("a", "b");
const bodies: Readonly<Record<string, BodyInit>> = {
  text: "hello",
  bytes: new TextEncoder().encode("hello"),
  Blob: new Blob(["hello"]),
  URLSearchParams: new URLSearchParams({ a: "b" }),
  FormData: form,
};

for (const [name, body] of Object.entries(bodies)) {
  for (const isLookedAt of [false, true]) {
    test(`a Request of ${name} that was cloned${isLookedAt ? ", and whose body was looked at," : ""} is sent, as is its copy`, async () => {
      const seen: string[] = [];
      const server = createServer(async (request, response) => {
        seen.push(await text(request));
        response.end("ok");
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      await using client = new HttpClient();
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const request = new Request(url, { method: "POST", body });
      if (isLookedAt) assert.ok(request.body);
      const copy = request.clone();
      for (const each of [request, copy]) {
        const response = await within(client.fetch(each), "the response");
        assert.equal(await response.text(), "ok");
      }
      assert.equal(seen.length, 2);
      assert.equal(seen[0], seen[1]);
      assert.match(seen[0], /hello|a=b|name="a"/);
      server.closeAllConnections();
      server.close();
    });
  }
}
