const all: readonly string[] = ["node", "bun", "deno"];
const node: readonly string[] = ["node"];
/** The runtimes with different engines: Deno has the same as Node. */
const engines: readonly string[] = ["node", "bun"];

/**
 * Tests that `npm test` runs on fewer than three runtimes, by the beginning of their path, and why; the longest
 * beginning counts. `npm run test:long` runs each on all, and so does a command line that names a runtime.
 */
export const rows: readonly (readonly [prefix: string, runtimes: readonly string[], reason: string])[] = [
  ["analyze/", node, "judges responses that have arrived; the client that brings them has tests of its own"],
  ["architecture/", node, "reads sources"],
  ["batch/", engines, "JavaScript over streams of JavaScript"],
  ["batch/sinks_test.ts", node, "clients of databases for Node"],
  ...inFolder("batch/", "delays end_of_turn failing_native_pipe unhandled_rejection", all, "timers and rejections"),
  ["bench/", node, "reads results of benchmarks"],
  ["browser/", node, "the runtime is Chromium"],
  ["build/", node, "the bundlers are programs for Node"],
  ["build/bun_test.ts", all, "the bundler is Bun's"],
  ["ci/", node, "scripts that Node runs"],
  ["cli/", node, "e2e/npm_package_isolated_test.ts starts the command on each runtime"],
  ["codecs/", engines, "WebAssembly, without builtins of a runtime"],
  [
    "codecs/golden_test.ts",
    node,
    "precompress/same_bytes_test.ts compares what the three runtimes write, byte for byte",
  ],
  ["codecs/native_test.ts", all, "compares with the runtime's own codecs"],
  ...inFolder(
    "compression/",
    "dictionaries_isolated gzip_whole negotiation_isolated recorders",
    node,
    "choices, and bytes that tests of the codecs compare on each engine",
  ),
  ["docs/", node, "reads pages"],
  ["docs/examples_isolated_test.ts", all, "examples name the runtimes they are for"],
  ["docs/running_isolated_test.ts", all, "each runtime has a server of its own"],
  ["docs/shell_examples_isolated_test.ts", all, "examples name the runtimes they are for"],
  ["e2e/", node, "a browser, a proxy or a registry gets bytes that tests of the parts compare on each runtime"],
  ["e2e/http_peers_isolated_test.ts", all, "sockets and TLS are the runtime's"],
  ["e2e/upload_fetch_isolated_test.ts", all, "the sender is the runtime's fetch()"],
  ["examples/", node, "it starts each example on the runtime that the example is for"],
  ["files/series/", node, "files of a series are written as others, which have tests on each runtime"],
  ...inFolder(
    "files/",
    "created_file file_series_isolated hostile_temporaries lasting_paths_isolated lost_lock_isolated number_file_writer_isolated read_only_files_isolated rename replaced_files_isolated take_name turn write_batch follow/followed_series_isolated follow/is_of follow/stale_handles",
    node,
    "steps made of opening, writing, locking and renaming, which have tests on each runtime",
  ),
  ["frameworks/", node, "packages for Node; interop/ has an adapter for each runtime"],
  ["fuzz/", engines, "parsers and codecs"],
  ["http/call/", node, "what a call makes of answers and failures; http/connect, dial and faults bring them"],
  ["http/conformance/", engines, "bytes"],
  ...inFolder(
    "http/diagnostics/",
    "early_subscribers_isolated opentelemetry_isolated",
    node,
    "which events there are; channels_isolated_test.ts has them on each runtime",
  ),
  ["http/h1/", engines, "bytes"],
  ["http/h2/", engines, "bytes"],
  ["http/h2/real_server_isolated_test.ts", all, "sockets are the runtime's"],
  ["http/hostile/", engines, "parsers and limits"],
  ["http/hpack/", engines, "bytes"],
  ["http/model_isolated_test.ts", node, "states of a pool; http/life has its connections on each runtime"],
  ["http/origin/", node, "queues and ages in memory"],
  ...inFolder(
    "http/proxy/",
    "early_bytes_isolated hostile_proxy_isolated proxy_option_isolated",
    node,
    "what a proxy answers; tunnel_isolated_test.ts has its sockets on each runtime",
  ),
  ["http/request/", engines, "steps of the standard"],
  ...inFolder(
    "http/request/",
    "fetch_request read_streams_isolated request_signals_isolated two_way_bodies_isolated unread_files_isolated upload_progress_isolated",
    all,
    "Request, signals, files and sockets are the runtime's",
  ),
  ["http/response/", engines, "steps of the standard"],
  ...inFolder(
    "http/response/",
    "http_response_isolated large_bodies_isolated native_members_isolated replaced_globals_isolated",
    all,
    "Response and what it inherits are the runtime's",
  ),
  ["http/soak/", node, "memory over time; http/life has a test of each leak on each runtime"],
  ["interop/", node, "servers and packages for Node"],
  ["interop/deno_std_isolated_test.ts", all, "a suite for Deno"],
  ["interop/hono_test.ts", all, "an adapter for each runtime"],
  ["interop/suites_isolated_test.ts", all, "suites for Node and Deno"],
  ["interop/srvx_test.ts", all, "an adapter for each runtime"],
  ["names/", node, "strings"],
  ["options/", node, "schemas"],
  ["pages/", node, "strings"],
  [
    "pino/ends_at_random_isolated_test.ts",
    node,
    "a killed process leaves what the kernel has, whichever runtime it was",
  ],
  [
    "precompress/",
    node,
    "same_bytes_test.ts there has each runtime write a tree, and compares them; files/locking_processes_isolated_test.ts has locks on each",
  ],
  ["precompress/pool_test.ts", all, "workers are the runtime's"],
  ["report/", node, "strings"],
  ["s3/", node, "requests of the HTTP client, which has tests on each runtime"],
  ["s3/objects_test.ts", all, "bodies both ways"],
  ["semantics/", engines, "strings and bytes"],
  ["site/", node, "Node builds the site, and a browser opens it"],
  ["soak/", node, "sums of figures"],
  ["static/", node, "paths, fields and choices"],
  ...inFolder(
    "static/",
    "close_isolated descriptor_shortage dropped_responses fields folder_watch_isolated general_fields hono_isolated http2_isolated reload_isolated served_paths shortage_isolated slow_clients_isolated unreadable watch_isolated",
    all,
    "files, watchers and servers are the runtime's",
  ),
  ["streams/", engines, "JavaScript; those of JavaScript meet the runtime's own in the rows below"],
  ...inFolder(
    "streams/",
    "bridge bridge_batch contexts/contexts differential idle_error install_isolated long_turn_isolated mixed_readers native_destination native_side_isolated native_writer odd_reads replaced_globals_isolated task transform_feed unhandled_rejection",
    all,
    "the runtime's own streams, contexts and turns",
  ),
  ["streams/drop_in_", all, "places that take the runtime's own streams"],
  ["streams/edge/", all, "places that take the runtime's own streams"],
  ["streams/two_copies_isolated_test.ts", node, "symbols that copies share"],
  ["text/line_memory_isolated_test.ts", node, "it takes seconds of memory; limits of lines are in line_stream_test.ts"],
  ["text/", engines, "strings and bytes"],
  ["upload/", node, "states and fields"],
  ["upload/bucket/resumable_test.ts", all, "bodies both ways"],
  [
    "upload/faults/server_killed_isolated_test.ts",
    node,
    "a killed process leaves what the kernel has, whichever runtime it was",
  ],
  ["upload/faults/wrong_digest_isolated_test.ts", node, "a state of the handler; the other faults are on each runtime"],
  ["upload/form/", engines, "parsers"],
  ["upload/form/form_browser_test.ts", node, "a browser's bytes, of which each engine has the parser's tests"],
  ["upload/faults/", all, "senders, sockets and full disks are the runtime's"],
  ...inFolder(
    "upload/",
    "documented_servers followed_file_isolated held_up_isolated min_rate node_body save_body_isolated form/form_memory_isolated form/form_senders form/save_form_isolated sinks/file_sink_isolated",
    all,
    "servers and files are the runtime's",
  ),
  ...inFolder(
    "upload/handler/",
    "admission close early_answers expect http2_isolated https leaving_senders_isolated slow_senders trailers",
    all,
    "when bytes of a request come, and are answered, is up to the runtime's server",
  ),
  ...inFolder(
    "upload/resumable/",
    "disk_full killed_steps progress takeover_isolated tus_client_isolated",
    all,
    "servers, files and processes are the runtime's",
  ),
  ["wpt/compression_isolated_test.ts", engines, "WebAssembly; codecs/native_test.ts meets the runtime's own codecs"],
];

function inFolder(folder: string, names: string, runtimes: readonly string[], reason: string): typeof rows[number][] {
  return names.split(" ").map((name) => [`${folder}${name}_test.ts`, runtimes, reason]);
}

/** Returns the runtimes on which `npm test` runs a test file. */
export function runtimesOf(path: string): readonly string[] {
  let [longest, runtimes]: [string, readonly string[]] = ["", all];
  for (const [prefix, chosen] of rows) {
    if (prefix.length > longest.length && path.startsWith(`tests/${prefix}`)) [longest, runtimes] = [prefix, chosen];
  }
  return runtimes;
}

/** The tests that every run repeats with plain streams: those of places where runtimes accept or create streams. */
const plain = /^tests\/streams\/(bridge|drop_in_(?!server)|edge\/|idle_error|native_writer|odd_reads|transform_feed)/;

/**
 * Whether a test file also runs with `MILLRACE_PLAIN=1`. In long runs all tests of the streams do, except isolated
 * ones.
 */
export function isForPlainForm(path: string, isLong: boolean): boolean {
  return (isLong ? path.startsWith("tests/streams/") : plain.test(path)) && !path.endsWith("_isolated_test.ts");
}
