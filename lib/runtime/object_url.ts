import * as buffer from "node:buffer";

/**
 * Returns the Blob of a blob: URL; undefined if there is none. Missing itself on Deno before 2.7.5, where an import by
 * name would keep all that leads to it from loading.
 *
 * @see {@link https://w3c.github.io/FileAPI/#url-model}
 */
export const resolveObjectURL: ((url: string) => Blob | undefined) | undefined = (buffer as Partial<typeof buffer>)
  .resolveObjectURL as ((url: string) => Blob | undefined) | undefined;
