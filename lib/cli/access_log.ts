import type { ServeOptions } from "../runtime/mod.ts";
import { formatBytes } from "../quantities/mod.ts";
import { Timer } from "../timers/mod.ts";

type Handlers = Pick<ServeOptions, "fetch" | "node">;
type Output = Pick<NodeJS.WriteStream, "writableLength"> & { write(text: string): unknown };

/** The part of a response that a line contains. */
interface Answered {
  readonly status: number;
  readonly field: (name: "content-encoding" | "content-length") => string | null | undefined;
  readonly isCut: boolean;
}

/** The time in ms for which lines are gathered: a write for each request would cost more than the request. */
const GATHERED_FOR = 20;
/** The maximum bytes that wait for a slow output; beyond it, lines are dropped to limit memory. */
const MAX_QUEUED_LENGTH = 1 << 20;
const MAX_PATH_LENGTH = 300;
const MAX_METHOD_LENGTH = 20;

/** Prints a line for each request: `12:03:44 GET /app.js 200 br 12.3 kB 0.4 ms`. */
export class AccessLog {
  readonly #output: Output;
  #lines = "";
  #time = "";
  #leftOut = 0;
  readonly #timer: Timer = new Timer(() => this.flush(), { keepsAlive: false });

  constructor(output: Output) {
    this.#output = output;
  }

  /** Wraps `handlers`: prints each request once it has its response, or if `node` streams that, once it was sent. */
  of({ fetch, node }: Handlers): Handlers {
    return {
      node: (request, response) => {
        const begun = performance.now();
        const { method, url } = request;
        const field = fieldsSentBy(response);
        const add = (isCut: boolean) => this.#add(method!, url!, begun, { status: response.statusCode, field, isCut });
        node(request, response);
        if (response.writableEnded) add(false); // sent from memory
        else response.once("close", () => add(!response.writableFinished));
      },
      fetch: (request, server) => {
        const begun = performance.now();
        const { method, url } = request;
        const answered = (response: Response): Response => {
          const field = (name: string) => response.headers.get(name);
          const path = url.slice(url.indexOf("/", "https://".length));
          this.#add(method, path, begun, { status: response.status, field, isCut: false });
          return response;
        };
        const answer = fetch(request, server);
        return answer instanceof Response ? answered(answer) : answer.then(answered); // Bun is slower with promises
      },
    };
  }

  /** Prints a line that belongs to no request. */
  tell(line: string): void {
    this.flush();
    this.#output.write(`${line}\n`);
  }

  flush(): void {
    if (this.#lines === "") return;
    if (this.#output.writableLength > MAX_QUEUED_LENGTH) {
      this.#leftOut += this.#lines.split("\n").length - 1;
    } else {
      if (this.#leftOut > 0) this.#output.write(`${this.#leftOut} requests are left out\n`);
      this.#leftOut = 0;
      this.#output.write(this.#lines);
    }
    this.#lines = "";
  }

  #add(method: string, path: string, begun: number, { status, field, isCut }: Answered): void {
    const ms = performance.now() - begun;
    const coding = field("content-encoding");
    const length = status === 304 || method === "HEAD" ? undefined : field("content-length");
    if (!this.#timer.isSet) {
      // The gathered lines share a time of day, whose formatting costs as much as the rest of a line.
      this.#time = new Date().toTimeString().slice(0, 8);
      this.#timer.start(GATHERED_FOR);
    }
    this.#lines +=
      `${this.#time} ${printable(method, MAX_METHOD_LENGTH)} ${printable(path, MAX_PATH_LENGTH)} ${status}` +
      `${coding ? ` ${coding}` : ""}${length ? ` ${formatBytes(Number(length))}` : ""} ` +
      `${ms.toFixed(ms < 10 ? 1 : 0)} ms${isCut ? " cut" : ""}\n`;
  }
}

/** Records the fields passed to `writeHead()`, which `node:http` does not make readable. */
function fieldsSentBy(response: Parameters<Handlers["node"]>[1]): Answered["field"] {
  const { writeHead } = response;
  let sent: readonly string[] = [];
  response.writeHead = ((status: number, fields: string[] | Record<string, string>) => {
    sent = Array.isArray(fields) ? fields : Object.entries(fields).flat();
    return writeHead.call(response, status, fields as string[]);
  }) as typeof writeHead;
  return (name) => {
    const at = sent.findIndex((each, i) => i % 2 === 0 && each.toLowerCase() === name);
    return at === -1 ? undefined : sent[at + 1];
  };
}

/** Returns `text` in printable ASCII, cut to `longest` characters, so that it can neither end the line nor control a terminal. */
function printable(text: string, longest: number): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}...` : text;
  return cut.replace(/[^!-~]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}
