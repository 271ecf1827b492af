/** The response to a request, as plain data. */
export interface Answer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  /** JSON; undefined if there is no content. */
  readonly body: Uint8Array | undefined;
}

const encoder = new TextEncoder();

/** An answer whose content is `value` as JSON. */
export function jsonAnswer(
  status: number,
  type: "application/json" | "application/problem+json",
  fields: Readonly<Record<string, string>>,
  value: unknown,
): Answer {
  const body = encoder.encode(JSON.stringify(value));
  return {
    status,
    // What senders named is in it: no browser should take it for a page.
    fields: { ...fields, "Content-Type": type, "X-Content-Type-Options": "nosniff" },
    body,
  };
}
