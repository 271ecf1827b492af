import { mills } from "./mills.ts";

const table = document.querySelector<HTMLTableElement>("#mills")!;
table.createTHead().innerHTML = "<tr><th>Name<th>Driven by<th>Turns a minute</tr>";
const body = table.createTBody();
for (const { name, drive, turns } of mills) {
  const row = body.insertRow();
  for (const text of [name, drive, String(turns)]) row.insertCell().textContent = text;
}
