import type { Answer, Contestant } from "./clients.ts";
import { HANGS, oursDecoding, oursRaw, peers } from "./clients.ts";
import { explanationOf } from "./differences.ts";
import { type Case, SECOND_BODY } from "./generate_case.ts";
import { ScriptedOrigin } from "./origin_script.ts";
import type { Difference } from "./strictness.ts";

/** A difference between this package and a peer, in a case. */
export interface Finding {
  readonly peer: string;
  /**
   * `refused by ours`, `refused by it`, `status`, `body`, or `field` and a name; for a second response with the prefix
   * `second: `. `not its own` is a response of the peer without a request.
   */
  readonly aspect: string;
  readonly explanation: Difference | undefined;
  readonly detail: string;
}

/** A client's results in a case: a response to each request, and how often each was sent. */
interface Performance {
  readonly answers: readonly Answer[];
  readonly asked: readonly number[];
}

async function perform({ open }: Contestant, { plays, method, between }: Case): Promise<Performance> {
  const origin = new ScriptedOrigin(plays);
  const client = open();
  try {
    const url = await origin.start();
    const answers: Answer[] = [];
    for (const index of plays.keys()) {
      if (index > 0) await new Promise((resolve) => setTimeout(resolve, between));
      answers.push(await client.ask(`${url}/${index}`, index === 0 ? method : "GET"));
    }
    return { answers, asked: origin.asked };
  } finally {
    client.close();
    origin.stop();
  }
}

function aspectsOf(ours: Answer, theirs: Answer): string[] {
  if (ours.status === undefined) return theirs.status === undefined ? [] : ["refused by ours"];
  if (theirs.status === undefined) return ["refused by it"];
  const aspects: string[] = [];
  if (ours.status !== theirs.status) aspects.push("status");
  for (const name of new Set([...ours.fields!.keys(), ...theirs.fields!.keys()])) {
    if (ours.fields!.get(name) !== theirs.fields!.get(name)) aspects.push(`field ${name}`);
  }
  if (!ours.body!.equals(theirs.body!)) aspects.push("body");
  return aspects;
}

function isSecond({ body }: Answer): boolean {
  return body?.toString() === SECOND_BODY;
}

function shown({ status, fields, body, error }: Answer): string {
  if (status === undefined) return `fails: ${error}`;
  const some = [...fields!].slice(0, 8).map(([name, value]) => `${name}: ${JSON.stringify(value).slice(0, 60)}`).join(
    ", ",
  );
  return `${status}, ${some}, ${body!.length} bytes ${JSON.stringify(body!.toString("latin1", 0, 40))}`;
}

function compare(peer: string, each: Case, ours: Performance, theirs: Performance): Finding[] {
  return ours.answers.flatMap((answer, index) => {
    const other = theirs.answers[index];
    const aspects = index === 1 && isSecond(answer) && other.body !== undefined && !isSecond(other)
      ? ["not its own"]
      : aspectsOf(answer, other);
    return aspects.map((aspect) => {
      const name = index === 0 ? aspect : `second: ${aspect}`;
      const detail = `ours: ${shown(answer)}\n  it:   ${shown(other)}`;
      return { peer, aspect: name, explanation: explanationOf(peer, name, each), detail };
    });
  });
}

/** Returns the faults of this package's client that show without a comparison. */
function faultsOf(each: Case, { answers, asked }: Performance): Finding[] {
  const faults: string[] = [];
  const { expected, method, plays } = each;
  const [first, second] = answers;
  if (expected !== undefined && (first.status !== expected.status || !first.body!.equals(expected.body))) {
    faults.push(`the standards leave no choice: ${expected.status} with ${expected.body.length} bytes`);
  }
  // Bytes of the first answer that arrive after the second request was sent look like the second answer to any client.
  const isOneStep = plays[0].pieces.length === 1;
  if (isOneStep && second?.body !== undefined && !isSecond(second)) {
    faults.push("the second answer is not its own");
  }
  for (const { error, isTyped } of answers) {
    if (error === HANGS) faults.push(HANGS);
    else if (error !== undefined && !isTyped) faults.push("fails without an HttpError");
  }
  if (asked.some((times, i) => times > (method === "POST" && i === 0 ? 1 : 2))) faults.push(`sent ${asked} times`);
  return faults.map((aspect) => ({
    peer: "ours alone",
    aspect,
    explanation: undefined,
    detail: answers.map(shown).join("\n  "),
  }));
}

async function findingsOf(each: Case, names: ReadonlySet<string>): Promise<Finding[]> {
  const ours = await perform(oursDecoding, each);
  const raw = each.features.has("coding ") ? ours : await perform(oursRaw, each);
  const findings = faultsOf(each, ours);
  for (const peer of peers) {
    if (!names.has(peer.name)) continue;
    findings.push(...compare(peer.name, each, peer.isRaw ? raw : ours, await perform(peer, each)));
  }
  return findings;
}

/**
 * The number of further tries of a case in which one fails and the other does not. A difference that comes and goes
 * depends on timing.
 */
const AGAIN = 2;
const MAY_BE_TIMING = /refused|no choice|hangs/;
const all: ReadonlySet<string> = new Set(peers.map(({ name }) => name));

/** The result of a case. */
export interface Judgement {
  /** The differences found; unexplained ones have shown each of three times. */
  readonly findings: readonly Finding[];
  /** The number of differences that did not show each time. */
  readonly passing: number;
  /** The number of answers that were compared. */
  readonly compared: number;
}

/** Runs a case with this package's client and its peers. */
export async function judge(each: Case): Promise<Judgement> {
  const findings = await findingsOf(each, all);
  let unexplained = findings.filter(({ explanation }) => explanation === undefined);
  const { length } = unexplained;
  for (let i = 0; i < AGAIN && unexplained.length > 0; i++) {
    const again = await findingsOf(each, new Set(unexplained.map(({ peer }) => peer)));
    const shows = ({ peer, aspect }: Finding): boolean =>
      again.some((one) => one.peer === peer && one.aspect === aspect);
    unexplained = unexplained.filter((finding) => !MAY_BE_TIMING.test(finding.aspect) || shows(finding));
  }
  const explained = findings.filter(({ explanation }) => explanation !== undefined);
  const compared = peers.length * each.plays.length;
  return { findings: [...explained, ...unexplained], passing: length - unexplained.length, compared };
}
