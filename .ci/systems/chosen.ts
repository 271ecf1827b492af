/**
 * The tests of what differs between systems: files, names, processes and paths; the shortest of a kind first. The rest
 * computes, or talks over sockets, and is left to Linux.
 */
export const chosen: readonly string[] = [
  ...inFolder("windows", "products_isolated"),
  ...inFolder("upload", "handler/hostile_paths sinks/contained_path"),
  ...inFolder("static", "request_target served_paths tree/scan_tree tree/manifest"),
  ...inFolder(
    "files",
    "rename take_name atomic_file_isolated copy_file_atomic_isolated created_file failed_writes_isolated",
  ),
  ...inFolder(
    "files",
    "replaced_files_isolated file_streams_isolated file_series_isolated follow/follow_file_isolated rotating_file_writable_isolated",
  ),
  ...inFolder("files", "series/series_record"),
];

/** Tests that take minutes under Wine, or whose modules its Node cannot load: they run on Windows and macOS alone. */
export const long: readonly string[] = [
  ...inFolder("cli", "serve_command"),
  ...inFolder(
    "files",
    "appended_files_isolated follow/followed_series_isolated series/continued_series_isolated hostile_temporaries temporary_isolated process_lock_isolated write_batch write_fully",
  ),
  ...inFolder("precompress", "ownership precompress previous cli killed lock cache/directory_store"),
  ...inFolder("static", "hostile_paths_isolated middleware_isolated rebuilds watch_isolated"),
  ...inFolder(
    "upload",
    "form/save_form_isolated sinks/file_sink_isolated handler/statuses resumable/sessions_isolated",
  ),
  ...inFolder("windows", "windows_rules"),
];

function inFolder(folder: string, names: string): string[] {
  return names.split(" ").map((name) => `tests/${folder}/${name}_test.ts`);
}

/** A test that fails under Wine and passes on Windows. */
interface KnownFailure {
  readonly file: string;
  readonly test: RegExp;
  readonly reason: string;
}

const known = (file: string, test: RegExp, reason: string): KnownFailure => ({
  file: `tests/${file}_test.ts`,
  test,
  reason,
});
const SLOW = "processes start and files are read so slowly that a limit of the test passes";

/** The tests that fail under Wine 8. */
export const knownFailures: readonly KnownFailure[] = [
  known("precompress/ownership", /^permissions and times of variants/, "Wine keeps no modes of files"),
  known(
    "files/series/continued_series_isolated",
    /that is removed under a series/,
    "a file that is removed while open keeps a name",
  ),
  known("files/follow/followed_series_isolated", /killed within a line/, SLOW),
  known("static/rebuilds", /./, SLOW),
  known("static/dropped_responses", /./, SLOW),
  known("precompress/bundled", /./, "esbuild and Yarn are those of this system"),
  known("precompress/lock", /take turns|version 0\.2/, `${SLOW}; process numbers are not those of Windows`),
];

/** Marks of files that Node 22, the last one that starts under Wine 8, cannot load. */
export const unknownSyntax: RegExp = /\bawait using\b/;
