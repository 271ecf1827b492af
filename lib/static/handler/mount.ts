import type { IncomingMessage } from "node:http";
import { rawPath } from "./request_target.ts";

/** A request as Connect and Express have it: `url` is what is left of the target below a mount. */
export type MountedRequest = IncomingMessage & { readonly originalUrl?: string; readonly baseUrl?: string };

/** A path that a chain has a handler at, `app.use("/docs", site.node)`, where the handler does not see it. */
export interface Mount {
  /** As it is in the request's target: encoded, without a slash at its end. */
  readonly path: string;
  /** The request target below it. */
  readonly target: string;
  /** Whether the request is for the mount itself, without the slash that would make it a folder. */
  readonly lacksSlash: boolean;
}

/** The mount that the handler is at, according to `request`; undefined if it is at none. */
export function mountOf(request: MountedRequest): Mount | undefined {
  const { originalUrl } = request;
  if (originalUrl === undefined || originalUrl === request.url) return undefined; // most are at none
  const { baseUrl, url } = request;
  const [whole, inner] = [rawPath(originalUrl), rawPath(url!)];
  const target = inner === "" ? `/${url}` : url!; // Polka leaves nothing of "/docs?x" but the query
  if (inner !== "" && whole.endsWith(inner)) return mountAt(whole.slice(0, -inner.length), target, false);
  const isRoot = inner === "" || inner === "/";
  if (isRoot && (baseUrl === undefined || baseUrl === whole)) return mountAt(whole, target, true);
  return mountAt(baseUrl ?? "", target, false); // middleware wrote the URL anew
}

function mountAt(path: string, target: string, lacksSlash: boolean): Mount | undefined {
  return path === "" ? undefined : { path, target, lacksSlash };
}
