import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { HttpError } from "../../../lib/http/http_error.ts";
import { bytesBody, PiecesBody } from "./recorder.ts";
import { settled, Talk } from "./talk.ts";
import { tries } from "../../support/long_run.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";

describe("a connection", () => {
  it("carries one request after the other", async () => {
    const talk = new Talk();
    for (let i = 0; i < 5; i++) {
      assert.equal(talk.connection.free, 1);
      const recorder = talk.send("GET", undefined, `/${i}`);
      await settled();
      assert.equal(talk.connection.free, 0);
      assert.equal(talk.connection.active, 1);
      talk.transport.give(`${OK}${i}${i}`);
      assert.equal(recorder.body, `${i}${i}`);
      assert.equal(talk.connection.active, 0);
    }
    assert.deepEqual(talk.owner.calls, ["onFree", "onFree", "onFree", "onFree", "onFree"]);
    await talk.end();
  });

  it("carries a request that is started when the one before it ends", async () => {
    const talk = new Talk();
    const first = talk.send();
    let second = first;
    first.hook = (call) => {
      if (call === "onEnd") second = talk.send();
    };
    talk.transport.give(`${OK}ab`);
    assert.notEqual(second, first);
    await settled();
    talk.transport.give(`${OK}cd`);
    assert.equal(second.body, "cd");
    assert.equal(talk.transport.held, false);
    await talk.end();
  });

  it("keeps the process alive only while a request is under way", async () => {
    const talk = new Talk();
    assert.equal(talk.transport.held, false);
    talk.send();
    assert.equal(talk.transport.held, true);
    talk.transport.give(`${OK}ab`);
    assert.equal(talk.transport.held, false);
    await talk.end();
  });

  it("takes nothing that a server sends unasked for an answer", async () => {
    const idle = new Talk();
    idle.transport.give(`${OK}no`);
    assert.equal(idle.connection.free, 0);
    await idle.owner.closed;
    assert.deepEqual(idle.owner.calls, ["onClosing", "onClosed"]);

    const used = new Talk();
    const first = used.send();
    used.transport.give(`${OK}ab`);
    used.transport.give("HTTP/1.1 408 Request Timeout\r\n\r\n");
    assert.equal(first.calls.at(-1), "onEnd");
    assert.equal(used.connection.free, 0);
    await used.owner.closed;
  });

  it("takes nothing that follows an answer for the next one, not even for a request that is started at once", async () => {
    const talk = new Talk();
    const first = talk.send();
    let free = -1;
    first.hook = (call) => {
      if (call === "onEnd") free = talk.connection.free;
    };
    talk.transport.give(`${OK}ab${OK}cd`);
    assert.equal(first.body, "ab");
    assert.equal(first.calls.at(-1), "onEnd");
    assert.equal(free, 0);
    await talk.owner.closed;
    assert.deepEqual(talk.owner.calls, ["onClosing", "onClosed"]);
  });

  it("ends after the response if the server says so, and tells it before", async () => {
    const talk = new Talk();
    const recorder = talk.send();
    talk.transport.give("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\na");
    assert.equal(talk.connection.closing, true);
    assert.deepEqual(talk.owner.calls, ["onClosing"]);
    assert.equal(talk.transport.destroyed, false);
    talk.transport.give("b");
    assert.equal(recorder.body, "ab");
    assert.equal(talk.transport.destroyed, true);
    await talk.owner.closed;
    assert.equal(talk.owner.error, undefined);
  });

  it("that the server closes while it is idle is gone without an error", async () => {
    const talk = new Talk();
    talk.send();
    talk.transport.give(`${OK}ab`);
    talk.transport.finish();
    assert.equal(talk.connection.free, 0);
    await talk.owner.closed;
    assert.deepEqual(talk.owner.calls, ["onFree", "onClosing", "onClosed"]);
    assert.equal(talk.owner.error, undefined);
  });

  it("that the server closes as a request is sent fails it as lost, which may have been acted upon", async () => {
    for (const end of ["finish", "close"] as const) {
      const talk = new Talk();
      talk.send();
      talk.transport.give(`${OK}ab`);
      const second = talk.send("POST", bytesBody("x"));
      await settled();
      talk.transport[end]();
      assert.equal(second.error?.code, "CONNECTION_LOST");
      assert.equal(second.untouched, false);
      await talk.owner.closed;
      assert.deepEqual(talk.owner.calls, ["onFree", "onClosing", "onClosed"]);
    }
  });

  it("that the server closes before the next request is sent fails that untouched", async () => {
    for (const end of ["finish", "close"] as const) {
      const talk = new Talk();
      talk.send();
      talk.transport.give(`${OK}ab`);
      await sleep(5);
      const second = talk.send("POST", bytesBody("x"));
      talk.transport[end]();
      assert.equal(second.error?.code, "CONNECTION_LOST");
      assert.equal(second.untouched, true);
      await talk.owner.closed;
    }
  });

  it("does not take for a response what came before the request was sent", async () => {
    for (const idleFor of [0, 5]) {
      const talk = new Talk();
      talk.send();
      talk.transport.give(`${OK}ab`);
      talk.transport.takeWritten();
      await sleep(idleFor);
      const second = talk.send("POST", bytesBody("x"));
      assert.equal(talk.transport.takeWritten(), "");
      talk.transport.give(`${OK}no`);
      assert.equal(second.error?.code, "CONNECTION_LOST");
      assert.equal(second.untouched, true);
      assert.equal(talk.connection.free, 0);
      await talk.owner.closed;
      assert.equal(talk.transport.takeWritten(), "");
    }
  });

  it("that was opened in vain is proven silent before its first request", async () => {
    const talk = new Talk();
    await sleep(5);
    const first = talk.send();
    talk.transport.give(`${OK}no`);
    assert.equal(first.untouched, true);
    await talk.owner.closed;
  });

  it("goes on if a request is cancelled before it was sent", async () => {
    const talk = new Talk();
    talk.send();
    talk.transport.give(`${OK}ab`);
    await sleep(5);
    talk.start().exchange.cancel(new Error("no longer wanted"));
    await settled();
    assert.equal(talk.transport.held, false);
    assert.equal(talk.connection.free, 1);
    const third = talk.send();
    await sleep(20);
    talk.transport.give(`${OK}cd`);
    assert.equal(third.body, "cd");
    await sleep(5);
    talk.start().exchange.cancel(new Error("no longer wanted"));
    talk.connection.close();
    await talk.owner.closed;
  });

  it("that is lost tells the socket's error", () => {
    const talk = new Talk();
    const recorder = talk.send();
    const cause = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    talk.transport.close(cause);
    assert.equal(recorder.error?.code, "CONNECTION_LOST");
    assert.equal(recorder.error?.cause, cause);
    assert.equal(recorder.error?.origin, "http://example.org");
    assert.equal(talk.owner.error, recorder.error);
  });

  it("that is gone lets a request that is started all the same be sent elsewhere, whatever its method", async () => {
    const talk = new Talk();
    talk.transport.finish();
    const body = new PiecesBody(["a"]);
    const recorder = talk.send("POST", body);
    await recorder.over;
    assert.equal(recorder.untouched, true);
    assert.equal(body.reads, 0);
    await talk.owner.closed;
  });
});

