import type { IncomingMessage, ServerResponse } from "node:http";

/** A step of a chain, as Connect and Express have them. */
export type Middleware = (
  request: MountedRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** What Connect and Express make of a request. */
export type MountedRequest = IncomingMessage & { originalUrl?: string };

interface Step {
  readonly prefix: string;
  readonly run: Middleware;
}

/** Middleware in a chain that does to requests what Connect and Express do. */
export class ConnectChain {
  readonly #steps: Step[] = [];

  /** Adds a step for all that is below `prefix`, which it does not see. */
  use(prefix: string, run: Middleware): this {
    this.#steps.push({ prefix: prefix.replace(/\/$/, ""), run });
    return this;
  }

  /** A listener of node:http. What no step answers is a 404 that says so; what goes wrong, a 500. */
  readonly listener = (request: MountedRequest, response: ServerResponse): void => {
    request.originalUrl ??= request.url;
    const { url } = request;
    const go = (at: number, error?: unknown): void => {
      request.url = url;
      const step = this.#steps[at];
      if (error !== undefined || step === undefined) {
        if (response.headersSent) return;
        response.statusCode = error === undefined ? 404 : 500;
        response.end(error === undefined ? "nobody has it" : String(error));
        return;
      }
      const isBelow = url === step.prefix || /^[/?]/.test(url!.slice(step.prefix.length));
      if (!url!.startsWith(step.prefix) || !isBelow) return go(at + 1);
      const rest = url!.slice(step.prefix.length);
      request.url = rest.startsWith("/") ? rest : `/${rest}`;
      try {
        step.run(request, response, (error) => go(at + 1, error));
      } catch (error) {
        go(this.#steps.length, error);
      }
    };
    go(0);
  };
}
