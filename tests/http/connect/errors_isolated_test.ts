import assert from "node:assert/strict";
import type { LookupFunction } from "node:net";
import test from "node:test";
import type { TlsOptions } from "node:tls";
import { toConnectionError } from "../../../lib/http/connect/connection_error.ts";
import { HttpError } from "../../../lib/http/http_error.ts";
import type { HttpTlsOptions } from "../../../lib/http/tls_options.ts";
import { certificates } from "../certificates.ts";
import { connectTcp, connectTls, failure, trusting } from "./connecting.ts";
import { Record } from "./record.ts";
import { serveTcp, serveTls } from "./servers.ts";
import { freePort } from "../../support/ports.ts";

/** Returns the error that a TLS client meets at a server. */
async function refused(server: TlsOptions, tls: HttpTlsOptions = trusting, host = "localhost"): Promise<HttpError> {
  const listening = await serveTls(server, () => {});
  try {
    const lookup: LookupFunction = (_name, { all }, callback) => {
      if (all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
      else callback(null, "127.0.0.1", 4);
    };
    const error = await failure(connectTls(listening.port, tls, { lookup }, host));
    assert.equal(error.origin, `https://${host}:${listening.port}`);
    return error;
  } finally {
    await listening.close();
  }
}

test("nothing listens there: CONNECTION_REFUSED, with the address", async () => {
  const port = await freePort();
  for (const attempt of [connectTcp(port), connectTls(port, trusting, {}, "127.0.0.1")]) {
    const error = await failure(attempt);
    assert.equal(error.code, "CONNECTION_REFUSED");
    assert.equal((error.cause as NodeJS.ErrnoException).code, "ECONNREFUSED");
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1, port ${port}`));
  }
});

test("nothing listens at any address of a name: CONNECTION_REFUSED, with all of them", async () => {
  const port = await freePort();
  const lookup: LookupFunction = (_name, _options, callback) => {
    callback(null, [{ address: "127.0.0.1", family: 4 }, { address: "127.0.0.2", family: 4 }]);
  };
  const error = await failure(connectTcp(port, { lookup }, "somewhere.test"));
  assert.equal(error.code, "CONNECTION_REFUSED");
  assert.equal(error.origin, `http://somewhere.test:${port}`);
  assert.match(error.message, /127\.0\.0\.1.*127\.0\.0\.2/s);
});

test("a name that is not resolved: DNS_FAILED, with the name", async () => {
  const error = await failure(connectTcp(80, {}, "no-such-host.invalid"));
  assert.equal(error.code, "DNS_FAILED");
  assert.match(error.message, /no-such-host\.invalid/);
  assert.equal(error.origin, "http://no-such-host.invalid");
});

for (
  const [how, lookup] of [
    ["says an error", (_name, _options, callback) => callback(new Error("my resolver is ill"), "", 4)],
    ["throws", () => {
      throw new Error("my resolver is ill");
    }],
  ] as [string, LookupFunction][]
) {
  test(`a lookup of the options that ${how}: DNS_FAILED, with that error as the cause`, async () => {
    const error = await failure(connectTcp(80, { lookup }, "somewhere.test"));
    assert.equal(error.code, "DNS_FAILED");
    assert.equal((error.cause as Error).message, "my resolver is ill");
  });
}

test("a server that does not answer the TLS handshake: CONNECT_TIMEOUT, which names it", async () => {
  const server = await serveTcp(() => {});
  const error = await failure(connectTls(server.port, trusting, { timeout: 500 })); // the connection takes time, too
  assert.equal(error.code, "CONNECT_TIMEOUT");
  assert.match(error.message, /500 ms.*TLS/);
  await server.close();
});

test("a look-up that does not end: CONNECT_TIMEOUT, which names it", async () => {
  const error = await failure(connectTcp(80, { timeout: 50, lookup: () => {} }, "somewhere.test"));
  assert.equal(error.code, "CONNECT_TIMEOUT");
  assert.match(error.message, /50 ms.*look-up/);
});

test("a certificate that expired: CERTIFICATE_EXPIRED, with the date", async () => {
  const error = await refused(certificates.expired);
  assert.equal(error.code, "CERTIFICATE_EXPIRED");
  assert.match(error.message, /expired on Jan {1,2}1 00:00:00 2021/);
});

test("a certificate that is not valid yet: CERTIFICATE_EXPIRED, with the date", async () => {
  const error = await refused(certificates.notYetValid);
  assert.equal(error.code, "CERTIFICATE_EXPIRED");
  assert.match(error.message, /not valid before Jan {1,2}1 00:00:00 2120/);
});

test("a certificate for other names: CERTIFICATE_HOST_MISMATCH, with its names, for names and addresses", async () => {
  for (const host of ["localhost", "127.0.0.1", "three.test", "a.b.many.test"]) {
    const error = await refused(certificates.twoNames, { ...trusting }, host);
    assert.equal(error.code, "CERTIFICATE_HOST_MISMATCH");
    assert.ok(error.message.includes(`is for one.test, two.test, *.many.test, not for ${host}`), error.message);
  }
});

test("a certificate that signed itself: CERTIFICATE_UNTRUSTED, and tls.ca is named", async () => {
  const error = await refused(certificates.selfSigned);
  assert.equal(error.code, "CERTIFICATE_UNTRUSTED");
  assert.match(error.message, /signed by itself.*tls\.ca/);
});

test("a certificate of an authority that is not trusted: CERTIFICATE_UNTRUSTED, and the authority is named", async () => {
  for (const tls of [{ ca: certificates.selfSigned.cert }, {}]) {
    const error = await refused({}, tls);
    assert.equal(error.code, "CERTIFICATE_UNTRUSTED");
    assert.match(error.message, /issued by Millrace test CA/);
  }
});

test("a certificate that came without those between it and its authority: CERTIFICATE_UNTRUSTED; with them it is trusted", async () => {
  const { incomplete, intermediate } = certificates;
  const error = await refused(incomplete);
  assert.equal(error.code, "CERTIFICATE_UNTRUSTED");
  assert.match(error.message, /issued by Millrace test intermediate CA.*between/);
  const server = await serveTls({ key: incomplete.key, cert: incomplete.cert + intermediate }, () => {});
  (await connectTls(server.port)).destroy();
  await server.close();
});

test("an error that checkServerIdentity returns or throws: CERTIFICATE_UNTRUSTED, with that error as the cause", async () => {
  const mine = new Error("not the key that I pinned");
  const thrown = (): undefined => {
    throw mine;
  };
  for (const checkServerIdentity of [() => mine, thrown]) {
    const error = await refused({}, { ...trusting, checkServerIdentity });
    assert.equal(error.code, "CERTIFICATE_UNTRUSTED");
    assert.equal(error.cause, mine);
    assert.match(error.message, /checkServerIdentity: not the key that I pinned/);
  }
});

test("checkServerIdentity decides instead of the names, but not about who signed", async () => {
  const asked: string[] = [];
  const checkServerIdentity = (host: string): undefined => {
    asked.push(host);
  };
  const server = await serveTls(certificates.twoNames, () => {});
  (await connectTls(server.port, { ...trusting, checkServerIdentity })).destroy();
  await server.close();
  const { code } = await refused(certificates.selfSigned, { ...trusting, checkServerIdentity });
  assert.equal(code, "CERTIFICATE_UNTRUSTED");
  assert.deepEqual(asked, ["localhost"]);
});

test("rejectUnauthorized: false connects to all of them", async () => {
  const { expired, twoNames, selfSigned, incomplete } = certificates;
  for (const certificate of [expired, twoNames, selfSigned, incomplete]) {
    const server = await serveTls(certificate, () => {});
    (await connectTls(server.port, { rejectUnauthorized: false })).destroy();
    await server.close();
  }
});

test("a server that was let in without verification is not let in by a client that verifies", async () => {
  const server = await serveTls(certificates.selfSigned, (socket) => socket.end("tickets are before this"));
  for (let n = 0; n < 2; n++) await new Record(await connectTls(server.port, { rejectUnauthorized: false })).closed();
  assert.equal((await failure(connectTls(server.port, { ...trusting }))).code, "CERTIFICATE_UNTRUSTED");
  await server.close();
});

test("the environment does not turn the verification off", async () => {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  try {
    assert.equal((await refused(certificates.selfSigned)).code, "CERTIFICATE_UNTRUSTED");
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  }
});

test("a server without TLS: TLS_FAILED, and http: is proposed", async () => {
  const server = await serveTcp((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const error = await failure(connectTls(server.port));
  assert.equal(error.code, "TLS_FAILED");
  assert.match(error.message, /does not speak TLS.*http:/);
  await server.close();
});

test("no version of TLS in common: TLS_FAILED, and the options are named", async () => {
  const error = await refused({ maxVersion: "TLSv1.2" }, { ...trusting, minVersion: "TLSv1.3" });
  assert.equal(error.code, "TLS_FAILED");
  assert.match(error.message, /tls\.minVersion/);
});

test("maxVersion is heeded", async () => {
  const error = await refused({ minVersion: "TLSv1.3" }, { ...trusting, maxVersion: "TLSv1.2" });
  assert.equal(error.code, "TLS_FAILED");
});

test("no protocol in common: TLS_FAILED, and ALPN is named", async () => {
  const error = await refused({ ALPNProtocols: ["imap"] });
  assert.equal(error.code, "TLS_FAILED");
  assert.match(error.message, /ALPN/);
});

test("a server that goes during the handshake: CONNECTION_LOST", async () => {
  const server = await serveTcp((socket) => socket.destroy());
  assert.equal((await failure(connectTls(server.port))).code, "CONNECTION_LOST");
  await server.close();
});

test("a client certificate that the server asks for: TLS_FAILED without it, under TLS 1.3 after the handshake", async () => {
  const asking = { requestCert: true, rejectUnauthorized: true, ca: certificates.ca };
  const error = await refused({ ...asking, maxVersion: "TLSv1.2" });
  assert.equal(error.code, "TLS_FAILED");
  assert.match(error.message, /tls\.cert/);
  const server = await serveTls(asking, () => {});
  const record = new Record(await connectTls(server.port));
  await record.closed();
  const late = toConnectionError(record.error, "https://localhost");
  assert.equal(late.code, "TLS_FAILED");
  assert.match(late.message, /asks for a client certificate: give tls\.cert and tls\.key/);
  assert.deepEqual(record.order, ["close"]);
  await server.close();
});

for (
  const [how, tls] of [
    ["cert and key", certificates.client],
    ["a locked key", { cert: certificates.client.cert, key: certificates.lockedClientKey, passphrase: "open" }],
    ["pfx", { pfx: certificates.clientPfx, passphrase: "open" }],
  ] as [string, HttpTlsOptions][]
) {
  test(`a client certificate is shown: ${how}`, async () => {
    const server = await serveTls({ requestCert: true, rejectUnauthorized: true, ca: certificates.ca }, (socket) => {
      socket.end(String(socket.getPeerCertificate().subject.CN));
    });
    const record = new Record(await connectTls(server.port, { ...trusting, ...tls }));
    await record.closed();
    assert.equal(record.received, "A client");
    await server.close();
  });
}

test("toConnectionError(): what errors of a connection that was there mean", () => {
  const origin = "https://localhost:8443";
  const meaning = (code: string, syscall?: string): string =>
    toConnectionError(Object.assign(new Error(code), { code, syscall }), origin).code;
  assert.equal(meaning("ECONNRESET", "read"), "CONNECTION_LOST");
  assert.equal(meaning("EPIPE", "write"), "CONNECTION_LOST");
  assert.equal(meaning("ETIMEDOUT", "read"), "CONNECTION_LOST");
  assert.equal(meaning("EHOSTUNREACH", "write"), "CONNECTION_LOST");
  assert.equal(meaning("ETIMEDOUT", "connect"), "CONNECT_TIMEOUT");
  assert.equal(meaning("EHOSTUNREACH", "connect"), "CONNECTION_REFUSED");
  assert.equal(meaning("ENETUNREACH", "connect"), "CONNECTION_REFUSED");
  assert.equal(meaning("EAI_AGAIN", "getaddrinfo"), "DNS_FAILED");
  assert.equal(meaning("SELF_SIGNED_CERT_IN_CHAIN"), "CERTIFICATE_UNTRUSTED");
  assert.equal(meaning("ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC"), "TLS_FAILED");
  assert.equal(meaning("something else"), "CONNECTION_LOST");
  for (const odd of [undefined, null, "text", 1, new AggregateError([])]) {
    const error = toConnectionError(odd, origin);
    assert.equal(error.code, "CONNECTION_LOST");
    assert.equal(error.origin, origin);
    assert.match(error.message, /localhost/);
  }
  const denied = Object.assign(new Error("getaddrinfo EPERM localhost"), { code: "EPERM", syscall: "getaddrinfo" });
  assert.match(
    toConnectionError(denied, origin).message,
    /EPERM localhost; on Deno, run again with the --allow-net flag$/,
  );
  const known = new HttpError("RESET", "given up");
  assert.equal(toConnectionError(known, origin), known);
});

test("toConnectionError(): several addresses, and a program that may not use the network", () => {
  const refusedAt = (address: string): Error =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: "ECONNREFUSED", syscall: "connect" });
  const several = toConnectionError(
    new AggregateError([refusedAt("::1:9"), refusedAt("127.0.0.1:9")]),
    "http://localhost:9",
  );
  assert.equal(several.code, "CONNECTION_REFUSED");
  assert.match(several.message, /::1:9; .*127\.0\.0\.1:9/);
  const denied = Object.assign(new Error('Requires net access to "localhost:9"'), { name: "NotCapable" });
  assert.equal(toConnectionError(denied, "http://localhost:9").code, "CONNECTION_REFUSED");
});
