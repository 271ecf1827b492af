/**
 * The page of the playground: takes files or text, has workers compress them, and shows sizes, times and the command.
 *
 * @module
 */
import { commandLine } from "./command.ts";
import { Crew } from "./crew.ts";
import { type DeltaSizes, showDeltas } from "./deltas.ts";
import { readDropped, readFiles } from "./given_files.ts";
import { RaceSection } from "./race.ts";
import { Results } from "./results.ts";
import { sentSize, whyLeftAlone } from "./rules.ts";
import { DELTAS, type Done, type Given, LEVELS, PLAIN, type Plain, type Task } from "./tasks.ts";

const byId = <Kind extends Element>(id: string): Kind => document.getElementById(id) as unknown as Kind;
const script = (name: string): URL => new URL(name, import.meta.url);

const status = byId<HTMLOutputElement>("status");
const progress = byId<HTMLProgressElement>("progress");
const cancel = byId<HTMLButtonElement>("cancel");
const command = byId<HTMLElement>("command");

let files: readonly Given[] = [];
let previous: readonly Given[] = [];
/** Sizes of variants by file, format and level. */
let sizes = new Map<string, number>();
let crew: Crew | undefined;
let deltaCrew: Crew | undefined;
let isRunning = false;

const results = new Results(byId("results"), () => {
  showCommand();
  runDeltas();
});
new RaceSection(byId("race"), script("race_worker.js"));

function showCommand(): void {
  const hasPrevious = pairs().length > 0;
  command.textContent = commandLine({ levels: results.levels, formats: results.formats, hasPrevious });
  byId<HTMLElement>("folders").hidden = !hasPrevious;
}

/** Returns the tasks of a run, the quickest first: a level takes about half as long again as the one below. */
function tasksOf(count: number): Task[] {
  const tasks: (Task & { readonly cost: number })[] = [];
  for (let file = 0; file < count; file++) {
    for (const format of PLAIN) {
      const [least, most] = LEVELS[format];
      tasks.push({ id: tasks.length, file, codec: `own ${format}`, cost: 0.3 });
      for (let level = least; level <= most; level++) {
        const cost = (level - least) / (most - least) + (format === "brotli" && level > 9 ? 1 : 0);
        tasks.push({ id: tasks.length, file, codec: format, level, cost });
      }
    }
  }
  return tasks.sort((a, b) => a.cost - b.cost);
}

/** Compresses files at all levels. */
function run(given: readonly Given[]): void {
  crew?.cancel();
  const reasons = given.map((file) => [file, whyLeftAlone(file)] as const);
  files = reasons.filter(([, reason]) => reason === undefined).map(([file]) => file);
  const left = reasons.filter(([, reason]) => reason !== undefined);
  const notes = left.map(([{ name }, reason]) => `${name} is left alone: ${reason}.`);
  byId("left").textContent = notes.slice(0, 5).join(" ") + (notes.length > 5 ? ` And ${notes.length - 5} more.` : "");
  if (files.length === 0) return void (status.textContent = "There is nothing to compress.");
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const tasks = tasksOf(files.length);
  const what = files.length === 1 ? files[0].name : `${files.length} files`;
  sizes = new Map();
  results.begin(files.length, bytes);
  progress.max = tasks.length;
  progress.value = 0;
  isRunning = true;
  show(`${what}, ${bytes.toLocaleString("en")} bytes: compressing …`);
  const began = performance.now();
  crew = new Crew(script("codec_worker.js"), files, tasks, {
    onDone(task, done) {
      progress.value++;
      take(task, done);
    },
    onEnd(outcome) {
      isRunning = false;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const end = outcome === "done" ? `all levels in ${seconds} s` : "cancelled";
      show(`${what}, ${bytes.toLocaleString("en")} bytes: ${end}.`);
      runDeltas();
    },
  });
  showCommand();
}

function show(words: string): void {
  status.textContent = words;
  progress.hidden = cancel.hidden = !isRunning;
}

function take(task: Task, done: Done): void {
  if (done.error !== undefined) byId("left").textContent = `${task.codec} failed: ${done.error}`;
  if (done.size === undefined) return;
  sizes.set(`${task.file} ${task.codec} ${task.level}`, done.size);
  results.add(task, done, sentSize(files[task.file].bytes.length, done.size));
}