describe("close()", () => {
  it("ends an idle connection at once", async () => {
    const talk = new Talk();
    talk.connection.close();
    assert.equal(talk.connection.closing, true);
    assert.equal(talk.connection.free, 0);
    assert.deepEqual(talk.owner.calls, []);
    await talk.owner.closed;
    assert.deepEqual(talk.owner.calls, ["onClosing", "onClosed"]);
  });

  it("lets requests under way end", async () => {
    const talk = new Talk({ pipelining: 2 });
    const first = talk.send();
    const second = talk.send();
    talk.connection.close();
    assert.equal(talk.connection.free, 0);
    talk.transport.give(`${OK}ab`);
    assert.equal(talk.transport.destroyed, false);
    talk.transport.give(`${OK}cd`);
    assert.equal(first.body + second.body, "abcd");
    assert.equal(talk.transport.destroyed, true);
    await talk.owner.closed;
    assert.deepEqual(talk.owner.calls, ["onClosing", "onClosed"]);
  });
});

describe("destroy()", () => {
  it("fails requests under way with its error, later", async () => {
    const talk = new Talk({ pipelining: 2 });
    const first = talk.send();
    const second = talk.send();
    const error = new HttpError("CLIENT_CLOSED", "enough");
    talk.connection.destroy(error);
    assert.equal(first.error, undefined);
    assert.equal(talk.connection.free, 0);
    talk.transport.give(`${OK}ab`); // on its way already
    await talk.owner.closed;
    assert.equal(first.error, error);
    assert.equal(second.error, error);
    assert.equal(first.untouched, false);
    assert.equal(talk.owner.error, error);
    assert.deepEqual(talk.owner.calls, ["onClosing", "onClosed"]);
  });

  it("within a call of its own ends everything there", async () => {
    for (const at of ["onHead", "onData", "onEnd"]) {
      const talk = new Talk();
      const recorder = talk.send();
      recorder.hook = (call) => {
        if (call === at) talk.connection.destroy(new HttpError("CLIENT_CLOSED", "enough"));
      };
      const text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n";
      talk.transport.giveCut(text, [text.indexOf("b")]);
      await talk.owner.closed;
      assert.equal(recorder.calls.at(-1), at === "onEnd" ? "onEnd" : "onFail");
      assert.equal(recorder.body, { onHead: "", onData: "a", onEnd: "ab" }[at]);
    }
  });
});

