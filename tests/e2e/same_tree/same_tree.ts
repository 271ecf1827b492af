import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { createStaticHandler, type PrecompressedCoding, type StaticHandler } from "../../../lib/static/mod.ts";
import { entries, serveHandler } from "../../static/served_handler.ts";
import { curl, type CurlAnswer, type CurlRequest } from "./curl.ts";
import { makeServedTree, type ServedTree, treePaths } from "./served_tree.ts";
import type { ServerProcess } from "./server_process.ts";

/** Another server of files. */
export interface Peer {
  /** Starts the peer on `tree`; it writes its files to `folder`. */
  readonly start: (folder: string, tree: string) => Promise<ServerProcess>;
  /** The order in which it prefers variants. */
  readonly precompressed: readonly PrecompressedCoding[];
  /** Values of `Accept-Encoding` that it reads as the standard has it; undefined: none is sent. */
  readonly encodings: readonly (string | undefined)[];
}

/** The responses to one request: the peer's, and this package's by each entry point. */
export interface Answers {
  /** The request as it was sent last; the servers' own validators may differ in it. */
  readonly request: CurlRequest;
  readonly theirs: CurlAnswer;
  /** This package's responses, by entry point. */
  readonly ours: ReadonlyMap<string, CurlAnswer>;
}

/** A peer and this package, serving the same tree. */
export class SameTree {
  readonly tree: ServedTree;
  readonly encodings: Peer["encodings"];
  /** The codings that all servers support. */
  readonly precompressed: Peer["precompressed"];
  readonly #handler: StaticHandler;
  readonly #servers: ReadonlyMap<string, ServerProcess>;

  private constructor(
    tree: ServedTree,
    { encodings, precompressed }: Peer,
    handler: StaticHandler,
    servers: ReadonlyMap<string, ServerProcess>,
  ) {
    this.tree = tree;
    this.encodings = encodings;
    this.precompressed = precompressed;
    this.#handler = handler;
    this.#servers = servers;
  }

  /** Makes a tree below `folder` and serves it. */
  static async serve(peer: Peer, folder: string): Promise<SameTree> {
    const tree = await makeServedTree(folder);
    const theirs = await peer.start(join(folder, "peer"), tree.folder);
    const handler = await createStaticHandler(tree.folder, { precompressed: peer.precompressed });
    const servers = new Map<string, ServerProcess>([["peer", theirs]]);
    for (const entry of entries) servers.set(entry, await serveHandler(handler, entry));
    return new SameTree(tree, peer, handler, servers);
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) await server.close();
    await this.#handler.close();
  }

  /**
   * Asks the peer and ours. Where requests are about a validator, each is given the one that it sent itself: let
   * `requestsFor` make them from that server's answers to `first`.
   */
  async ask(
    requests: readonly CurlRequest[],
    requestsFor?: (first: readonly CurlAnswer[]) => readonly CurlRequest[],
  ): Promise<Answers[]> {
    const byServer = new Map<string, CurlAnswer[]>();
    let asked = requests;
    for (const [name, { port }] of this.#servers) {
      const first = await curl(port, requests);
      if (requestsFor) asked = requestsFor(first);
      byServer.set(name, requestsFor ? await curl(port, asked) : first);
    }
    return asked.map((request, i) => ({
      request,
      theirs: byServer.get("peer")![i],
      ours: new Map(entries.map((entry) => [entry, byServer.get(entry)![i]])),
    }));
  }

  /** Returns every path of the tree, with every `Accept-Encoding`. */
  everything(extra: Partial<CurlRequest> = {}): CurlRequest[] {
    return treePaths.flatMap((path) => this.encodings.map((encoding) => ({ ...extra, ...ask(path, encoding) })));
  }

  /** Returns the file that a path of a URL is about. */
  async original(path: string): Promise<Uint8Array> {
    const file = decodeURIComponent(path).slice(1);
    return await readFile(join(this.tree.folder, file.endsWith("/") || file === "" ? `${file}index.html` : file));
  }
}

/** A peer and this package's server, as the tests compare them. */
export interface Comparison {
  /** The peer's name. */
  readonly name: string;
  /** The reason to skip the comparison; false if it can be made. */
  readonly skip: string | false;
  /** The servers, while tests run. */
  readonly same: () => SameTree;
}

/** Serves a tree by a peer and by this package while the tests of a file run. */
export function compared(name: string, skip: string | false, peer: Peer): Comparison {
  let folder = "";
  let same: SameTree | undefined;
  before(async () => {
    if (skip) return;
    folder = await mkdtemp(join(tmpdir(), "millrace-peer-"));
    same = await SameTree.serve(peer, folder);
  });
  after(async () => {
    await same?.close();
    if (folder) await rm(folder, { recursive: true });
  });
  return { name, skip, same: () => same! };
}

/** Returns a request for a path, with an `Accept-Encoding` if there is one. */
export function ask(path: string, encoding: string | undefined, fields: CurlRequest["fields"] = {}): CurlRequest {
  return { path, fields: { ...(encoding !== undefined && { "Accept-Encoding": encoding }), ...fields } };
}

/** Calls `check` with the peer's answer and each of this package's; names the failing one. */
export function each(all: readonly Answers[], check: (theirs: CurlAnswer, ours: CurlAnswer) => void): void {
  assert.ok(all.length > 0);
  for (const { request, theirs, ours } of all) {
    for (const [entry, answer] of ours) {
      try {
        check(theirs, answer);
      } catch (error) {
        (error as Error).message += `\n${entry}: ${JSON.stringify(request)}\ntheirs ${told(theirs)}\nours ${
          told(answer)
        }`;
        throw error;
      }
    }
  }
}

function told({ status, headers, body }: CurlAnswer): string {
  return `${status} ${JSON.stringify(Object.fromEntries(headers))} ${body.length} bytes`;
}

/** Requires equal values of a field after `change`, if both responses have the field. */
export function assertField(
  name: string,
  theirs: CurlAnswer,
  ours: CurlAnswer,
  change: (value: string) => unknown = (value) => value,
): void {
  const [their, our] = [theirs.headers.get(name), ours.headers.get(name)];
  if (their !== null && our !== null) assert.deepEqual(change(our), change(their), name);
}
