import { createCompression, createEventChannel } from "@millrace/streams/compression";
import { compress } from "@millrace/streams/hono";
import { Hono } from "hono";

const compression = createCompression();
await compression.ready(); // otherwise the first responses are sent uncompressed
const prices = createEventChannel({ retry: 2000 });

let id = 0;
let corn = 431;
function tick(): void {
  corn += Math.round(Math.random() * 10) - 5;
  prices.send({ id: String(++id), event: "price", data: JSON.stringify({ corn: corn / 100 }) });
}
const ticking = setInterval(tick, Number(Bun.env.INTERVAL ?? 1000));

const app = new Hono();
app.use(compress(compression));
app.get("/", (c) => c.html(page));
app.get("/mills", (c) => c.json(Array.from({ length: 500 }, (_, i) => ({ name: `mill ${i}`, turns: i % 30 }))));
app.get("/prices", (c) => prices.subscribe(c.req.raw));

const page = `<!doctype html>
<meta charset="utf-8">
<title>Corn</title>
<h1>Corn: <output id="corn">…</output></h1>
<script>
  new EventSource("/prices").addEventListener("price", ({ data }) => {
    document.querySelector("#corn").textContent = JSON.parse(data).corn;
  });
</script>
`;

const port = Number(Bun.env.PORT ?? 3000);
const server = Bun.serve({ port, hostname: "127.0.0.1", idleTimeout: 60, fetch: app.fetch });
console.log(`listening at ${server.url}`);

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, async () => {
    clearInterval(ticking);
    prices.close(); // otherwise its responses would never end
    await server.stop();
  });
}