describe("cancel()", () => {
  it("ends the connection, and tells the request nothing more", async () => {
    const talk = new Talk();
    const { recorder, exchange } = talk.start();
    talk.transport.give(`${OK}a`);
    exchange.cancel(new Error("no longer wanted"));
    exchange.cancel(new Error("again"));
    assert.equal(talk.transport.destroyed, true);
    assert.equal(talk.connection.free, 0);
    assert.equal(talk.connection.active, 0);
    talk.transport.give("b");
    await talk.owner.closed;
    assert.deepEqual(recorder.calls, ["onHead", "onData"]);
    assert.equal(recorder.body, "a");
    assert.equal(talk.owner.error, undefined);
    assert.deepEqual(talk.owner.calls, ["onClosing", "onClosed"]);
  });

  it("within a call tells nothing more, whatever was read with it", async () => {
    const large = `bb8\r\n${"x".repeat(3000)}\r\n`;
    const answers = [
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${large}${large}${large}0\r\nA: b\r\n\r\n`,
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${large}${large}what is this?`,
      `${OK}ab`,
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    ];
    for (const answer of answers) {
      for (const at of ["onInformational", "onHead", "onData"]) {
        const talk = new Talk();
        const { recorder, exchange } = talk.start();
        recorder.hook = (call) => {
          if (call === at) exchange.cancel(new Error("no longer wanted"));
        };
        talk.transport.give(answer);
        const { calls } = recorder;
        if (calls.includes(at)) assert.deepEqual([calls.at(-1), recorder.body.length % 3000 <= 2], [at, true]);
        await talk.end();
        assert.equal(talk.owner.error?.code, calls.includes(at) ? undefined : recorder.error?.code);
      }
    }
  });

  it("does nothing after the end of the response, and the connection goes on", async () => {
    const talk = new Talk();
    const { exchange } = talk.start();
    talk.transport.give(`${OK}ab`);
    exchange.cancel(new Error("no longer wanted"));
    assert.equal(talk.transport.destroyed, false);
    const next = talk.send();
    await settled();
    talk.transport.give(`${OK}cd`);
    assert.equal(next.body, "cd");
    await talk.end();
  });

  it("of a request that found the connection gone tells it nothing more", async () => {
    const talk = new Talk();
    talk.transport.finish();
    const { recorder, exchange } = talk.start();
    exchange.cancel(new Error("no longer wanted"));
    await talk.owner.closed;
    assert.deepEqual(recorder.calls, []);
  });

  it("stops the request's body", async () => {
    const talk = new Talk();
    talk.transport.full = true;
    const body = new PiecesBody(["a", "b"]);
    const { exchange } = talk.start("POST", body);
    await settled();
    const reason = new Error("no longer wanted");
    exchange.cancel(reason);
    talk.transport.drain();
    assert.equal(body.cancelled, reason);
    assert.equal(body.reads, 1);
    await talk.owner.closed;
  });

  it("of a request in the pipeline lets those before it end, and those after it be sent elsewhere", async () => {
    const talk = new Talk({ pipelining: 3 });
    const first = talk.send();
    const second = talk.start();
    const third = talk.send();
    second.exchange.cancel(new Error("no longer wanted"));
    assert.equal(talk.transport.destroyed, false);
    talk.transport.give(`${OK}ab`);
    assert.equal(first.body, "ab");
    assert.equal(third.error?.code, "CONNECTION_LOST");
    assert.equal(third.untouched, false);
    await talk.owner.closed;
    assert.deepEqual(second.recorder.calls, []);
  });

  it("of a request that waits for the look at the socket does no harm to others", async () => {
    const talk = new Talk({ pipelining: 3 });
    talk.send();
    talk.transport.give(`${OK}ab`);
    talk.transport.takeWritten();
    const { recorder, exchange } = talk.start("HEAD");
    const second = talk.send();
    exchange.cancel(new Error("no longer wanted"));
    assert.equal(talk.connection.active, 1);
    await settled();
    assert.equal(talk.transport.takeWritten().includes("HEAD"), false);
    talk.transport.give(`${OK}cd`);
    assert.equal(second.body, "cd");
    assert.equal(talk.transport.destroyed, false);
    assert.deepEqual(recorder.calls, []);
    await talk.end();
  });
});

