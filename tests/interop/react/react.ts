import type { Writable } from "node:stream";
import { runtime } from "../../support/runtime.ts";

/** A part of a page, as React has it. */
export type Element = object;

interface React {
  readonly version: string;
  readonly Suspense: unknown;
  createElement(type: unknown, props: object | null, ...children: unknown[]): Element;
  use<T>(promise: Promise<T>): T;
}

interface RenderOptions {
  readonly onError?: (error: unknown) => void;
  readonly signal?: AbortSignal;
}

interface Renderers {
  renderToReadableStream(element: Element, options: RenderOptions): Promise<ReadableStream<Uint8Array>>;
}

interface NodeRenderers {
  renderToPipeableStream(
    element: Element,
    options: RenderOptions & { onShellReady(): void; onShellError(error: unknown): void },
  ): { pipe(writable: Writable): void; abort(reason?: unknown): void };
}

/** React has no types without another package: a name that is not known beforehand is not looked up. */
const load = async <T>(name: string): Promise<T> => await import(name) as T;

export const react: React = await load("react");
const { version } = await load<{ version: string }>("react-dom");

/** The reason why pages cannot be rendered; false if they can. */
export const unavailable: string | false = react.version !== version &&
  `React ${react.version} does not go with ReactDOM ${version}`;

/** React's renderers: the ones that it has for this runtime, if they can be had. */
export const renderers = (): Promise<Renderers> =>
  load(runtime === "bun" && !takesDirectSources() ? "react-dom/server.edge" : "react-dom/server");

/** Whether the global ReadableStream is one to React's liking on Bun: it makes streams of a type that only Bun has. */
function takesDirectSources(): boolean {
  try {
    new ReadableStream({ type: "direct", pull() {} } as unknown as UnderlyingDefaultSource);
    return true;
  } catch {
    return false;
  }
}

/** Loads React's renderers for streams of Node, which Bun and Deno have, too. */
export const nodeRenderers = (): Promise<NodeRenderers> => load("react-dom/server.node");
