import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { connect, type LookupFunction, type Socket } from "node:net";
import process from "node:process";
import test from "node:test";
import type { TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import { pauseTlsReads } from "../../../lib/runtime/mod.ts";
import { pause, until } from "../../support/waits.ts";
import { connectTcp, connectTls, failure, trusting } from "./connecting.ts";
import { Record } from "./record.ts";
import { type Listening, serveTcp, serveTls } from "./servers.ts";

async function during(server: Promise<Listening>, use: (server: Listening) => Promise<void>): Promise<void> {
  const listening = await server;
  try {
    await use(listening);
  } finally {
    await listening.close();
  }
}

const echo = (socket: Socket): void => {
  socket.on("data", (chunk) => socket.write(chunk));
};
const addresses = (...list: string[]): LookupFunction => (_name, options, callback) => {
  const all = list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  if (options.all) callback(null, all);
  else callback(null, all[0]!.address, all[0]!.family);
};

const kinds = [
  { name: "TCP", serve: serveTcp, connect: (port: number) => connectTcp(port) },
  { name: "TLS", serve: (onSocket: (socket: Socket) => void) => serveTls({}, onSocket), connect: connectTls },
  {
    name: "TLS over a socket",
    serve: (onSocket: (socket: Socket) => void) => serveTls({}, onSocket),
    connect: (port: number) =>
      connectTls(port, trusting, { connect: ({ hostname, port }) => connect({ host: hostname, port, noDelay: true }) }),
  },
];

for (const { name, serve, connect } of kinds) {
  test(`${name}: what the server sends at once is not lost, nor told before attach has returned`, () =>
    during(serve((socket) => socket.end("settings")), async ({ port }) => {
      const transport = await connect(port);
      assert.equal(transport.remoteAddress, "127.0.0.1");
      const record = new Record(transport);
      await record.closed();
      assert.equal(record.received, "settings");
      assert.deepEqual(record.order, ["data", "end", "close"]);
      assert.equal(record.error, undefined);
      assert.equal(record.reentered, false);
    }));

  test(`${name}: bytes come back in order, and end() lets the peer's bytes still come`, () =>
    during(
      serve((socket) => {
        let text = "";
        socket.on("data", (chunk) => text += chunk);
        socket.on("end", () => socket.end(text.toUpperCase()));
      }),
      async ({ port }) => {
        const transport = await connect(port);
        const record = new Record(transport);
        for (const word of ["one ", "two ", "three"]) record.write(word);
        record.calling(() => transport.end());
        record.write("never sent");
        await record.closed();
        assert.equal(record.received, "ONE TWO THREE");
        assert.deepEqual(record.order, ["data", "end", "close"]);
        assert.equal(record.reentered, false);
      },
    ));

  test(`${name}: it is full while the server does not read, and says when it no longer is`, () => {
    let peer: Socket | undefined;
    const hold = (socket: Socket): void => {
      socket.pause();
      if (name !== "TCP") pauseTlsReads(socket as TLSSocket, true); // Deno's servers read on, too
      peer = socket;
    };
    return during(serve(hold), async ({ port }) => {
      const transport = await connect(port);
      const record = new Record(transport);
      let written = 0;
      for (let still = 0; still < 3; still = transport.full ? still + 1 : 0) { // full until it is read, not only for a moment
        if (!transport.full) {
          record.calling(() => transport.write(new Uint8Array(2 ** 20)));
          written += 2 ** 20;
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      let read = 0;
      record.order.length = 0;
      if (name !== "TCP") pauseTlsReads(peer as TLSSocket, false);
      peer!.on("data", (chunk) => read += chunk.length).resume();
      await record.until(() => record.order.includes("drain"));
      assert.equal(transport.full, false);
      record.calling(() => transport.end());
      await record.closed();
      assert.equal(read, written);
      assert.equal(record.reentered, false);
    });
  });

  test(`${name}: memory of what was written may be written to again once it is empty`, () => {
    const sums: number[] = [];
    let rest = 0;
    const check = (socket: Socket): void => {
      socket.on("data", (chunk: Uint8Array) => {
        for (const byte of chunk) {
          if (rest++ % 65_536 === 0) sums.push(byte);
          else if (byte !== sums.at(-1)) sums.push(-1);
        }
      });
      socket.on("end", () => socket.end());
    };
    return during(serve(check), async ({ port }) => {
      const transport = await connect(port);
      const record = new Record(transport);
      const memory = new Uint8Array(65_536);
      assert.equal(transport.empty, true);
      for (let n = 0; n < 100; n++) {
        transport.write(memory.fill(n));
        while (!transport.empty) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      transport.end();
      await record.closed();
      assert.deepEqual(sums, Array.from({ length: 100 }, (_, n) => n));
    });
  });

  test(`${name}: a paused transport holds the server back, and resume() brings everything`, () => {
    const size = 2 ** 25;
    return during(
      serve((socket) => socket.end(new Uint8Array(size))),
      async ({ port, sockets }) => {
        const transport = await connect(port);
        const record = new Record(transport);
        record.calling(() => transport.pause());
        await until(() => sockets.length === 1, "the connection");
        await pause(100); // for what might come too much
        const early = record.bytes;
        assert.ok(early < size / 4, `${early} bytes came`);
        record.calling(() => transport.resume());
        await record.closed();
        assert.equal(record.bytes, size);
        assert.deepEqual(record.order, ["data", "end", "close"]);
        assert.equal(record.reentered, false);
      },
    );
  });

  test(`${name}: an end that comes while it is paused is told after resume()`, () => {
    let peer: Socket | undefined;
    const serveSome = (socket: Socket): void => void (peer = socket).write(new Uint8Array(100_000));
    return during(serve(serveSome), async ({ port }) => {
      const transport = await connect(port);
      const record = new Record(transport);
      await record.until(() => record.bytes > 0);
      record.calling(() => transport.pause());
      peer!.end("the end");
      await pause(50); // for an end that might come too early
      assert.deepEqual(record.order, ["data"]);
      record.calling(() => transport.resume());
      await record.closed();
      assert.equal(record.bytes, 100_007);
      assert.deepEqual(record.order, ["data", "end", "close"]);
    });
  });

  for (const size of [100, 1_000_000]) {
    test(`${name}: it may be paused by who is given the first of ${size} bytes that end at once`, () =>
      during(serve((socket) => socket.end(new Uint8Array(size))), async ({ port }) => {
        const transport = await connect(port);
        const record = new Record(transport);
        const told = record.onData;
        record.onData = (chunk) => {
          transport.pause();
          setTimeout(() => transport.resume(), 10);
          told.call(record, chunk);
        };
        await record.closed();
        assert.equal(record.bytes, size);
        assert.deepEqual(record.order, ["data", "end", "close"]);
      }));
  }

  test(`${name}: destroy() is followed by one onClose, and nothing after it`, () =>
    during(serve(echo), async ({ port }) => {
      const transport = await connect(port);
      const record = new Record(transport);
      record.write("hello");
      await record.until(() => record.received === "hello");
      record.write("more");
      record.calling(() => transport.destroy());
      record.calling(() => transport.destroy());
      await record.closed();
      record.write("late");
      record.calling(() => transport.end());
      record.calling(() => transport.pause());
      record.calling(() => transport.resume());
      record.calling(() => transport.keepProcess(true));
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.deepEqual(record.order, ["data", "close"]);
      assert.equal(record.error, undefined);
      assert.equal(record.reentered, false);
    }));

  test(`${name}: destroy() before anything was attached is told to who attaches`, () =>
    during(serve(echo), async ({ port }) => {
      const transport = await connect(port);
      transport.destroy();
      const record = new Record(transport);
      await record.closed();
      assert.deepEqual(record.order, ["close"]);
    }));

  test(`${name}: a connection that the server resets closes with the error, told once`, () => {
    let isRead = false;
    return during(serve((socket) => socket.on("data", () => isRead = true)), async ({ port, sockets }) => {
      const transport = await connect(port);
      const record = new Record(transport);
      record.write("hello");
      await until(() => isRead, "the bytes");
      sockets[0]!.resetAndDestroy();
      await record.closed();
      record.write("into nothing");
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(record.order.filter((told) => told === "close").length, 1);
      assert.equal(record.order.at(-1), "close");
      if (record.error) {
        assert.match(String((record.error as NodeJS.ErrnoException).code), /ECONNRESET|EPIPE|ECONNABORTED/);
      }
      assert.ok(record.error || record.order.includes("end"));
    });
  });

  test(`${name}: hold(false) lets the process end, hold(true) keeps it`, async () => {
    const server = await serve((socket) => {
      socket.on("data", (holds) => String(holds).endsWith("true") && setTimeout(() => socket.end("bye"), 150));
    });
    const script = fileURLToPath(new URL("./holding.ts", import.meta.url));
    const deno = "deno" in process.versions ? ["run", "-A", "--no-check"] : [];
    const run = async (hold: string): Promise<string> => {
      const child = spawn(process.execPath, [...deno, script, name, String(server.port), hold], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.on("data", (chunk) => said += chunk);
      await new Promise((resolve) => child.on("close", resolve));
      return said.trim().replaceAll(/\s+/g, " ");
    };
    const said = await Promise.all([run("false"), run("true"), run("false,true")]);
    await server.close();
    assert.deepEqual(said, ["attached", "attached closed", "attached closed"]);
  });
}

test("ALPN: the server's choice is known; undefined if it has none", async () => {
  for (
    const [offered, spoken, chosen] of [[["h2", "http/1.1"], ["h2", "http/1.1"], "h2"], [["http/1.1"], [
      "h2",
      "http/1.1",
    ], "http/1.1"], [["h2", "http/1.1"], undefined, undefined]] as const
  ) {
    await during(serveTls({ ALPNProtocols: spoken && [...spoken] }, () => {}), async ({ port }) => {
      const transport = await connectTls(port, trusting, { alpn: offered });
      assert.equal(transport.alpnProtocol, chosen);
      transport.destroy();
    });
  }
});

test("SNI: the host's name is asked for, without a dot at its end; no name for an address; servername instead of both", () => {
  const asked: unknown[] = [];
  const server = serveTls({}, (socket) => {
    asked.push((socket as { servername?: unknown }).servername || "none");
    socket.end();
  });
  return during(server, async ({ port }) => {
    const lookup = addresses("127.0.0.1");
    for (const host of ["localhost", "localhost.", "127.0.0.1"]) {
      await new Record(await connectTls(port, trusting, { lookup }, host)).closed();
    }
    await new Record(await connectTls(port, { ...trusting, servername: "localhost" }, {}, "127.0.0.1")).closed();
    assert.deepEqual(asked, ["localhost", "localhost", "none", "localhost"]);
  });
});

test("every address of a name is tried until one answers", () =>
  during(serveTcp(echo), async ({ port }) => {
    const transport = await connectTcp(port, { lookup: addresses("127.0.0.9", "::1", "127.0.0.1") }, "somewhere.test");
    assert.equal(transport.remoteAddress, "127.0.0.1");
    transport.destroy();
  }));

test("a lookup may answer with one address, at once or later", async () => {
  const later: LookupFunction = (_name, _options, callback) => void setTimeout(() => callback(null, "127.0.0.1", 4), 5);
  for (const lookup of [later, ((_name, _options, callback) => callback(null, "127.0.0.1", 4)) as LookupFunction]) {
    await during(serveTls({}, echo), async ({ port }) => {
      const transport = await connectTls(port, trusting, { lookup });
      assert.equal(transport.remoteAddress, "127.0.0.1");
      transport.destroy();
    });
  }
});

test("an address of IPv6 is taken with the brackets that URLs have", async () => {
  const { message, origin } = await failure(connectTcp(1, {}, "[::1]"));
  assert.equal(origin, "http://[::1]:1");
  assert.match(message, /\[::1\]/);
});

test("the signal ends the attempt with its reason, before it starts and while it connects, and closes the socket", async () => {
  const reason = new Error("no longer wanted");
  assert.equal(await connectTcp(1, { signal: AbortSignal.abort(reason) }).catch((error) => error), reason);
  await during(serveTcp(() => {}), async ({ port, sockets }) => {
    const controller = new AbortController();
    const attempt = connectTls(port, trusting, { signal: controller.signal });
    while (sockets.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    const gone = new Promise((resolve) => sockets[0]!.on("close", resolve).resume());
    controller.abort(reason);
    assert.equal(await attempt.catch((error) => error), reason);
    await gone;
  });
});

test("a signal that fires after the connection is there does nothing to it", () =>
  during(serveTcp(echo), async ({ port }) => {
    const controller = new AbortController();
    const transport = await connectTcp(port, { signal: controller.signal });
    const record = new Record(transport);
    controller.abort();
    record.write("still here");
    await record.until(() => record.received === "still here");
    transport.destroy();
    await record.closed();
  }));

test("later connections of a client resume its TLS session", {
  skip: "deno" in process.versions ? "Deno does not resume sessions in node:tls" : false,
}, () => {
  const resumed: boolean[] = [];
  return during(
    serveTls({}, (socket) => {
      resumed.push(socket.isSessionReused());
      socket.end("hello");
    }),
    async ({ port }) => {
      const tls = { ...trusting };
      for (let n = 0; n < 3; n++) await new Record(await connectTls(port, tls)).closed();
      await new Record(await connectTls(port, { ...trusting })).closed(); // another client
      assert.deepEqual(resumed, [false, true, true, false]);
    },
  );
});
