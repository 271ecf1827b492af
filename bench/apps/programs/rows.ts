import type { NodeHandler, Program, WebHandler } from "./program.ts";

const ROWS = 500;
/** Rows that the database sends at a time. */
const FETCHED = 100;
const FIELDS = { "content-type": "application/x-ndjson" };

interface Row {
  readonly id: number;
  readonly name: string;
  readonly price: number;
  readonly stock: boolean;
}

/** Yields a database's cursor: every hundredth row is waited for until the next turn of the event loop. */
async function* cursor(): AsyncGenerator<Row> {
  for (let id = 0; id < ROWS; id++) {
    if (id % FETCHED === 0) await new Promise<void>((fetched) => setImmediate(fetched));
    yield { id, name: `item ${id}`, price: id * 7, stock: id % 3 > 0 };
  }
}

function lineOf(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

function web(): Promise<WebHandler> {
  return Promise.resolve(() => {
    const lines = new TransformStream<Row, string>({
      transform: (row, controller) => controller.enqueue(lineOf(row)),
    });
    // Not in the DOM's types yet.
    const { from } = ReadableStream as unknown as { from(rows: AsyncIterable<Row>): ReadableStream<Row> };
    const rows = from.call(ReadableStream, cursor());
    return new Response(rows.pipeThrough(lines).pipeThrough(new TextEncoderStream()), { headers: FIELDS });
  });
}

async function node(): Promise<NodeHandler> {
  const { Readable, Transform } = await import("node:stream");
  return (_request, response) => {
    const lines = new Transform({ objectMode: true, transform: (row, _, done) => done(null, lineOf(row)) });
    Readable.from(cursor()).pipe(lines).pipe(response.writeHead(200, FIELDS));
  };
}

/** Rows of a database as lines of JSON. */
export const rowsOfCursor: Program = {
  title: "NDJSON from a cursor",
  ask: { method: "GET", body: 0 },
  isRight: ({ body }) => body.split("\n").length === ROWS + 1 && body.includes('"item 499"'),
  web,
  node,
};
