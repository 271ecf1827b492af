import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import test from "node:test";
import { certificates } from "../certificates.ts";
import { Listener } from "../faults/listener.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { until } from "../../support/waits.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { leavesNothing } from "../leaves_nothing.ts";
import { trusting } from "./by_proxy.ts";

const certificate = { cert: certificates.cert, key: certificates.key };
const answers = {
  http: [Buffer.from("HTTP/1.1 200 OK\r\n\r\n")],
  https: [Buffer.from("HTTP/1.1 200 OK\r\n\r\n")],
  socks5h: [Buffer.from([5, 0]), Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])],
};

for (const scheme of ["http", "https", "socks5h"] as const) {
  test(`by a proxy of ${scheme}: the SETTINGS that a server of h2c sends first, which come with the proxy's answer, are not lost`, async () => {
    const owner = {
      settings: {},
      violations: [] as string[],
      onRequest: (request: ServerRequest) => respond(request, 200, Buffer.from("hello")),
    };
    // The proxy's own, of which the server knows nothing: that they were read shows in their acknowledgement.
    const early = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 7]);
    const server = await new Listener({}, (socket) => {
      new Http2Peer(socket, owner as never);
    }).start();
    const onSocket = (socket: Socket): void => {
      const left = [...answers[scheme]];
      const onData = (): void => {
        const answer = left.shift()!;
        if (left.length > 0) return void socket.write(answer);
        socket.off("data", onData);
        const upstream = connect({ port: server.port, host: "127.0.0.1" });
        upstream.on("error", () => {}).on("close", () => socket.destroy());
        socket.on("close", () => upstream.destroy());
        socket.write(Buffer.concat([answer, early]));
        socket.pipe(upstream).pipe(socket);
      };
      socket.on("data", onData);
    };
    let port = 0;
    const options = { ...trusting, h2c: true, proxy: () => `${scheme}://localhost:${port}` };
    const listener = scheme === "https" ? { certificate, alpn: ["http/1.1"] } : {};
    try {
      await leavesNothing({ client: options, listener, onSocket }, async (scene) => {
        port = scene.listener.port;
        assert.equal(await (await scene.client.fetch("http://one.test")).text(), "hello");
        await until(() => owner.violations.length > 0, "the acknowledgement");
        assert.match(owner.violations.join(), /^[^,]*SETTINGS were acknowledged that were not sent$/);
      });
    } finally {
      await server.stop();
    }
  });
}
