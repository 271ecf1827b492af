import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HttpError } from "../../../lib/http/http_error.ts";
import { StreamBody } from "../../../lib/http/request/stream_body.ts";
import { bytesOf, textOf } from "./memory_transport.ts";
import { bytesBody, PiecesBody, Recorder, requestHead } from "./recorder.ts";
import { settled, Talk } from "./talk.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const HOST = "host: example.org\r\nconnection: keep-alive\r\n";

describe("a request", () => {
  it("is one write with its fields in their order", async () => {
    const talk = new Talk();
    const headers = ["accept", "*/*", "x-b", "1", "x-a", "2", "x-b", "3"];
    talk.connection.start(requestHead("GET", "/a/b?c=%20d", headers), undefined, new Recorder());
    assert.deepEqual(talk.transport.writes, [
      `GET /a/b?c=%20d HTTP/1.1\r\n${HOST}accept: */*\r\nx-b: 1\r\nx-a: 2\r\nx-b: 3\r\n\r\n`,
    ]);
    await talk.end();
  });

  it("has its values as the bytes that they stand for", async () => {
    const talk = new Talk();
    talk.connection.start(requestHead("GET", "/", ["x", "caf\xe9 \xff\x80"]), undefined, new Recorder());
    assert.deepEqual(talk.transport.writes, [`GET / HTTP/1.1\r\n${HOST}x: caf\xe9 \xff\x80\r\n\r\n`]);
    const body = bytesBody("body");
    talk.transport.give(OK);
    talk.connection.start(requestHead("POST", "/", ["x", "\xfc"]), body, new Recorder());
    await settled();
    assert.equal(talk.transport.writes[1], `POST / HTTP/1.1\r\n${HOST}x: \xfc\r\ncontent-length: 4\r\n\r\nbody`);
    await talk.end();
  });

  it("is sent whole however large its head is, and none overwrites another", async () => {
    const talk = new Talk();
    const texts: string[] = [];
    const original = talk.transport.write.bind(talk.transport);
    const views: Uint8Array[] = [];
    talk.transport.write = (bytes) => {
      views.push(bytes);
      original(bytes);
    };
    for (const size of [10, 3000, 8000, 9000, 100, 40_000, 5000, 20, 30_000]) {
      const value = String(size % 7).repeat(size);
      talk.connection.start(requestHead("GET", "/", ["x", value]), undefined, new Recorder());
      await settled();
      texts.push(`GET / HTTP/1.1\r\n${HOST}x: ${value}\r\n\r\n`);
      talk.transport.give(OK);
    }
    assert.deepEqual(views.map(textOf), texts);
    await talk.end();
  });

  it("without a body says so only if its method expects one", async () => {
    const talk = new Talk();
    for (const method of ["GET", "HEAD", "DELETE", "OPTIONS", "POST", "PUT", "PATCH", "post"]) {
      talk.send(method);
      await settled();
      const says = /^(POST|PUT|PATCH)$/.test(method);
      assert.equal(
        talk.transport.takeWritten(),
        `${method} / HTTP/1.1\r\n${HOST}${says ? "content-length: 0\r\n" : ""}\r\n`,
      );
      talk.transport.give(OK);
    }
    await talk.end();
  });

  it("with a small body in memory is one write", async () => {
    const talk = new Talk();
    const recorder = talk.send("POST", bytesBody("hello"));
    assert.deepEqual(talk.transport.writes, [`POST / HTTP/1.1\r\n${HOST}content-length: 5\r\n\r\nhello`]);
    talk.transport.give(OK);
    assert.deepEqual(recorder.calls, ["onHead", "onEnd"]);
    assert.equal(talk.connection.free, 1);
    await talk.end();
  });

  it("with a large body in memory does not copy it", async () => {
    const talk = new Talk();
    const text = "x".repeat(100_000);
    talk.send("POST", bytesBody(text));
    assert.deepEqual(talk.transport.writes, [`POST / HTTP/1.1\r\n${HOST}content-length: 100000\r\n\r\n`, text]);
    await talk.end();
  });

  it("with an empty body has a Content-Length of 0", async () => {
    const talk = new Talk();
    for (const body of [bytesBody(""), new PiecesBody([], 0)]) {
      talk.send("POST", body);
      await settled();
      assert.equal(talk.transport.takeWritten(), `POST / HTTP/1.1\r\n${HOST}content-length: 0\r\n\r\n`);
      talk.transport.give(OK);
      assert.equal(talk.connection.free, 1);
    }
    await talk.end();
  });

  it("with a body of known length sends its pieces as they are, those of a turn in one write", async () => {
    const talk = new Talk();
    const recorder = talk.send("PUT", new PiecesBody(["hel", "lo", "!"], 6));
    assert.deepEqual(talk.transport.writes, []);
    await settled();
    assert.deepEqual(talk.transport.writes, [`PUT / HTTP/1.1\r\n${HOST}content-length: 6\r\n\r\nhello!`]);
    talk.transport.give(OK);
    assert.deepEqual(recorder.calls, ["onHead", "onEnd"]);
    assert.equal(talk.connection.free, 1);
    await talk.end();
  });

  it("with a body of unknown length sends chunks, those of a turn in one write", async () => {
    const talk = new Talk();
    talk.send("PUT", new PiecesBody(["hello", " world!", "."]));
    await settled();
    assert.deepEqual(talk.transport.writes, [
      `PUT / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n7\r\n world!\r\n1\r\n.\r\n0\r\n\r\n`,
    ]);
    talk.transport.give(OK);
    assert.equal(talk.connection.free, 1);
    await talk.end();
  });

  it("whose body takes its time sends its head, and each piece when it is there", async () => {
    const talk = new Talk();
    const body = new PiecesBody([]);
    const pieces: ((piece: Uint8Array | undefined) => void)[] = [];
    body.read = () => new Promise((resolve) => pieces.push(resolve));
    talk.send("PUT", body);
    await settled();
    assert.equal(talk.transport.takeWritten(), `PUT / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n`);
    pieces.shift()!(bytesOf("ab"));
    await settled();
    assert.equal(talk.transport.takeWritten(), "2\r\nab\r\n");
    pieces.shift()!(undefined);
    await settled();
    assert.equal(talk.transport.takeWritten(), "0\r\n\r\n");
    await talk.end();
  });

  it("with an empty body of unknown length sends no chunk but the last", async () => {
    const talk = new Talk();
    talk.send("PUT", new PiecesBody([]));
    await settled();
    assert.equal(talk.transport.written.endsWith("chunked\r\n\r\n0\r\n\r\n"), true);
    await talk.end();
  });

  for (const length of ["known", "unknown"]) {
    it(`with a large body of ${length} length sends every byte, however much the transport takes, and copies it at once`, async () => {
      const talk = new Talk();
      const { transport } = talk;
      // Views of what is written, as the transport has them until it is empty.
      let views: Uint8Array[] = [];
      let sent = "";
      const sendAll = (): void => {
        for (const view of views) sent += textOf(view);
        views = [];
        transport.empty = true;
      };
      transport.write = (bytes) => {
        views.push(bytes);
        transport.empty = false;
        if (views.length % 3 === 0) transport.full = true;
        else if (views.length % 3 === 1) sendAll();
      };
      const sizes = [100_000, 10, 65_536, 1, 300_000, 70, 8000, 16_384, 16_384, 50_000, 200];
      const texts = sizes.map((size, i) => String.fromCharCode(97 + i).repeat(size));
      const body = new PiecesBody([...texts], length === "known" ? texts.join("").length : undefined);
      const read = body.read.bind(body);
      let last: Uint8Array | undefined;
      body.read = async () => {
        last?.fill(0); // its memory is the source's again
        return last = await read();
      };
      talk.send("PUT", body);
      for (let i = 0; i < 100 && body.reads <= texts.length; i++) {
        await settled();
        sendAll();
        transport.drain();
      }
      await settled();
      sendAll();
      const head = sent.slice(0, sent.indexOf("\r\n\r\n") + 4);
      const chunks = texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join("");
      assert.equal(sent.slice(head.length) === (length === "known" ? texts.join("") : `${chunks}0\r\n\r\n`), true);
      talk.transport.give(OK);
      assert.equal(talk.connection.free, 1);
      await talk.end();
    });
  }

  it("reads no more of its body than the transport takes", async () => {
    const talk = new Talk();
    const body = new PiecesBody(["a", "b", "c", "d"]);
    talk.transport.full = true;
    talk.send("PUT", body);
    for (let reads = 1; reads <= 5; reads++) {
      await settled();
      assert.equal(body.reads, reads);
      if (reads === 5) break;
      talk.transport.drain();
      talk.transport.full = true;
    }
    assert.equal(talk.transport.written.endsWith("0\r\n\r\n"), true);
    await talk.end();
  });

  it("is answered while its body is still sent, and both go on", async () => {
    const talk = new Talk();
    talk.transport.full = true;
    const body = new PiecesBody(["a", "b"]);
    const recorder = talk.send("POST", body);
    await settled();
    talk.transport.give("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nA");
    assert.equal(recorder.body, "A");
    talk.transport.drain();
    await settled();
    assert.equal(body.cancelled, undefined);
    assert.equal(talk.transport.written.endsWith("1\r\na\r\n1\r\nb\r\n0\r\n\r\n"), true);
    talk.transport.give("B");
    assert.equal(recorder.body, "AB");
    assert.equal(talk.connection.free, 1);
    await talk.end();
  });

  it("whose whole answer, an error, comes before its body is sent stops the body, and the connection ends", async () => {
    const talk = new Talk();
    talk.transport.full = true;
    const body = new PiecesBody(["a", "b"]);
    const recorder = talk.send("POST", body);
    await settled();
    talk.transport.give("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
    assert.equal(recorder.body, "no");
    assert.equal(recorder.calls.at(-1), "onEnd");
    assert.equal((body.cancelled as HttpError).code, "CONNECTION_LOST");
    assert.equal(talk.connection.free, 0);
    await talk.owner.closed;
    assert.equal(talk.transport.written.includes("b"), false);
    assert.deepEqual(talk.owner.calls, ["onClosing", "onClosed"]);
  });

  it("whose whole answer, success, comes before its body is sent goes on, and the connection is used again", async () => {
    for (const body of [new PiecesBody(["a", "b"]), bytesBody("x".repeat(100_000))]) {
      const talk = new Talk();
      const recorder = talk.send("POST", body);
      talk.transport.full = true;
      await settled();
      talk.transport.give(OK);
      assert.equal(recorder.calls.at(-1), "onEnd");
      assert.equal(talk.connection.free, 0);
      talk.transport.drain();
      await settled();
      assert.equal(recorder.calls.at(-1), "onSent");
      assert.ok(talk.connection.restsUntil! - performance.now() > 10); // as its server may close it once it has read the body
      assert.equal(talk.connection.free, 1);
      await talk.end();
    }
  });

  it("whose whole answer, success, comes before its body is sent fails if more bytes are behind that", async () => {
    for (const more of ["\r\n", OK]) {
      const talk = new Talk();
      const recorder = talk.send("POST", new PiecesBody(["a", "b"]));
      talk.transport.full = true;
      await settled();
      talk.transport.give(OK + more);
      assert.deepEqual(recorder.calls.slice(-2), ["onEnd", "onFail"]);
      await talk.owner.closed;
      assert.equal(talk.owner.error?.code, "CONNECTION_LOST");
    }
  });

  it("whose answer begins with an error stops its body at once, and the rest of the answer still comes", async () => {
    const talk = new Talk();
    talk.transport.full = true;
    const body = new PiecesBody(["a", "b"]);
    const recorder = talk.send("POST", body);
    await settled();
    talk.transport.give("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nn");
    assert.notEqual(body.cancelled, undefined);
    talk.transport.drain();
    await settled();
    assert.equal(body.reads, 1);
    talk.transport.give("o");
    assert.equal(recorder.body, "no");
    assert.equal(recorder.calls.at(-1), "onEnd");
    await talk.owner.closed;
  });

  it("refused while its body waits in the transport leaves a connection that nobody uses again", async () => {
    const talk = new Talk();
    const recorder = talk.send("POST", bytesBody("x".repeat(100_000)));
    talk.transport.full = true;
    talk.transport.give("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    assert.equal(recorder.calls.at(-1), "onEnd");
    assert.equal(talk.connection.free, 0);
    await talk.owner.closed;
  });

  it("whose body breaks fails with the body's error, and the connection ends", async () => {
    const broken = new HttpError("BODY_FAILED", "the disk is gone");
    const talk = new Talk();
    const recorder = await talk.send("POST", new PiecesBody(["a", broken])).over;
    assert.equal(recorder.error, broken);
    assert.equal(recorder.untouched, false);
    await talk.owner.closed;
    assert.equal(talk.transport.written.endsWith("0\r\n\r\n"), false, "a last chunk");
  });

  it("whose body is longer or shorter than its length fails, and nothing beyond the length is sent", async () => {
    const shorter = new Talk();
    const recorder = await shorter.send("POST", new StreamBody(["abc"], 4)).over;
    assert.equal(recorder.error?.code, "BODY_FAILED");
    const longer = new Talk();
    const other = await longer.send("POST", new StreamBody(["abc", "de"], 4)).over;
    assert.equal(other.error?.code, "BODY_FAILED");
    assert.equal(longer.transport.written.includes("d"), false);
    await Promise.all([longer.owner.closed, shorter.owner.closed]);
  });

  it("that fails cancels its body", async () => {
    const talk = new Talk();
    talk.transport.full = true;
    const body = new PiecesBody(["a", "b"]);
    const recorder = talk.send("POST", body);
    await settled();
    talk.transport.close();
    assert.equal(recorder.error?.code, "CONNECTION_LOST");
    assert.equal(body.cancelled, recorder.error);
  });

  it("has the last byte of its length sent once its source has ended", async () => {
    const talk = new Talk();
    let finish = (): void => {};
    const end = new Promise<undefined>((resolve) => finish = () => resolve(undefined));
    const body = new PiecesBody(["abcd"], 4);
    const read = body.read.bind(body);
    body.read = () => body.reads === 0 ? read() : end;
    const recorder = talk.send("POST", body);
    await settled();
    assert.equal(talk.transport.written.endsWith("d"), false);
    finish();
    await settled();
    assert.equal(talk.transport.written.endsWith("\r\n\r\nabcd"), true);
    talk.transport.give(OK);
    assert.equal(recorder.calls.at(-1), "onEnd");
    assert.equal(talk.connection.free, 1);
    await talk.end();
  });
});
