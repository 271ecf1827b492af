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
  ["batch/sinks_test.ts", node, "clients of databases for Node"],
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
  ["docs/", node, "reads pages"],
  ["docs/examples_isolated_test.ts", all, "examples name the runtimes they are for"],
  ["docs/running_isolated_test.ts", all, "each runtime has a server of its own"],
  ["docs/shell_examples_isolated_test.ts", all, "examples name the runtimes they are for"],
  ["e2e/", node, "a browser, a proxy or a registry gets bytes that tests of the parts compare on each runtime"],
  ["e2e/http_peers_isolated_test.ts", all, "sockets and TLS are the runtime's"],
  ["e2e/upload_fetch_isolated_test.ts", all, "the sender is the runtime's fetch()"],
  ["examples/", node, "it starts each example on the runtime that the example is for"],
  ["files/series/", node, "files of a series are written as others, which have tests on each runtime"],
  ["fuzz/", engines, "parsers and codecs"],
  ["http/hpack/", engines, "bytes"],
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
  ["precompress/", node, "same_bytes_test.ts there has each runtime write a tree, and compares them"],
  ["precompress/cli_test.ts", all, "the command starts a runtime"],
  ["precompress/lock_test.ts", all, "processes and signals are the runtime's"],
  ["precompress/pool_test.ts", all, "workers are the runtime's"],
  ["precompress/precompress_test.ts", all, "workers and files are the runtime's"],
  ["report/", node, "strings"],
  ["s3/", node, "requests of the HTTP client, which has tests on each runtime"],
  ["s3/objects_test.ts", all, "bodies both ways"],
  ["semantics/", engines, "strings and bytes"],
  ["site/", node, "Node builds the site, and a browser opens it"],
  ["soak/", node, "sums of figures"],
  ["static/bad_tree_test.ts", node, "manifests that lie"],
  ["static/changing_files_isolated_test.ts", node, "races that the handler decides, whichever runtime reads the files"],
  ["static/hostile_paths_isolated_test.ts", node, "strings; static/served_paths_test.ts is for each runtime"],
  ["static/previous_isolated_test.ts", node, "which tree answers is decided by the handler"],
  ["static/rebuilds_test.ts", node, "races that the handler decides, whichever runtime reads the files"],
  ["static/rfc_cases_isolated_test.ts", node, "fields of answers; static/fields_test.ts has them on each runtime"],
  [
    "static/rfc_combinations_isolated_test.ts",
    node,
    "fields of answers; static/fields_test.ts has them on each runtime",
  ],
  ["static/swapped_files_isolated_test.ts", node, "races that the handler decides, whichever runtime reads the files"],
  ["static/system_calls_isolated_test.ts", node, "which calls there are is decided by the handler"],
  ["static/tree/", node, "trees in memory"],
  ["streams/two_copies_isolated_test.ts", node, "symbols that copies share"],
  ["text/line_memory_isolated_test.ts", node, "it takes seconds of memory; limits of lines are in line_stream_test.ts"],
  ["text/", engines, "strings and bytes"],
  ["upload/decoded_body_test.ts", engines, "WebAssembly and bytes"],
  ["upload/digest_fields_test.ts", engines, "strings"],
  ["upload/bucket/", node, "requests of the HTTP client, which has tests on each runtime"],
  ["upload/bucket/resumable_test.ts", all, "bodies both ways"],
  [
    "upload/faults/server_killed_isolated_test.ts",
    node,
    "a killed process leaves what the kernel has, whichever runtime it was",
  ],
  [
    "upload/resumable/model_isolated_test.ts",
    node,
    "a folder's states; other tests there run its steps on each runtime",
  ],
];

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