/** Returns the files with a former version of other content, which has the same name; names of single files may differ. */
function pairs(): { readonly file: number; readonly former: Given }[] {
  const found = files.map((one, file) => {
    const former = previous.find(({ name }) => name === one.name);
    return { file, former: former ?? (files.length === 1 && previous.length === 1 ? previous[0] : undefined) };
  });
  return found.flatMap(({ file, former }) => former && !areSame(former, files[file]) ? [{ file, former }] : []);
}

function areSame({ bytes: a }: Given, { bytes: b }: Given): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Makes the deltas at the chosen levels, once the run has ended. */
function runDeltas(): void {
  deltaCrew?.cancel();
  deltaCrew = undefined;
  const found = pairs();
  showCommand();
  if (isRunning || found.length === 0) return showDeltas(byId("deltas"), []);
  const { levels } = results;
  const rows = found.map(({ file }): DeltaSizes => {
    const { name, bytes } = files[file];
    return { name, size: bytes.length, sent: {}, delta: {} };
  });
  const given = found.flatMap(({ file, former }) => [files[file], former]);
  const tasks = found.flatMap((_, i) =>
    (Object.entries(DELTAS) as [Plain, "dcb" | "dcz"][]).map(([format, codec], j): Task => {
      // Below level 5 brotli takes no dictionary, and the command takes 5.
      const level = codec === "dcb" ? Math.max(5, levels[format]) : levels[format];
      return { id: 2 * i + j, file: 2 * i, dictionary: 2 * i + 1, codec, level };
    })
  );
  deltaCrew = new Crew(script("codec_worker.js"), given, tasks, {
    onDone({ id, codec }, { size }) {
      const i = id >> 1;
      const format = codec === "dcb" ? "brotli" : "zstd";
      const plain = sizes.get(`${found[i].file} ${format} ${levels[format]}`);
      if (size === undefined || plain === undefined) return;
      rows[i].sent[format] = sentSize(rows[i].size, plain);
      rows[i].delta[format] = size;
      showDeltas(byId("deltas"), rows);
    },
    onEnd() {
      byId("deltas").setAttribute("data-done", "");
    },
  });
}

/** Takes the files of a field, and files and folders dropped on its label. */
function takeFiles(id: string, use: (files: readonly Given[]) => void): void {
  const input = byId<HTMLInputElement>(id);
  const label = input.closest<HTMLElement>(".drop")!;
  const take = (reading: Promise<readonly Given[]>): void => {
    reading.then(use, (error) => status.textContent = `The files cannot be read: ${error.message}`);
  };
  input.addEventListener("change", () => take(readFiles(input.files!)));
  for (const kind of ["dragover", "dragleave", "drop"] as const) {
    label.addEventListener(kind, (event) => {
      event.preventDefault();
      label.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(readDropped(event.dataTransfer!));
    });
  }
}

/** Files of this site, and former versions without some of their text. */
async function takeSample(): Promise<void> {
  const names = ["assets/site.css", "assets/site.js", "guide/streams.html", "api/streams.html"];
  const given = await Promise.all(names.map(async (name) => {
    return { name, bytes: new Uint8Array(await (await fetch(script(`../${name}`))).arrayBuffer()) };
  }));
  previous = given.map(({ name, bytes }) => ({ name, bytes: bytes.slice(Math.floor(bytes.length / 12)) }));
  byId("former-names").textContent = "The sample's former version lacks a twelfth of each file.";
  run(given);
}

takeFiles("files", run);
takeFiles("former", (given) => {
  previous = given;
  byId("former-names").textContent = given.map(({ name }) => name).join(", ");
  runDeltas();
});
byId("text-form").addEventListener("submit", (event) => {
  event.preventDefault();
  run([{ name: "text.txt", bytes: new TextEncoder().encode(byId<HTMLTextAreaElement>("text").value) }]);
});
byId("sample").addEventListener("click", () => void takeSample());
cancel.addEventListener("click", () => crew?.cancel());
byId("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(command.textContent!);
  byId("copy").textContent = "Copied";
  setTimeout(() => byId("copy").textContent = "Copy", 1500);
});
byId<HTMLElement>("needs").hidden = true;
byId<HTMLElement>("tool").hidden = false;
byId<HTMLElement>("race").hidden = false;
