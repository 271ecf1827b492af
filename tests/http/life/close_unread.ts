/** A process that leaves the block of a client with a response unread, and ends by itself. Argument: a URL. */
import { HttpClient } from "../../../lib/http/mod.ts";

{
  await using client = new HttpClient({ closeTimeout: 50 });
  const { status } = await client.fetch(process.argv[2]);
  console.log(status);
}
console.log("left");
