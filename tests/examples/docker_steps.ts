import { cp, glob, mkdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Clone, type Clones } from "./clone.ts";

/** The last stage of a Dockerfile: its files besides those of the base image, and its command. */
export interface Image {
  readonly stage: Clone;
  readonly command: readonly string[];
}

/**
 * Carries out the steps of a Dockerfile, each stage in a folder of its own. `npm install` brings the packages that are
 * installed here.
 *
 * @throws {TypeError} for a step that is not known.
 */
export async function buildImage(context: Clone, clones: Clones): Promise<Image> {
  const ignored = (await readFile(join(context.folder, ".dockerignore"), "utf8")).trim().split("\n");
  const stages = new Map<string, Clone>();
  let stage = context;
  let command: string[] = [];
  for (const line of (await readFile(join(context.folder, "Dockerfile"), "utf8")).split("\n")) {
    const [step, ...words] = line.split(" ");
    if (step === "FROM") {
      stage = new Clone(join(clones.folder, `image-${stages.size}`));
      await mkdir(stage.folder);
      stages.set(words[2] ?? "last", stage);
    } else if (step === "COPY") {
      const [, from] = /^--from=(.*)/.exec(words[0]) ?? [];
      const [source, target] = from === undefined ? words : words.slice(1);
      const place = from === undefined ? context : stages.get(from)!;
      await copy(place.folder, source.replace("/site/", ""), join(stage.folder, target), ignored);
    } else if (step === "RUN" && words[0] === "npm" && words[1] === "install") {
      await clones.install(stage.folder, words.includes("--omit=dev"));
    } else if (step === "RUN" && words[0] === "npm" && words[1] === "run") {
      await stage.script(words[2]);
    } else if (step === "CMD") command = JSON.parse(words.join(" "));
    else if (!["", "WORKDIR", "USER", "EXPOSE"].includes(step)) throw new TypeError(`no such step: ${line}`);
  }
  return { stage, command };
}

async function copy(folder: string, source: string, target: string, ignored: readonly string[]): Promise<void> {
  const isTaken = (path: string): boolean => !ignored.includes(basename(path));
  if (source.includes("*")) {
    for await (const name of glob(source, { cwd: folder })) await cp(join(folder, name), join(target, name));
  } else if (source === ".") await cp(folder, target, { recursive: true, filter: isTaken });
  else await cp(join(folder, source), target, { recursive: true });
}
