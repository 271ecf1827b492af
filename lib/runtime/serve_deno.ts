import type { Listening, ListenOptions } from "./serve_options.ts";

/** The parts of a server of `Deno.serve` used here. */
interface DenoServer {
  readonly addr: { readonly port: number };
  shutdown(): Promise<void>;
}
type DenoServe = (
  options: { hostname: string; port: number; cert?: string; key?: string; onListen: () => void },
  handler: ListenOptions["fetch"],
) => DenoServer;

/** Listens with `Deno.serve`. */
export function listenOnDeno({ fetch, address, port, tls }: ListenOptions): Promise<Listening> {
  const { serve } = (globalThis as unknown as { Deno: { serve: DenoServe } }).Deno;
  const server = serve(
    { hostname: address, port, ...(tls && { cert: tls.cert, key: tls.key }), onListen: () => {} },
    (request) => fetch(request),
  );
  return Promise.resolve({
    port: server.addr.port,
    finish: () => server.shutdown(),
    cut: () => {}, // nothing can cut what a shutdown waits for: it ends with the process
  });
}
