import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer, Ask } from "../questions.ts";

/** A program that is served: its handler over web streams, and over `node:stream` where it can be written so. */
export interface Program {
  readonly title: string;
  /** The request that the client repeats. */
  readonly ask: Ask;
  /** Whether an answer is right. */
  isRight(answer: Answer): boolean;
  /** Loads the handler for `fetch` servers. */
  web(settings: Settings): Promise<WebHandler>;
  /** Loads the handler for `node:http`, written with `node:stream`. */
  node?(settings: Settings): Promise<NodeHandler>;
}

/** The settings of a server. */
export interface Settings {
  /** The URL that a proxy forwards to. */
  readonly origin: string;
  /** The folder that uploads are written to. */
  readonly folder: string;
  /** Whether React takes its renderer for Bun, whose streams are of a type that only Bun has. */
  readonly isDirect: boolean;
}

export type WebHandler = (request: Request) => Response | Promise<Response>;
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;
