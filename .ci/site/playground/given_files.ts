import type { Given } from "./tasks.ts";

/** Reads chosen files. */
export async function readFiles(files: Iterable<File>): Promise<Given[]> {
  return await Promise.all([...files].map((file) => readFile(file)));
}

/** Reads dropped files, and the files below dropped folders; a file that a script drops has no entry. */
export async function readDropped({ items }: DataTransfer): Promise<Given[]> {
  // Items are there during the event only.
  const dropped = [...items].map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const read = dropped.map(async ({ entry, file }): Promise<Given[]> => {
    if (entry?.isDirectory) return await readFolder(entry as FileSystemDirectoryEntry, "");
    return file ? [await readFile(file)] : [];
  });
  return (await Promise.all(read)).flat();
}

async function readFile(file: File, folder = ""): Promise<Given> {
  return { name: folder + file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
}

/** Reads the files below a folder, whose names begin with `below`. */
async function readFolder(folder: FileSystemDirectoryEntry, below: string): Promise<Given[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  while (true) {
    // Browsers give some hundred entries at a time, and none in the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  const read = entries.map(async (entry): Promise<Given[]> => {
    if (entry.isDirectory) return await readFolder(entry as FileSystemDirectoryEntry, `${below}${entry.name}/`);
    const opened = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [await readFile(opened, below)];
  });
  return (await Promise.all(read)).flat();
}