describe("pipelining", () => {
  it("sends as many requests as allowed, and hands responses out in order", async () => {
    const talk = new Talk({ pipelining: 3 });
    assert.equal(talk.connection.free, 1); // a new connection proves itself with one request
    talk.send();
    assert.equal(talk.connection.free, 0);
    talk.transport.give(`${OK}ab`);
    assert.equal(talk.connection.free, 3);
    talk.transport.takeWritten();
    const recorders = ["GET", "OPTIONS", "GET"].map((method) => talk.send(method));
    assert.equal(talk.connection.free, 0);
    await settled();
    assert.equal(talk.transport.writes.length, 3);
    talk.transport.giveCut(`${OK}ab${OK}cd${OK}ef`, [10, 41, 60, 85]);
    assert.deepEqual(recorders.map(({ body }) => body), ["ab", "cd", "ef"]);
    assert.equal(talk.connection.free, 3);
    await talk.end();
  });

  it("fails what follows a response after which the server closes", async () => {
    const talk = new Talk({ pipelining: 4 });
    const first = talk.send();
    const second = talk.send();
    talk.transport.give("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab");
    assert.equal(first.body, "ab");
    assert.deepEqual([second.error?.code, second.untouched], ["CONNECTION_LOST", false]);
    await talk.owner.closed;
  });

  it("fails what follows a response that is malformed as lost", async () => {
    const talk = new Talk({ pipelining: 2 });
    const first = talk.send();
    const second = talk.send();
    talk.transport.give("HTTP/1.1 what\r\n\r\n");
    assert.equal(first.error?.code, "PROTOCOL_ERROR");
    assert.equal(second.error?.code, "CONNECTION_LOST");
    await talk.owner.closed;
    assert.equal(talk.owner.error, first.error);
  });

  it("takes no more answers than there were requests", async () => {
    const talk = new Talk({ pipelining: 2 });
    const first = talk.send();
    const second = talk.send();
    talk.transport.give(`${OK}ab${OK}cd${OK}ef`);
    assert.deepEqual([first.body, second.body], ["ab", "cd"]);
    assert.equal(talk.connection.free, 0);
    await talk.owner.closed;
  });
});

describe("responses in a pipeline", () => {
  it("are told apart whatever they are, and however they are cut", async () => {
    const text = fc.stringMatching(/^[a-z\r\n]{0,20}$/);
    const answer = fc.record({
      method: fc.constantFrom("GET", "OPTIONS"),
      text,
      kind: fc.constantFrom("length", "chunks", "none"),
    });
    const property = fc.asyncProperty(
      fc.array(answer, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(500)),
      async (answers, cuts) => {
        const talk = new Talk({ pipelining: 6 });
        const recorders = answers.map(({ method }) => talk.send(method));
        assert.equal(talk.transport.writes.length, answers.length);
        talk.transport.giveCut(answers.map(responseOf).join(""), cuts.sort((a, b) => a - b));
        const bodies = answers.map(({ text, kind }) => kind === "none" ? "" : text);
        assert.deepEqual(recorders.map(({ body }) => body), bodies);
        assert.equal(recorders.every(({ calls }) => calls.at(-1) === "onEnd"), true);
        assert.equal(talk.connection.free, 6);
        await talk.end();
      },
    );
    await fc.assert(property, { numRuns: tries(150) });
  });
});

