/** Tests that fail on the oldest version of a runtime, and why. */
interface KnownFailure {
  readonly runtime: "node" | "deno" | "bun";
  readonly file: string;
  readonly test: RegExp;
  readonly reason: string;
}

const known = (runtime: KnownFailure["runtime"]) => (file: string, test: RegExp, reason: string): KnownFailure => ({
  runtime,
  file: `tests/${file}_test.ts`,
  test,
  reason,
});
const deno = known("deno");
const bun = known("bun");

/** The tests that fail on the oldest versions only; all of them pass on the current ones. */
export const knownFailures: readonly KnownFailure[] = [
  bun("compression/node_isolated", /./, "its node:http has no backpressure, and keeps lengths; the page says so"),
  deno("streams/native_side_isolated", /that was frozen/, "its own streams write to the object that is frozen"),
  deno("streams/native_side_isolated", /^structuredClone/, "it clones its own streams that are not transferred, too"),
  deno(
    "streams/native_side_isolated",
    /nothing of the runtime's before|refuses the runtime's pipe/,
    "it has no mark for streams that can be transferred, so the native side of ours is made with them",
  ),
  deno("streams/native_side_isolated", /told of the end/, "its own readers are told of it after their reads, too"),
  deno(
    "compression/node_isolated",
    /^http|callbacks|head that is refused|refuses a status|trailers|Fastify/,
    "its node:http has no backpressure, no flushHeaders() and no trailers, and forgets callbacks; the page says so",
  ),
  deno(
    "compression/node_isolated",
    /^h2|rejection that nobody/,
    "its node:http2 loses fields that were set before the head",
  ),
  deno("files/atomic_file_isolated", /^isAbandonedTemporary/, "the test learns no process id of spawnSync()"),
  deno(
    "files/file_streams_isolated",
    /names the file that it cannot make|never replaces a file/,
    "link() fails without a code",
  ),
  deno("files/replaced_files_isolated", /in the place of a pipe, a device/, "lstat() tells no pipes and devices"),
  deno(
    "node/readables",
    /visitor leaves|rejection that nobody|request of node:http2/,
    "a client that leaves is no error",
  ),
  deno("node/to_web", /destroys the (readable|writable)/, "what toWeb() destroys has no error"),
  deno("static/general_fields", /^OPTIONS \*/, "node:http takes OPTIONS * for a path"),
  deno(
    "static/middleware_isolated",
    /^HEAD has the fields of GET|^Vary that was set/,
    "node:http compresses by itself",
  ),
  deno("static/middleware_isolated", /requests that come at once/, "node:http mixes up pipelined requests"),
  deno("static/mount_isolated", /dictionary is for the paths/, "braces in a path reach the server in another form"),
  deno("upload/node_body", /nobody (catches|handles)|request of node:http2/, "node:http2 fails when a client leaves"),
  deno(
    "http/connect/errors_isolated",
    /./,
    "node:tls connects before the handshake, whose failure is a lost connection",
  ),
  deno("http/connect/tls_options", /certificate|key|pfx/, "node:tls takes no certificate of a client"),
  bun("streams/native_side_isolated", /released before it/, "releaseLock() of its readers rejects with no TypeError"),
  bun("streams/error_codes", /another type|no function/, "its own streams throw otherwise"),
  bun("streams/install_isolated", /saw before/, "inspect() shows its own strategies otherwise"),
  bun("codecs/stream", /the place of the runtime's own/, "it has no CompressionStream"),
  bun("static/middleware_isolated", /requests that come at once/, "node:http mixes up pipelined requests"),
  bun("static/mount_isolated", /dictionary is for the paths/, "braces in a path reach the server in another form"),
  bun(
    "http/connect/errors_isolated",
    /without TLS|in common|maxVersion|client certificate/,
    "node:tls does not heed these options",
  ),
  bun("http/request/request_body", /which the runtime reads/, "its formData() loses a file of a zero and a line break"),
  bun("http/connect/tls_options", /pfx/, "node:tls has no pfx"),
  bun("text/line_stream", /however both are cut/, "its TextEncoder drops half a surrogate pair at the end"),
];
