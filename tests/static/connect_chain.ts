import type { IncomingMessage, ServerResponse } from "node:http";

/** A step of a chain, as Connect and Express have them. */
export type Middleware = (
  request: MountedRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** A request as Connect and Express extend it. */
export type MountedRequest = IncomingMessage & { originalUrl?: string };

interface Step {
  readonly prefix: string;
  readonly run: Middleware;
}

/** Middleware in a chain that does to requests what Connect does. */
export class ConnectChain {
  readonly #steps: Step[] = [];

  /** Adds a step for all that is below `prefix`, which it does not see. */
  use(prefix: string, run: Middleware): this {
    this.#steps.push({ prefix: prefix.replace(/\/$/, ""), run });
    return this;
  }

  /** A listener of node:http. What no step answers is a 404 that says so; what goes wrong, a 500. */
  readonly listener = (request: MountedRequest, response: ServerResponse): void => {
    this.step(request, response, (error) => {
      if (response.headersSent) return;
      response.statusCode = error === undefined ? 404 : 500;
      response.end(error === undefined ? "nobody has it" : String(error));
    });
  };

  /** The whole chain as a step of another one. */
  readonly step: Middleware = (request, response, done): void => {
    request.originalUrl ??= request.url;
    const go = (at: number, error?: unknown): void => {
      const step = this.#steps[at];
      if (error !== undefined || step === undefined) return done(error);
      const url = request.url!;
      const [, origin, path] = /^([a-z]+:\/\/[^/]*)?(.*)$/.exec(url)!;
      const rest = path.slice(step.prefix.length);
      if (!path.startsWith(step.prefix) || !/^(?:$|[/?])/.test(rest)) return go(at + 1);
      const inner = (origin ?? "") + (rest.startsWith("/") ? rest : `/${rest}`);
      // The changes of a step without a prefix stay for the next step.
      if (step.prefix !== "") request.url = inner;
      try {
        step.run(request, response, (error) => {
          if (step.prefix !== "") request.url = url;
          go(at + 1, error);
        });
      } catch (error) {
        done(error);
      }
    };
    go(0);
  };
}
