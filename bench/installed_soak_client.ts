/**
 * Asks the server at a port for pages, sixteen at a time, and prints how many have come whole at every twentieth of them.
 *
 *   node bench/installed_soak_client.ts PORT REQUESTS
 */
import { Agent, get } from "node:http";
import process from "node:process";

const [port, total] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
let [asked, done] = [0, 0];

function next(): void {
  if (asked === total) return;
  const path = `/${asked++}`;
  get({ port, host: "127.0.0.1", path, agent }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => text += part).on("end", () => {
      if (!text.startsWith(`<p>${path} `) || !text.endsWith(" row 20</p>\n")) throw new Error(`${path}: ${text}`);
      if (++done % Math.floor(total / 20) === 0) console.log(done);
      if (done === total) agent.destroy();
      next();
    });
  });
}
for (let i = 0; i < 16; i++) next();
