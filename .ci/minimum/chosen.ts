/** The tests that run on the oldest versions: of each part those that are quick and rely most on the runtime. */
export const chosen: readonly string[] = [
  ...inFolder("architecture", "subpaths_load"),
  ...inFolder(
    "streams",
    "aborted_pipe bridge bridge_batch byte_tee chunk_queue enqueue_all error_codes high_water_mark idle_error install_isolated",
  ),
  ...inFolder("streams", "native_side_isolated ring chunk_array_queue task unhandled_rejection"),
  ...inFolder("batch", "acknowledgement batches coalesce_bytes failing_pipe pipe sink sizes"),
  ...inFolder("text", "line_stream line_to_number_stream number_formatter number_to_line_stream"),
  ...inFolder("codecs", "checksum errors stream"),
  ...inFolder("compression", "node_isolated respond_isolated"),
  ...inFolder("semantics", "accept_encoding byte_ranges dictionaries entity_tags"),
  ...inFolder(
    "files",
    "atomic_file_isolated file_streams_isolated number_file_writer_isolated replaced_files_isolated rotating_file_writable_isolated write_batch",
  ),
  ...inFolder("node", "readables to_web writables"),
  ...inFolder("static", "fields general_fields middleware_isolated mount_isolated options request_target served_paths"),
  ...inFolder("static/tree", "manifest path_index scan_tree"),
  ...inFolder("upload", "digest_fields node_body save_body_isolated form/form_parser form/save_form_isolated"),
  ...inFolder("upload", "handler/middleware handler/options handler/statuses"),
  ...inFolder(
    "http",
    "connect/errors_isolated connect/tls_options request/redirect request/request_body response/response_body h1/responses h2/response",
  ),
  ...inFolder("precompress", "precompress previous"),
];

function inFolder(folder: string, names: string): string[] {
  return names.split(" ").map((name) => `tests/${folder}/${name}_test.ts`);
}
