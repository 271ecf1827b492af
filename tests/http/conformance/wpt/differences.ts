import { runtime } from "../../../support/runtime.ts";

/** Subtests that the runtime's own fetch passes and a client's does not, and why. */
interface Difference {
  readonly test: RegExp;
  /** The runtimes with the difference; default: all. */
  readonly on?: readonly (typeof runtime)[];
  readonly reason: string;
}

const WORDS = "words of browsers (mode, credentials, cache, referrer, priority) have no meaning, and are not checked";

const differences: readonly Difference[] = [
  {
    test: /^fetch\/api\/abort\/general\.any\.js: TypeError from request constructor/,
    on: ["node", "deno"],
    reason: WORDS,
  },
  { test: /^fetch\/api\/request\/request-init-priority/, on: ["node", "deno"], reason: WORDS },
  { test: /^fetch\/api\/basic\/mode-same-origin/, on: ["node"], reason: WORDS },
  { test: /^fetch\/api\/basic\/(request-)?referrer/, on: ["node"], reason: WORDS },
  {
    test: /^fetch\/api\/redirect\/redirect-back-to-original-origin.*mode: "(no-)?cors"/,
    on: ["node"],
    reason: "there is no CORS: the type of every response is basic",
  },
  {
    test: /^fetch\/api\/cors\/cors-cookies\.any\.js/,
    on: ["bun"],
    reason: "cookies are the caller's; its host is nowhere here",
  },
  {
    test: /^fetch\/api\/basic\/accept-header.*accept-language/,
    on: ["node", "deno"],
    reason: "accept-language is the caller's: there is no user whose languages are known",
  },
  {
    test: /^fetch\/api\/basic\/integrity/,
    on: ["node"],
    reason: "a body is checked as it is read, so that the promise of fetch() does not wait for its end",
  },
  {
    test: /^fetch\/api\/basic\/request-forbidden-headers.*(Content-Length|Host)/,
    on: ["node", "deno"],
    reason: "what a caller says of them is checked and refused if it is wrong, where browsers drop it",
  },
  {
    test: /^fetch\/api\/basic\/request-headers-case/,
    on: ["node", "bun"],
    reason: "names are sent in lower case, and each value in a line of its own",
  },
  {
    test: /^fetch\/api\/basic\/request-upload.*shouldn't work on Http\/1\.1/,
    on: ["node"],
    reason: "streams are sent over HTTP/1.1 too, in chunks",
  },
  {
    test: /^fetch\/api\/abort\/general\.any\.js: Call text\(\) twice on aborted response/,
    on: ["deno"],
    reason: "a body that was read is refused the second time, whatever became of it, as Node does",
  },
  {
    test: /^fetch\/api\/abort\/request\.any\.js: fault: unhandled rejection: .*ReadableStream is already closed/,
    on: ["node"],
    reason: "Node's FormData bodies enqueue once more after they were cancelled while they are read",
  },
];

/** The differences of this runtime. */
export const differencesHere: readonly Difference[] = differences.filter(({ on }) =>
  on === undefined || on.includes(runtime)
);
