import { clearScreenDown, cursorTo } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import type {
  Challenge,
  ChallengeEvaluation,
  ChallengeEventList,
  ChallengeList,
  ChallengeTradeList,
} from '#contract/registry/challenge-api.ts';
import { CHALLENGE_ID_PREFIX } from '#contract/values/challenge-limits.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { type ApiClient, ApiError } from '../client.ts';
import { queryOf } from '../options.ts';
import { minute, number, second, table, wrap } from '../output.ts';
import { INTERRUPTED, resumeHint, type Session } from '../session.ts';
import { type ChallengeSnapshot, challengeStatusText, pageWidth, pText, statusText } from './status-text.ts';

export const challengePath = (id: string, rest = '') => `/api/v1/challenges/${encodeURIComponent(id)}${rest}`;
export const challengesOf = (model: string, query = '') =>
  `/api/v1/models/${encodeURIComponent(model)}/challenges${query}`;

/** The challenge with this ID, or the newest challenge of the model with this name. */
async function findChallenge(client: ApiClient, reference: string): Promise<Challenge> {
  if (isId(reference)) return client.get<Challenge>(challengePath(reference));
  const page = await client.get<z.infer<typeof ChallengeList>>(challengesOf(reference, '?limit=1'));
  const [newest] = page.items;
  if (newest) return newest;
  throw new Error(
    `Model ${reference} has no challenge. Create one: ${TOUCHSTONE} challenge create ${reference} <challenger>`,
  );
}

/** Loads a challenge with its evaluation. */
export async function loadChallenge(client: ApiClient, reference: string): Promise<ChallengeSnapshot> {
  const challenge = await findChallenge(client, reference);
  const evaluation = await client.get<ChallengeEvaluation>(
    challengePath(challenge.challenge_id, '/evaluate'),
  );
  return { challenge, evaluation };
}

export async function printStatus(client: ApiClient, reference: string, json = false): Promise<void> {
  const snapshot = await loadChallenge(client, reference);
  console.log(json ? JSON.stringify(snapshot) : statusText(snapshot, pageWidth(process.stdout)));
}

/** The challenge ID of a reference, without loading the challenge if the reference is one. */
export async function idOf(client: ApiClient, reference: string): Promise<string> {
  return isId(reference) ? reference : (await findChallenge(client, reference)).challenge_id;
}

function isId(reference: string): boolean {
  return reference.startsWith(CHALLENGE_ID_PREFIX);
}

const POLL_MS = 5_000;
/** Failed requests in a row before watching ends: longer than a service takes to restart. */
const MAX_FAILURES = 20;

/**
 * Polls a challenge until it has ended. Returns the last snapshot, undefined when the signal is aborted first.
 * @throws ApiError for a rejected request, Error after {@link MAX_FAILURES} requests without a response
 */
