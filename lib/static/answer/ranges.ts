import { type Answer, fieldsFor, only, valueOf, without } from "./answer.ts";
import { contentTypeOf } from "./content_type.ts";
import { multipartByteRanges, parseRange } from "../../semantics/mod.ts";
import type { Variant } from "./variant.ts";

/**
 * The ranges of `variant` that `field` asks for, or that it has none of them.
 *
 * @returns `"ignored"` if the field is to be ignored; undefined if the file is not what was scanned any more.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-14}
 */
export function answerRange(field: string, variant: Variant): Answer | "ignored" | undefined {
  const { size } = variant.representation;
  const ranges = parseRange(field, size);
  if (ranges === undefined) return "ignored";
  if (ranges === "unsatisfiable") return unsatisfiable(variant, size);
  if (ranges.length === 1) {
    const [{ start, end }] = ranges;
    const own = ["Content-Range", `bytes ${start}-${end - 1}/${size}`, "Content-Length", String(end - start)];
    return variant.answer(206, [...fieldsFor("part", variant.fields()), ...own], ranges);
  }
  const type = valueOf(variant.fields(), "Content-Type") ?? contentTypeOf(variant.resource.file.path);
  const { contentType, length, parts, tail } = multipartByteRanges(ranges, size, type);
  const own = ["Content-Type", contentType, "Content-Length", String(length)];
  const body = [...parts.flatMap(({ head, range }) => [head, range]), tail];
  return variant.answer(206, [...without(fieldsFor("part", variant.fields()), ["content-type"]), ...own], body);
}

function unsatisfiable({ resource }: Variant, size: number): Answer {
  const fields = ["Content-Range", `bytes */${size}`, "Accept-Ranges", "bytes", ...only(resource.fields(), "Vary")];
  return resource.general().text(416, `The file has no such range: it has ${size} bytes`, fields);
}
