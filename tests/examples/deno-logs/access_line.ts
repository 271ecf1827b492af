/** A request in a line of an access log. */
export interface Asked {
  readonly at: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

/** The combined format of nginx with `$request_time` in seconds behind it. */
const LINE = /^\S+ \S+ \S+ \[([^\]]+)\] "\S+ (\S+)[^"]*" (\d{3}) .* (\d+\.\d+)$/;

/** Reads a line; undefined, if its form is another one. */
export function readLine(line: string): Asked | undefined {
  const [, at, path, status, seconds] = LINE.exec(line) ?? [];
  return at === undefined ? undefined : { at, path, status: Number(status), ms: Math.round(Number(seconds) * 1000) };
}
