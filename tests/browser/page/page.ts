import { type Library, type Row, runChecks } from "./check.ts";
import { type Group, groups } from "./groups.ts";

/** The place where checks run. */
export type Place = "page" | "worker";

/** The function that the test calls in the page. */
export interface PageApi {
  runGroup(group: Group, place: Place): Promise<readonly Row[]>;
}

/** Makes the page run groups of checks and show their results. */
export function start(library: Library, workerUrl: URL): void {
  const worker = openWorker(workerUrl);
  const api: PageApi = {
    async runGroup(group, place) {
      const rows = place === "page" ? await runChecks(groups[group], library) : await ask(await worker, group);
      show(group, place, rows);
      return rows;
    },
  };
  Object.assign(globalThis, api);
}

/** Returns a module worker once it listens. */
function openWorker(url: URL): Promise<Worker> {
  const worker = new Worker(url, { type: "module" });
  return new Promise((resolve, reject) => {
    worker.onmessage = () => resolve(worker);
    worker.onerror = ({ message }) => reject(new TypeError(`the worker does not start: ${message}`));
  });
}

function ask(worker: Worker, group: Group): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new TypeError(`the worker failed: ${message}`));
    worker.postMessage(group);
  });
}

function show(group: Group, place: Place, rows: readonly Row[]): void {
  const body = document.getElementById(group) ?? newSection(group, rows);
  rows.forEach(({ passed, seen }, index) => {
    const row = body.children[index + 1] as HTMLTableRowElement;
    const mark = row.querySelector(`.${place}`)!;
    mark.textContent = passed ? "✓" : "✗";
    mark.classList.add(passed ? "passed" : "failed");
    if (!passed || place === "page") row.querySelector(".seen")!.textContent = seen;
  });
  if (place === "page") {
    body.querySelector("th small")!.textContent = `codecs loaded so far: ${loadedCodecs().join(", ") || "none"}`;
  }
}

/** Returns a heading and a row for each check, to be filled in. */
function newSection(group: Group, rows: readonly Row[]): HTMLElement {
  const body = document.createElement("tbody");
  body.id = group;
  const head = body.insertRow().appendChild(document.createElement("th"));
  head.colSpan = 4;
  head.append(group, document.createElement("small"));
  for (const { name } of rows) {
    const row = body.insertRow();
    row.insertCell().textContent = name;
    for (const className of ["seen", "page", "worker"]) row.insertCell().className = className;
  }
  document.querySelector("table")!.append(body);
  return body;
}

/** Returns the codecs that the page has loaded, by its requests. */
function loadedCodecs(): string[] {
  const names = performance.getEntriesByType("resource").map(({ name }) => /(\w+)_((?:en|de)coder)/.exec(name));
  return [...new Set(names.flatMap((found) => found === null ? [] : `${found[1]} ${found[2]}`))].sort();
}
