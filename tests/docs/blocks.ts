/** The blocks of code in the documentation: read, checked, and run in a user's project. */
export { type Block } from "./block.ts";
export { checkBlocks } from "./check_blocks.ts";
export { denoCheckBlocks } from "./deno_check_blocks.ts";
export { type PeerServer, startPeerServer } from "./peer_server.ts";
export { makeProject, type Project } from "./project.ts";
export { documentationFiles, readBlocks } from "./read_blocks.ts";
export { runBlock } from "./run_block.ts";
export { type RunOptions } from "./work_folder.ts";
export { runShellBlock } from "./run_shell_block.ts";
export { readShellBlocks, type ShellBlock } from "./shell_block.ts";
export { needsDatabase, runBlocks } from "./run_blocks.ts";
export { type RuntimeName, runtimeNames } from "./runtime_name.ts";
