import { linkReference } from "./link_reference.ts";
import type { Reference } from "./reference.ts";

const LINK = /<([^<>]*)>/y;
const PARAMETER = /[\t ]*;[\t ]*([^\s;,="<>]*)[\t ]*(?:=[\t ]*(?:"((?:[^"\\]|\\[^])*)"?|([^\s;,"<>]*)))?/y;

/**
 * Lists what the `Link` fields of a page (RFC 8288) have a browser load before it has read the page: `rel=preload` and
 * `modulepreload`. It takes time in proportion to the text, whatever that is.
 *
 * @param field The value of all fields, joined.
 */
export function headerReferences(field: string): Reference[] {
  const references: Reference[] = [];
  for (let at = field.indexOf("<"); at !== -1; at = field.indexOf("<", at)) {
    LINK.lastIndex = at;
    const link = LINK.exec(field);
    at = link === null ? at + 1 : LINK.lastIndex;
    if (link === null) continue;
    const parameters = new Map([["href", link[1]!]]);
    PARAMETER.lastIndex = at;
    for (let found = PARAMETER.exec(field); found !== null; found = PARAMETER.exec(field)) {
      at = PARAMETER.lastIndex;
      const [, name = "", quoted, token] = found;
      const key = name.toLowerCase();
      if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\([^])/g, "$1") ?? token ?? "");
    }
    const reference = /(?:^|\s)(?:modulepreload|preload)(?:\s|$)/i.test(parameters.get("rel") ?? "")
      ? linkReference(parameters)
      : undefined;
    if (reference) references.push(reference);
  }
  return references;
}