function responseOf({ text, kind }: { text: string; kind: string }): string {
  if (kind === "none") return "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
  if (kind === "length") return `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  const chunks = Array.from(text, (char) => `1\r\n${char}\r\n`).join("") + "0\r\n\r\n";
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
}

describe("a response that nobody reads", () => {
  const head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";

  it("pauses the transport above the high-water mark, until enough was taken", async () => {
    const talk = new Talk({ highWaterMark: 100 });
    const { recorder, exchange } = talk.start();
    talk.transport.give(`${head}${"a".repeat(100)}`);
    assert.equal(talk.transport.paused, false);
    talk.transport.give("b");
    assert.equal(talk.transport.paused, true);
    talk.transport.give("c".repeat(99)); // on its way already
    assert.equal(recorder.body.length, 200);
    exchange.consumed(100);
    assert.equal(talk.transport.paused, true);
    exchange.consumed(51);
    assert.equal(talk.transport.paused, false);
    await talk.end();
  });

  it("pauses nothing if it is taken as it comes", async () => {
    const talk = new Talk({ highWaterMark: 10 });
    const { recorder, exchange } = talk.start();
    recorder.hook = (call) => {
      if (call === "onData") exchange.consumed(500);
    };
    talk.transport.give(`${head}${"a".repeat(500)}`);
    assert.equal(talk.transport.paused, false);
    await talk.end();
  });

  it("lets the next one come once it has wholly arrived", async () => {
    const talk = new Talk({ highWaterMark: 100 });
    const { exchange } = talk.start();
    talk.transport.give(`${head}${"a".repeat(500)}`);
    assert.equal(talk.transport.paused, true);
    talk.transport.give("a".repeat(500));
    assert.equal(talk.transport.paused, false);
    const next = talk.send();
    await settled();
    exchange.consumed(1000);
    talk.transport.give(`${OK}ab`);
    assert.equal(next.body, "ab");
    await talk.end();
  });
});

describe("an idle connection", () => {
  it("is closed after its time", async () => {
    const talk = new Talk({ idleTimeout: 30 });
    talk.send();
    talk.transport.give(`${OK}ab`);
    assert.equal(talk.transport.destroyed, false);
    await closed(talk);
    assert.deepEqual(talk.owner.calls, ["onFree", "onClosing", "onClosed"]);
    assert.equal(talk.owner.error, undefined);
  });

  it("is not closed while a request is under way", async () => {
    const talk = new Talk({ idleTimeout: 30 });
    talk.send();
    talk.transport.give(`${OK}ab`);
    const slow = talk.send();
    await sleep(100);
    assert.equal(talk.transport.destroyed, false);
    talk.transport.give(`${OK}cd`);
    assert.equal(slow.body, "cd");
    await closed(talk);
  });

  it("is closed one second before the server would close it", async () => {
    for (const field of ["timeout=1", "max=100, Timeout = 1", "timeout=0"]) {
      const talk = new Talk({ idleTimeout: 60_000 });
      talk.send();
      talk.transport.give(`HTTP/1.1 200 OK\r\nKeep-Alive: ${field}\r\nContent-Length: 0\r\n\r\n`);
      assert.equal(talk.transport.destroyed, true, field);
      await closed(talk);
    }
    const talk = new Talk({ idleTimeout: 10 });
    talk.send();
    talk.transport.give("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 0\r\n\r\n");
    assert.equal(talk.transport.destroyed, false);
    await closed(talk); // we need not keep it as long as the server does
  });

  it("that the server gives less time after a later response is closed by then", async () => {
    const talk = new Talk({ idleTimeout: 60_000 });
    for (const seconds of [100, 2]) {
      talk.send();
      await settled();
      talk.transport.give(`HTTP/1.1 200 OK\r\nKeep-Alive: timeout=${seconds}\r\nContent-Length: 0\r\n\r\n`);
    }
    await closed(talk);
    assert.deepEqual(talk.owner.calls, ["onFree", "onFree", "onClosing", "onClosed"]);
  });

  it("that no request was ever sent on is closed too, but not before it can be used", async () => {
    const talk = new Talk({ idleTimeout: 0 });
    await sleep(20);
    assert.equal(talk.connection.free, 1);
    await closed(talk);
  });
});

/** Waits for the connection's end: its timers do not keep the process alive. */
async function closed(talk: Talk): Promise<void> {
  const alive = setInterval(() => {}, 1000);
  await talk.owner.closed;
  clearInterval(alive);
}
