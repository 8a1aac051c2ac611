import type * as z from 'zod';
import type { ChallengeEventList, ChallengeList, ChallengeTradeList } from '#contract/challenge-api.ts';
import type { ApiClient } from '../client.ts';
import { minute, number, second, table, wrap } from '../format.ts';
import { challengePath, challengesOf, idOf } from './find.ts';

export interface PageOptions {
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: boolean;
}

export interface ListOptions extends PageOptions {
  readonly status?: string;
}

function queryOf({ limit, cursor, status }: ListOptions): string {
  return `?${new URLSearchParams({
    limit: String(limit),
    ...(cursor ? { cursor } : {}),
    ...(status ? { status } : {}),
  })}`;
}

/** Prints a page as it came or as a table, and how to get the next one. */
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

/** Prints the challenges of a model, newest first. */
export async function printChallenges(client: ApiClient, model: string, options: ListOptions): Promise<void> {
  const page = await client.get<z.infer<typeof ChallengeList>>(challengesOf(model, queryOf(options)));
  const nothing = `No challenge. Create one with: npx touchstone challenge create ${model} <challenger>`;
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

/** Prints the trades of a challenge, last logged first. */
export async function printTrades(client: ApiClient, reference: string, options: PageOptions): Promise<void> {
  const path = challengePath(await idOf(client, reference), `/trades${queryOf(options)}`);
  const page = await client.get<z.infer<typeof ChallengeTradeList>>(path);
  printPage(page, options.json, 'No trades.', (items) =>
    table(
      ['No.', 'Trade', 'Arm', 'Stage', 'Profit, %', 'Pair', 'Opened (UTC)', 'Closed (UTC)', 'Note'],
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
          [trade.misassigned && 'misassigned', trade.late && 'late', trade.error_message]
            .filter(Boolean)
            .join(', '),
          40,
        ),
      ]),
    ),
  );
}

/** Prints what happened to a challenge, newest first. */
export async function printEvents(client: ApiClient, reference: string, options: PageOptions): Promise<void> {
  const path = challengePath(await idOf(client, reference), `/events${queryOf(options)}`);
  const page = await client.get<z.infer<typeof ChallengeEventList>>(path);
  printPage(page, options.json, 'No events.', (items) =>
    table(
      ['When (UTC)', 'Who', 'What', 'Stage', 'Status then', 'Why'],
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
