import { clearScreenDown, cursorTo } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, ApiError } from '../client.ts';
import { minute, second } from '../format.ts';
import type { Session } from '../session.ts';
import { pText } from './figures.ts';
import { pageWidth, readStanding, type Standing, statusText } from './status.ts';
import { standingText } from './words.ts';

const POLL_MS = 5_000;
/** Calls in a row that may find nobody: a service that starts anew is back by then. */
const MOST_FAILURES = 20;

/**
 * Reads a challenge again and again until it has ended. The last reading; undefined when the signal was aborted before.
 * Rejects when it is refused, or nobody answers for long.
 */
export async function watchChallenge(
  client: ApiClient,
  reference: string,
  show: (standing: Standing) => void,
  signal: AbortSignal,
  pollMs = POLL_MS,
): Promise<Standing | undefined> {
  let failures = 0;
  for (let id = reference; !signal.aborted; ) {
    try {
      const standing = await readStanding(client, id);
      show(standing);
      if (standing.challenge.status !== 'active') return standing;
      // The one that was meant at first, whatever the model comes to have.
      [id, failures] = [standing.challenge.challenge_id, 0];
    } catch (error) {
      const wasThere = id !== reference || failures > 0;
      if (error instanceof ApiError || !wasThere || ++failures >= MOST_FAILURES) throw error;
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** What is shown of each reading: the page in place on a terminal, elsewhere a line for what has changed; JSON when asked for. */
export function showStanding(output: NodeJS.WriteStream, json = false): (standing: Standing) => void {
  let last = '';
  return (standing) => {
    if (output.isTTY && !json) {
      const page = statusText(standing, pageWidth(output));
      cursorTo(output, 0, 0);
      clearScreenDown(output);
      const isActive = standing.challenge.status === 'active';
      const foot = `\n\nRead at ${second(standing.evaluation.evaluated_at)} UTC; Ctrl-C leaves it`;
      output.write(`${page}${isActive ? foot : ''}\n`);
      return;
    }
    const { evaluated_at: _, ...evaluation } = standing.evaluation;
    const now = json ? JSON.stringify({ challenge: standing.challenge, evaluation }) : lineOf(standing);
    if (now !== last) console.log(json ? JSON.stringify({ event: 'standing', data: standing }) : now);
    last = now;
  };
}

function lineOf({ challenge, evaluation }: Standing): string {
  const { champion_trades, challenger_trades, canary_stage, hold, updated_at } = challenge;
  return [
    `${minute(updated_at)} ${standingText(challenge)}`,
    hold ? `${canary_stage}, held (${hold.reason})` : canary_stage,
    `${champion_trades} and ${challenger_trades} trades`,
    `p-value ${pText(evaluation.p_value)}`,
    evaluation.recommendation,
  ].join(', ');
}

/** Exit code of what was interrupted, as shells have it. */
const INTERRUPTED = 130;

/** Follows a challenge to its end, and prints its page. Answers the exit code. */
export async function watchAndPrint(
  { client, temporary }: Session,
  reference: string,
  json = false,
): Promise<number> {
  const left = new AbortController();
  const leave = () => left.abort();
  process.once('SIGINT', leave);
  const show = showStanding(process.stdout, json);
  const ended = await watchChallenge(client, reference, show, left.signal).finally(() =>
    process.off('SIGINT', leave),
  );
  if (ended) {
    if (!json && !process.stdout.isTTY) console.log(statusText(ended, pageWidth(process.stdout)));
    return 0;
  }
  const again = `npx touchstone challenge status ${reference} --watch`;
  console.error(
    temporary
      ? `It goes on while a platform runs (npm start). Come back with: ${again}`
      : `It goes on. Come back with: ${again}`,
  );
  return INTERRUPTED;
}
