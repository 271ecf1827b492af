import "@millrace/streams/install"; // first: React renders into our streams
import { fromNodeWritable } from "@millrace/streams/node";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { renderToReadableStream } from "react-dom/server";
import { page } from "./page.ts";

const server = createServer(async (request, response) => {
  if (request.url !== "/") return void response.writeHead(404).end();
  try {
    const rendered = await renderToReadableStream(page(), { onError: (error) => console.error(error) });
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    // All output of React in one turn of the event loop is sent in one write.
    await rendered.pipeTo(fromNodeWritable(response));
  } catch (error) {
    console.error(error); // the shell failed, or the client left
    if (!response.headersSent) response.writeHead(500);
    response.end();
  }
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});

for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => server.close());