export async function watchChallenge(
  client: ApiClient,
  reference: string,
  show: (snapshot: ChallengeSnapshot) => void,
  signal: AbortSignal,
  pollMs = POLL_MS,
): Promise<ChallengeSnapshot | undefined> {
  let failures = 0;
  for (let id = reference; !signal.aborted; ) {
    try {
      const snapshot = await loadChallenge(client, id);
      show(snapshot);
      if (snapshot.challenge.status !== 'active') return snapshot;
      // Keep watching this challenge ID even if the model gets a newer challenge.
      [id, failures] = [snapshot.challenge.challenge_id, 0];
    } catch (error) {
      const wasThere = id !== reference || failures > 0;
      if (error instanceof ApiError || !wasThere || ++failures >= MAX_FAILURES) throw error;
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** Shows each snapshot: on a terminal the page, redrawn in place; elsewhere one line per change, as text or JSON. */
export function showSnapshot(
  output: NodeJS.WriteStream,
  json = false,
): (snapshot: ChallengeSnapshot) => void {
  let last = '';
  return (snapshot) => {
    if (output.isTTY && !json) {
      const page = statusText(snapshot, pageWidth(output));
      cursorTo(output, 0, 0);
      clearScreenDown(output);
      const isActive = snapshot.challenge.status === 'active';
      const foot = `\n\nRead at ${second(snapshot.evaluation.evaluated_at)} UTC; Ctrl-C stops watching`;
      output.write(`${page}${isActive ? foot : ''}\n`);
      return;
    }
    const { evaluated_at: _, ...evaluation } = snapshot.evaluation;
    const now = json ? JSON.stringify({ challenge: snapshot.challenge, evaluation }) : lineOf(snapshot);
    if (now !== last) console.log(json ? JSON.stringify({ event: 'snapshot', data: snapshot }) : now);
    last = now;
  };
}

function lineOf({ challenge, evaluation }: ChallengeSnapshot): string {
  const { champion_trades, challenger_trades, canary_stage, hold, updated_at } = challenge;
  return [
    `${minute(updated_at)} ${challengeStatusText(challenge)}`,
    hold ? `${canary_stage}, held (${hold.reason})` : canary_stage,
    `${champion_trades} and ${challenger_trades} trades`,
    `p-value ${pText(evaluation.p_value)}`,
    evaluation.recommendation,
  ].join(', ');
}

/** Follows a challenge to its end and prints its page. Returns the exit code. */
export async function watchAndPrint(session: Session, reference: string, json = false): Promise<number> {
  const left = new AbortController();
  const leave = () => left.abort();
  process.once('SIGINT', leave);
  const show = showSnapshot(process.stdout, json);
  const ended = await watchChallenge(session.client, reference, show, left.signal).finally(() =>
    process.off('SIGINT', leave),
  );
  if (ended) {
    if (!json && !process.stdout.isTTY) console.log(statusText(ended, pageWidth(process.stdout)));
    return 0;
  }
  console.error(resumeHint(session, `challenge status ${reference} --watch`));
  return INTERRUPTED;
}

export interface PageOptions {
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: boolean;
}

export interface ListOptions extends PageOptions {
  readonly status?: string;
}

const pageQuery = ({ limit, cursor, status }: ListOptions) => `?${queryOf({ limit, cursor, status })}`;

/** Prints a page as JSON or as a table, and the cursor of the next one. */
function printPage<T>(
  page: { readonly items: readonly T[]; readonly next_cursor: string | null },
  json: boolean | undefined,
  nothing: string,
  text: (items: readonly T[]) => string,
): void {
  if (json) {
    console.log(JSON.stringify(page));
    return;
  }
  console.log(page.items.length > 0 ? text(page.items) : nothing);
  if (page.next_cursor) console.log(`More exist: --cursor ${page.next_cursor}`);
}

export async function printChallenges(client: ApiClient, model: string, options: ListOptions): Promise<void> {
  const page = await client.get<z.infer<typeof ChallengeList>>(challengesOf(model, pageQuery(options)));
  const nothing = `No challenge. Create one with: ${TOUCHSTONE} challenge create ${model} <challenger>`;
  printPage(page, options.json, nothing, (items) =>
    table(
      ['Challenge', 'Versions', 'Status', 'Outcome', 'Stage', 'Trades', 'Created (UTC)', 'Ends or ended'],
      items.map((each) => [
        each.challenge_id,
        `${each.champion_version} and ${each.challenger_version}`,
        each.hold ? `${each.status}, held` : each.status,
        each.outcome ?? each.reason,
        each.canary_stage,
        `${number(each.champion_trades, 0)} and ${number(each.challenger_trades, 0)}`,
        minute(each.created_at),
        minute(each.ended_at ?? each.ends_at),
      ]),
    ),
  );
}

export async function printTrades(client: ApiClient, reference: string, options: PageOptions): Promise<void> {
  const path = challengePath(await idOf(client, reference), `/trades${pageQuery(options)}`);
  const page = await client.get<z.infer<typeof ChallengeTradeList>>(path);
  printPage(page, options.json, 'No trades.', (items) =>
    table(
      ['No.', 'Trade', 'Variant', 'Stage', 'Profit, %', 'Pair', 'Opened (UTC)', 'Closed (UTC)', 'Note'],
      items.map((trade) => [
        trade.sequence,
        trade.trade_id,
        trade.variant,
        trade.canary_stage,
        number(trade.profit_pct),
        trade.pair,
        minute(trade.opened_at),
        trade.status === 'closed' ? minute(trade.closed_at) : trade.status,
        wrap(
          [
            trade.misassigned && 'misassigned',
            trade.unassigned && 'unassigned',
            trade.late && 'late',
            trade.error_message,
          ]
            .filter(Boolean)
            .join(', '),
          40,
        ),
      ]),
    ),
  );
}

export async function printEvents(client: ApiClient, reference: string, options: PageOptions): Promise<void> {
  const path = challengePath(await idOf(client, reference), `/events${pageQuery(options)}`);
  const page = await client.get<z.infer<typeof ChallengeEventList>>(path);
  printPage(page, options.json, 'No events.', (items) =>
    table(
      ['Time (UTC)', 'Actor', 'Action', 'Stage', 'Status after', 'Reason'],
      items.map((event) => [
        second(event.at),
        event.actor,
        event.action,
        event.canary_stage,
        event.outcome ?? event.status,
        wrap([event.reason, ...event.warnings].filter(Boolean).join('; '), 40),
      ]),
    ),
  );
}
