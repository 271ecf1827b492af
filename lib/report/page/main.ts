import { type ShownFile, type ShownSite, siteFrom, unpacked } from "./files.ts";
import { isLoaded } from "../words.ts";
import { columnsOf, FileTable } from "./table.ts";
import { Treemap } from "./treemap.ts";

const byId = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind;

unpacked(byId("data").textContent!).then((data) => show(siteFrom(data)));

function show({ words, files }: ShownSite): void {
  const table = new FileTable(byId("table"), columnsOf(words), files);
  const find = byId<HTMLInputElement>("find");

  /** The controls that filter files, without that of changes if there are none. */
  const choices = ([["type", words.types], ["note", words.notes], ["change", words.changes]] as const)
    .filter(([, names]) => names.length > 0)
    .map(([key, names]) => ({ key, select: choice(byId<HTMLSelectElement>(key), names) }));

  function choice(select: HTMLSelectElement, names: readonly string[]): HTMLSelectElement {
    const options = names.map((name, i) => ({ name, i })).sort((a, b) => a.name < b.name ? -1 : 1);
    select.append(new Option("all", ""), ...options.map(({ name, i }) => new Option(name, String(i))));
    select.addEventListener("change", filter);
    return select;
  }

  function filter(): void {
    const part = find.value.trim().toLowerCase();
    const chosen = choices.filter(({ select }) => select.value !== "");
    const shown = files.filter((file) =>
      chosen.every(({ key, select }) => file[key] === Number(select.value)) &&
      (part === "" || file.path.toLowerCase().includes(part))
    );
    table.show(shown);
    const [count, all] = [shown, files].map(({ length }) => length.toLocaleString("en"));
    byId("count").textContent = count === all ? `${all} files` : `${count} of ${all} files`;
  }

  function reveal(file: ShownFile): void {
    for (const field of [find, ...choices.map(({ select }) => select)]) field.value = "";
    filter();
    table.reveal(file);
  }

  find.addEventListener("input", filter);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  filter();
  const loaded = files.filter(isLoaded);
  new Treemap(byId("treemap"), byId("pointed"), words, loaded, reveal);
}
