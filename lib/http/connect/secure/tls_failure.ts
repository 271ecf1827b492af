/** Patterns of TLS failures (OpenSSL's and BoringSSL's reasons, and what Deno makes of rustls's), with their meanings. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH/, "what answers does not speak TLS; is it an http: server?"],
  [/CERTIFICATE_REQUIRED/, "it asks for a client certificate: give tls.cert and tls.key"],
  [
    /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_\w+|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/,
    "it refuses the client certificate that tls.cert has",
  ],
  [/NO_APPLICATION_PROTOCOL/, "it speaks none of the protocols that were offered (ALPN)"],
  [/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/, "no version of TLS in common: see tls.minVersion and tls.maxVersion"],
  [
    /HANDSHAKE_FAILURE/,
    "it refuses the handshake: no cipher suite in common, or it asks for a client certificate (tls.cert and tls.key)",
  ],
];

/**
 * Explains a TLS error, and what can be done.
 *
 * @param option The option that says how TLS is spoken with the server.
 */
export function explainTlsFailure(code: string, message: string, option: "tls" | "proxyTls"): string {
  const said = `${code} ${message.toUpperCase().replaceAll(" ", "_")}`;
  const known = meanings.find(([pattern]) => pattern.test(said));
  return known ? `${known[1].replaceAll("tls.", `${option}.`)} (${code})` : message.trim();
}
