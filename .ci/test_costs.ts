/** The test files that take long, by how many seconds a processor works for them on Node, or a third of those they wait. */
const files: Readonly<Record<number, string>> = {
  25: "docs/examples_isolated e2e/npm_package_isolated",
  15: "browser/browser_isolated e2e/http_peers_isolated docs/shell_examples_isolated",
  10: "e2e/chromium_isolated e2e/chromium_report_isolated e2e/chromium_site_dictionary_isolated " +
    "ci/server_build precompress/same_bytes precompress/site_dictionary site/site_isolated streams/edge/edge " +
    "wpt/wpt_isolated",
  8: "batch/sinks cli/serve_command e2e/nginx_isolated e2e/jsr_package_isolated precompress/lock " +
    "precompress/precompress upload/min_rate upload/resumable/tus_client_isolated",
  5: "compression/node_isolated docs/blocks_isolated docs/migrating_isolated e2e/caddy_isolated " +
    "e2e/http_nginx_apache_isolated examples/examples_isolated e2e/upload_chromium_isolated " +
    "http/dial/connect_function_isolated http/dial/hostile_duplex_isolated " +
    "precompress/cache/runs precompress/cli precompress/killed precompress/model/model precompress/ownership " +
    "precompress/previous precompress/unrest static/bad_tree static/changing_files_isolated static/rfc_cases_isolated " +
    "site/playground_isolated static/reload_isolated static/slow_clients_isolated " +
    "static/system_calls_isolated static/tree/manifest " +
    "text/line_memory_isolated upload/documented_servers upload/faults/disk_full_isolated " +
    "upload/faults/server_killed_isolated",
};

const costs = new Map(
  Object.entries(files).flatMap(([cost, names]) => {
    return names.split(" ").map((name): [string, number] => [`tests/${name}_test.ts`, Number(cost)]);
  }),
);

/** The files that {@linkcode costOf} knows. */
export const costly: readonly string[] = [...costs.keys()];

/** Returns about how long a test file takes, in seconds: others than those known take much the same. */
export function costOf(file: string): number {
  return costs.get(file) ?? 0.5;
}
