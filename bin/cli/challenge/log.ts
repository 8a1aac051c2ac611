import cliProgress from 'cli-progress';
import {
  type LoggedTrade,
  MAX_TRADES,
  type RefusedTrade,
  type TradesLogged,
} from '#contract/challenge-trade.ts';
import { type ApiClient, ApiError } from '../client.ts';
import { number } from '../format.ts';
import { printable } from '../printable.ts';
import { challengePath, idOf } from './find.ts';
import type { TradeFile, TradeRow } from './trade-file.ts';

type Reply = Extract<TradesLogged, { items: unknown }>;

interface Refused {
  /** Of the file; null for what was typed. */
  readonly line: number | null;
  readonly trade_id: string;
  readonly reason: string;
}

/** What became of the trades so far. */
interface Tally {
  readonly challenge_id: string;
  logged: number;
  duplicates: number;
  /** Of the logged ones those that do not count. */
  misassigned: number;
  late: number;
  readonly refused: Refused[];
  /** How the challenge stands after the last one; null before any. */
  standing: Pick<Reply, 'status' | 'champion_trades' | 'challenger_trades' | 'recommendation'> | null;
}

/** Trades that the service cannot read before the rest of a file is left: then it is the file that is wrong. */
const MOST_UNREADABLE = 20;
const REFUSED_SHOWN = 20;

/**
 * Logs trades, 100 a call, and prints what became of them: each counts once however often it is posted. Answers the exit
 * code: 0 unless one was refused.
 */
export async function logTrades(
  client: ApiClient,
  reference: string,
  { rows, ignored }: TradeFile,
  json = false,
): Promise<number> {
  const challenge_id = await idOf(client, reference);
  const tally: Tally = {
    ...{ challenge_id, logged: 0, duplicates: 0, misassigned: 0, late: 0 },
    ...{ refused: [], standing: null },
  };
  const bar = progressBar(rows.length);
  try {
    for (let start = 0; start < rows.length; start += MAX_TRADES) {
      await post(client, rows.slice(start, start + MAX_TRADES), tally);
      bar.update(Math.min(rows.length, start + MAX_TRADES));
    }
  } catch (error) {
    bar.stop();
    const done = tally.logged + tally.duplicates;
    if (done > 0)
      console.error(`${number(done, 0)} trades are logged. What is logged counts once: repeat the command.`);
    throw error;
  }
  bar.stop();
  if (json) console.log(JSON.stringify({ ...tally, ignored }));
  else console.log(tallyText(tally, ignored));
  return tally.refused.length > 0 ? 1 : 0;
}

/** A bar, beside what a program reads from the output; nothing for what one call does. */
function progressBar(total: number): { update(done: number): void; stop(): void } {
  if (total <= MAX_TRADES) return { update: () => undefined, stop: () => undefined };
  const bar = new cliProgress.SingleBar(
    {
      format: 'Logging [{bar}] {percentage} % {value}/{total} trades',
      // What was posted is logged: Ctrl-C may end it at any time.
      gracefulExit: false,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(total, 0);
  return bar;
}

/** Posts some rows. One that the service cannot read is set aside, and the others are posted again without it. */
async function post(client: ApiClient, rows: readonly TradeRow[], tally: Tally): Promise<void> {
  for (let left = rows; left.length > 0; ) {
    try {
      const trades = left.map(({ trade }) => trade);
      const reply = await client.post<Reply>(challengePath(tally.challenge_id, '/trades'), { trades });
      return count(reply, left, tally);
    } catch (error) {
      const wrong = error instanceof ApiError ? unreadable(error) : new Map<number, string>();
      const unread = left.flatMap((row, index) => (wrong.has(index) ? refused(row, wrong.get(index)!) : []));
      if (unread.length === 0) throw error;
      tally.refused.push(...unread);
      left = left.filter((_, index) => !wrong.has(index));
      if (tally.refused.length >= MOST_UNREADABLE && left.length > 0) throw tooManyWrong(tally);
    }
  }
}

/** Why which of the posted trades cannot be read, by their place. */
function unreadable({ issues }: ApiError): Map<number, string> {
  const found = new Map<number, string>();
  for (const { field, message } of issues) {
    const [, index, name] = /(?:^|\.)trades\.(\d+)(?:\.(\w+))?$/.exec(field) ?? [];
    if (index === undefined) continue;
    const text = message.replaceAll(`trades.${index}.`, '');
    found.set(Number(index), name && !text.includes(name) ? `${name}: ${text}` : text);
  }
  return found;
}

function refused({ line, trade }: TradeRow, reason: string): Refused {
  return { line, trade_id: printable(String(trade.trade_id ?? '-')), reason };
}

function tooManyWrong({ refused: all, logged, duplicates }: Tally): Error {
  const lines = all.slice(0, REFUSED_SHOWN).map(refusedText);
  return new Error(
    `${all.length} trades cannot be logged; ${number(logged + duplicates, 0)} are, the rest was not tried:\n${lines.join('\n')}`,
  );
}

function count(reply: Reply, rows: readonly TradeRow[], tally: Tally): void {
  for (const [index, item] of reply.items.entries()) {
    if (isRefused(item))
      tally.refused.push(refused(rows[index]!, `${item.error.code}: ${item.error.message}`));
    else if (item.duplicate) tally.duplicates++;
    else {
      tally.logged++;
      if (item.late) tally.late++;
      else if (item.misassigned) tally.misassigned++;
    }
  }
  const { status, champion_trades, challenger_trades, recommendation } = reply;
  tally.standing = { status, champion_trades, challenger_trades, recommendation };
}

function isRefused(item: LoggedTrade | RefusedTrade): item is RefusedTrade {
  return 'error' in item;
}

function refusedText({ line, trade_id, reason }: Refused): string {
  return `${line === null ? 'Trade' : `Line ${line}, trade`} ${trade_id}: ${reason}`;
}

function tallyText(tally: Tally, ignored: readonly string[]): string {
  const { challenge_id, logged, duplicates, refused: all, misassigned, late, standing } = tally;
  const uncounted = [
    ...(misassigned > 0 ? [`${number(misassigned, 0)} came from the other arm than its key belongs to`] : []),
    ...(late > 0 ? [`${number(late, 0)} came after the end`] : []),
  ];
  const more = all.length - REFUSED_SHOWN;
  return [
    ...(ignored.length > 0 ? [`Ignored, as no trade has it: ${ignored.join(', ')}`] : []),
    ...all.slice(0, REFUSED_SHOWN).map(refusedText),
    ...(more > 0 ? [`and ${number(more, 0)} more`] : []),
    `${number(logged, 0)} new, ${number(duplicates, 0)} ${duplicates === 1 ? 'duplicate' : 'duplicates'}, ${number(all.length, 0)} refused`,
    ...(uncounted.length > 0 ? [`Not counted: ${uncounted.join('; ')}`] : []),
    ...(standing ? standingLines(challenge_id, standing) : []),
  ].join('\n');
}

function standingLines(id: string, standing: NonNullable<Tally['standing']>): string[] {
  const { status, champion_trades, challenger_trades, recommendation } = standing;
  const trades = `${number(champion_trades, 0)} and ${number(challenger_trades, 0)} closed trades`;
  return [
    `${id} is ${status.replace('_', ' ')}, with ${trades}: ${recommendation}`,
    ...(status === 'active' ? [] : [`Next: npx touchstone challenge status ${id}`]),
  ];
}
