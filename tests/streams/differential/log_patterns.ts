import type { Event } from "./events.ts";

/** Returns the calls that were answered with a TypeError, at once or not, each with its number among those. */
export function typeErrors(events: readonly Event[]): ReadonlySet<string> {
  const answer =
    /^(cancel|cancelReader|abort|abortWriter|return|write|close|closeWriter)( \d+)? (threw|rejected:) TypeError/;
  const answers = events.flatMap(({ subject, text }) => {
    const found = answer.exec(text);
    return found === null ? [] : [`${subject} ${found[0]}`];
  });
  return new Set(answers.map((text, at) => `${text} ${answers.slice(0, at).filter((one) => one === text).length}`));
}

/** Returns the number of unanswered calls that tear something down. */
export function unanswered(events: readonly Event[]): number {
  const calls = events.filter(({ text }) => /^(cancel|cancelReader|abort|abortWriter|return|write|pipeTo)$/.test(text));
  const answers = events.filter(({ text }) =>
    /^(cancel|abort|return|write|pipe)( \d+)? (fulfilled|rejected|threw)/.test(text)
  );
  return calls.length - answers.length;
}

/** Returns the number of unanswered calls of pipeTo(). */
export function countPipesUnderWay(events: readonly Event[]): number {
  const calls = events.filter(({ text }) => text === "pipeTo").length;
  return calls - events.filter(({ text }) => /^pipe (fulfilled|rejected)/.test(text)).length;
}

/** Returns the number of reads and readers that got an end, or a failure. */
export function countEndedReads(events: readonly Event[]): number {
  const end = /^(read \d+ (fulfilled: .*done: true|rejected)|closed@\d+ (fulfilled|rejected))/;
  return events.filter(({ text }) => end.test(text)).length;
}

/** Returns the number of reads that got `done`. */
export function countLastReads(events: readonly Event[]): number {
  return events.filter(({ text }) => /^read \d+ fulfilled: .*done: true/.test(text)).length;
}

/** Returns the number of responses to a view without a pending request. */
export function countMissedRequests(events: readonly Event[]): number {
  return events.filter(({ text }) => text === "no request").length;
}

/** Returns the number of chunks whose size a strategy computed. */
export function countSizes(events: readonly Event[]): number {
  return events.filter(({ text }) => text.startsWith("size(")).length;
}

/** Returns the events with reasons left out. */
export function withoutReasons(events: readonly Event[]): readonly Event[] {
  return events.map((event) => ({
    ...event,
    text: event.text.replace(/(rejected:|^abort\(\d\)|^cancel\(\d\)) .*/, "$1"),
  }));
}

/** Whether an iterator was called again before it had answered. */
export function overlaps(events: readonly Event[]): boolean {
  const waiting = new Map<string, number>();
  for (const { subject, text } of events) {
    const count = waiting.get(subject) ?? 0;
    if (text === "next" || text === "return") {
      if (count > 0) return true;
      waiting.set(subject, count + 1);
    } else if (/^(next \d+|return) (fulfilled|rejected)/.test(text)) {
      waiting.set(subject, count - 1);
    }
  }
  return false;
}

/** Whether no iterator gives a chunk to a next() that was called after one that got `done`. */
export function endsOnce(events: readonly Event[]): boolean {
  const answers = new Map<string, boolean[]>();
  for (const { subject, text } of events) {
    const answer = /^next (\d+) (.*)/.exec(text);
    if (answer === null) continue;
    const own = answers.get(subject) ?? [];
    answers.set(subject, own);
    own[Number(answer[1])] = answer[2].endsWith("done: false }");
  }
  return [...answers.values()].every((gave) => gave.lastIndexOf(true) < gave.indexOf(false) || !gave.includes(false));
}
