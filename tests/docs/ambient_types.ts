/** Declarations of the untyped packages that code blocks use. */
export const untypedPackages = `
declare module "express" {
  import type { IncomingMessage, Server, ServerResponse } from "node:http";
  interface Request extends IncomingMessage {
    readonly params: Readonly<Record<string, string>>;
    readonly path: string;
    readonly body: Readonly<Record<string, string>>; // by multer, as is the next
    readonly file?: { readonly originalname: string; readonly size: number };
  }
  interface Response extends ServerResponse {
    json(value: unknown): this;
    send(body: unknown): this;
    sendStatus(status: number): this;
    status(status: number): this;
    type(type: string): this;
  }
  export type Handler = (request: Request, response: Response, next: (error?: unknown) => void) => unknown;
  interface Application {
    (request: IncomingMessage, response: ServerResponse): void;
    use(...handlers: Handler[]): this;
    use(path: string, ...handlers: Handler[]): this;
    all(path: string, ...handlers: Handler[]): this;
    get(path: string, ...handlers: Handler[]): this;
    post(path: string, ...handlers: Handler[]): this;
    put(path: string, ...handlers: Handler[]): this;
    listen(port: number, listening?: () => void): Server;
  }
  export default function express(): Application;
}
declare module "compression" {
  import type { Handler } from "express";
  export default function compression(): Handler;
}
declare module "multer" {
  import type { Handler } from "express";
  export default function multer(options: object): { single(field: string): Handler };
}
declare module "serve-static" {
  import type { Handler } from "express";
  export default function serveStatic(folder: string, options?: object): Handler;
}
`;

/** Declarations of Deno's and Bun's globals, for blocks that don't run on Node. */
export const runtimeGlobals = `
declare namespace Deno {
  interface NetAddr {
    readonly transport: "tcp" | "udp";
    readonly hostname: string;
    readonly port: number;
  }
  interface ServeHandlerInfo {
    readonly remoteAddr: NetAddr;
    readonly completed: Promise<void>;
  }
  interface ServeOptions {
    port?: number;
    hostname?: string;
    signal?: AbortSignal;
    cert?: string;
    key?: string;
    onListen?(address: NetAddr): void;
    onError?(error: unknown): Response | Promise<Response>;
  }
  interface HttpServer extends AsyncDisposable {
    readonly addr: NetAddr;
    readonly finished: Promise<void>;
    ref(): void;
    unref(): void;
    shutdown(): Promise<void>;
  }
  type ServeHandler = (request: Request, info: ServeHandlerInfo) => Response | Promise<Response>;
  function serve(handler: ServeHandler): HttpServer;
  function serve(options: ServeOptions, handler: ServeHandler): HttpServer;
  function unrefTimer(id: unknown): void;
  function exit(code?: number): never;
  function readTextFile(path: string | URL): Promise<string>;
  function open(path: string | URL): Promise<{ readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>; close(): void }>;
}

declare namespace Bun {
  interface BuildOptions {
    entrypoints: string[];
    outdir?: string;
    plugins?: { name: string; setup(build: object): void }[];
  }
  function build(options: BuildOptions): Promise<object>;
  interface Server {
    readonly port: number;
    readonly hostname: string;
    readonly url: URL;
    fetch(request: Request | string): Response | Promise<Response>;
    requestIP(request: Request): { readonly address: string; readonly port: number } | null;
    timeout(request: Request, seconds: number): void;
    stop(closeActiveConnections?: boolean): Promise<void>;
  }
  interface ServeOptions {
    port?: number;
    hostname?: string;
    idleTimeout?: number;
    maxRequestBodySize?: number;
    tls?: { cert: string; key: string };
    fetch(request: Request, server: Server): Response | Promise<Response>;
    error?(error: Error): Response | Promise<Response>;
  }
  function serve(options: ServeOptions): Server;
  function sleep(milliseconds: number): Promise<void>;
  function file(path: string | URL): Blob & { exists(): Promise<boolean>; readonly name?: string };
  function write(destination: string | URL, data: Blob | string | Uint8Array | Response): Promise<number>;
}
`;
