import assert from "node:assert/strict";
import test from "node:test";
import { checkTlsOptions, type HttpTlsOptions, TlsContext } from "../../../lib/http/tls_options.ts";
import { certificates } from "../certificates.ts";

const { ca, client, lockedClientKey, clientPfx, stranger, selfSigned } = certificates;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const good: Readonly<Record<string, HttpTlsOptions>> = {
  nothing: {},
  "an authority": { ca },
  "authorities, as text and bytes": { ca: [bytes(ca), selfSigned.cert] },
  "a client certificate": client,
  "a client certificate in bytes": { cert: bytes(client.cert), key: bytes(client.key) },
  "a locked key": { cert: client.cert, key: lockedClientKey, passphrase: "open" },
  "a key with a passphrase that it does not need": { ...client, passphrase: "open" },
  "a PKCS #12 file": { pfx: clientPfx, passphrase: "open" },
  "all that is no certificate": {
    servername: "one.test",
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
    minVersion: "TLSv1.2",
    maxVersion: "TLSv1.3",
  },
  "options that are undefined": { ca: undefined, servername: undefined },
};
for (const [what, options] of Object.entries(good)) {
  test(`TLS options are accepted: ${what}`, () => {
    const checked = checkTlsOptions(options);
    assert.notEqual(checked, options);
    const given = Object.keys(options).filter((name) => options[name as keyof HttpTlsOptions] !== undefined);
    assert.deepEqual(Object.keys(checked).sort(), given.sort());
  });
}

const bad: readonly [what: string, options: unknown, message: RegExp][] = [
  ["an unknown option", { ciphers: "HIGH" }, /^HttpClient: unknown option "tls\.ciphers": use ca, cert/],
  ["a name of every object", { constructor: 1 }, /^HttpClient: unknown option "tls\.constructor"/],
  ["a ca that is no certificate", { ca: "junk" }, /^tls\.ca is not a certificate in PEM format/],
  ["a ca that is a key", { ca: client.key }, /^tls\.ca is not a certificate/],
  ["one of several that is none", { ca: [ca, "junk"] }, /^tls\.ca is not a certificate/],
  ["no ca in an array", { ca: [] }, /^tls\.ca must be/],
  ["a ca of a wrong type", { ca: 1 }, /^tls\.ca must be PEM text.* not 1$/],
  ["null", { ca: null }, /^tls\.ca must be/],
  ["cert without key", { cert: client.cert }, /need each other/],
  ["key without cert", { key: client.key }, /need each other/],
  ["a cert that is none", { cert: "junk", key: client.key }, /^tls\.cert is not a certificate/],
  ["a key that is none", { cert: client.cert, key: "junk" }, /^tls\.key is not a private key/],
  ["a key of another certificate", { cert: client.cert, key: stranger.key }, /^tls\.key does not belong to tls\.cert/],
  ["a locked key without a passphrase", { cert: client.cert, key: lockedClientKey }, /needs tls\.passphrase/],
  [
    "a passphrase that does not unlock the key",
    { cert: client.cert, key: lockedClientKey, passphrase: "shut" },
    /tls\.passphrase does not unlock it/,
  ],
  ["a passphrase that does not unlock pfx", { pfx: clientPfx, passphrase: "shut" }, /^tls\.pfx cannot be read/],
  ["a pfx that is none", { pfx: bytes("junk") }, /^tls\.pfx cannot be read/],
  ["a pfx that is text", { pfx: "junk" }, /^tls\.pfx must be bytes/],
  ["pfx and cert", { ...client, pfx: clientPfx, passphrase: "open" }, /takes the place of/],
  ["a passphrase for nothing", { passphrase: "open" }, /there is neither/],
  ["an old version", { minVersion: "TLSv1.1" }, /^tls\.minVersion must be "TLSv1\.2" or "TLSv1\.3", not "TLSv1\.1"/],
  ["no version left", { minVersion: "TLSv1.3", maxVersion: "TLSv1.2" }, /no version is left/],
  ["0 for false", { rejectUnauthorized: 0 }, /^tls\.rejectUnauthorized must be true or false, not 0/],
  ["a check that is no function", { checkServerIdentity: {} }, /^tls\.checkServerIdentity must be a function/],
  ["an empty name", { servername: "" }, /^tls\.servername must be a name/],
];
for (const [what, options, message] of bad) {
  test(`TLS options are refused: ${what}`, () => {
    assert.throws(() => checkTlsOptions(options as HttpTlsOptions), (error: unknown) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, message);
      return true;
    });
  });
}

test("the TLS context is made once for the options of a client", () => {
  const options = checkTlsOptions({ ca });
  assert.equal(TlsContext.of(options), TlsContext.of(options));
  assert.notEqual(TlsContext.of(options), TlsContext.of(checkTlsOptions({ ca })));
});

test("sessions are kept for a limited number of servers, the latest", () => {
  const context = TlsContext.of(checkTlsOptions({}));
  const kept = (n: number): { session: Uint8Array; certificate: undefined } => ({
    session: new Uint8Array([n]),
    certificate: undefined,
  });
  for (let n = 0; n < 300; n++) context.keep(`server${n}:443`, kept(n & 255));
  assert.equal(context.kept("server0:443"), undefined);
  assert.equal(context.kept("server43:443"), undefined);
  assert.equal(context.kept("server44:443")?.session[0], 44);
  assert.equal(context.kept("server299:443")?.session[0], 43);
  context.forget("server299:443");
  assert.equal(context.kept("server299:443"), undefined);
});
