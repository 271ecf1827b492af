/** The part of Bun's server used here, which passes itself to `fetch(request, server)`. */
interface BunServer {
  requestIP(request: Request): object | null;
}

/**
 * Whether a request comes from Bun's own server: then the chunks of its body are nobody else's, where those of a
 * Request that was made by hand may be its maker's.
 *
 * @param server The second argument that the server passed to `fetch()` besides the request.
 */
export function isFromBunServer(request: Request, server: unknown): boolean {
  const { requestIP } = (server ?? {}) as Partial<BunServer>;
  return typeof requestIP === "function" && (server as BunServer).requestIP(request) !== null;
}
