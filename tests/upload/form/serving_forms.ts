/** Stores the forms that are sent to it: `serving_forms.ts FOLDER`. Prints its port, and ends with its standard input. */
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { serve } from "../../../lib/runtime/mod.ts";
import { saveForm } from "../../../lib/upload/form/save_form.ts";

const [folder] = process.argv.slice(2);
let count = 0;

async function answer(source: Request | IncomingMessage): Promise<string> {
  try {
    const { fields, files, bytes } = await saveForm(
      source,
      () => join(folder, `${++count}`),
      { maxParts: 1001 },
    );
    return `${[...fields].length} fields, ${files.length} files, ${bytes} bytes`;
  } catch (error) {
    return String(error);
  }
}

const server = await serve({
  fetch: async (request) => new Response(await answer(request)),
  node: async (request, response) => void response.end(await answer(request)),
  hostname: "127.0.0.1",
  port: 0,
});
console.log(server.port);
process.stdin.resume().on("end", () => process.exit(0));
