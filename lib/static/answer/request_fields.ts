/** The fields of a request: `Headers`, or those of `node:http` in the same shape. */
export interface RequestFields {
  get(name: string): string | null | undefined;
}
