import { readFileSync } from 'node:fs';
import {
  type LoggedTrade,
  type RejectedTrade,
  TRADE_FIELDS,
  type TradesLogged,
} from '#contract/registry/challenge-trade.ts';
import { TRADE_LIMITS } from '#contract/values/challenge-limits.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { listNames } from '#contract/values/list-names.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { type ApiClient, ApiError } from '../client.ts';
import { UsageError } from '../options.ts';
import { escapeControlChars, number, progressBar } from '../output.ts';
import { challengePath, idOf } from './status.ts';

type Reply = Extract<TradesLogged, { items: unknown }>;

interface Rejected {
  /** Line in the file; null for a trade from options. */
  readonly line: number | null;
  readonly trade_id: string;
  readonly reason: string;
}

/** Results of the trades so far. */
interface Tally {
  readonly challenge_id: string;
  logged: number;
  duplicates: number;
  /** Logged, but not counted. */
  misassigned: number;
  unassigned: number;
  late: number;
  readonly rejected: Rejected[];
  /** The challenge after the last request; null before the first. */
  snapshot: Pick<Reply, 'status' | 'champion_trades' | 'challenger_trades' | 'recommendation'> | null;
}

/** Invalid trades after which the rest of a file is not sent. */
const MAX_INVALID = 20;
const REJECTED_SHOWN = 20;

/**
 * Logs trades, 100 per request, and prints the results; logging a trade again does not count it again. Returns the exit
 * code: 1 if one was rejected.
 */
export async function logTrades(
  client: ApiClient,
  reference: string,
  { rows, ignored }: TradeFile,
  json = false,
): Promise<number> {
  const challenge_id = await idOf(client, reference);
  const tally: Tally = {
    challenge_id,
    logged: 0,
    duplicates: 0,
    misassigned: 0,
    unassigned: 0,
    late: 0,
    rejected: [],
    snapshot: null,
  };
  const bar = tradeBar(rows.length);
  try {
    for (let start = 0; start < rows.length; start += TRADE_LIMITS.trades) {
      await post(client, rows.slice(start, start + TRADE_LIMITS.trades), tally);
      bar.update(Math.min(rows.length, start + TRADE_LIMITS.trades));
    }
  } catch (error) {
    bar.stop();
    const done = tally.logged + tally.duplicates;
    if (done > 0)
      console.error(
        `${number(done, 0)} trades are logged. Repeat the command: trades that are logged do not count again.`,
      );
    throw error;
  }
  bar.stop();
  if (json) console.log(JSON.stringify({ ...tally, ignored }));
  else console.log(tallyText(tally, ignored));
  return tally.rejected.length > 0 ? 1 : 0;
}

/** A progress bar for more than one request. */
function tradeBar(total: number): { update(done: number): void; stop(): void } {
  if (total <= TRADE_LIMITS.trades) return { update: () => undefined, stop: () => undefined };
  const format = 'Logging [{bar}] {percentage} % {value}/{total} trades';
  // Each request is complete in itself, so Ctrl-C may end the command at any time.
  const bar = progressBar(format, { hideCursor: false, gracefulExit: false });
  bar.start(total, 0);
  return bar;
}

/** Posts some rows; if the service finds some of them invalid, posts the others again without them. */
async function post(client: ApiClient, rows: readonly TradeRow[], tally: Tally): Promise<void> {
  for (let left = rows; left.length > 0; ) {
    try {
      const trades = left.map(({ trade }) => trade);
      const reply = await client.post<Reply>(challengePath(tally.challenge_id, '/trades'), { trades });
      return count(reply, left, tally);
    } catch (error) {
      const invalid = error instanceof ApiError ? invalidTrades(error) : new Map<number, string>();
      const rejections = left.flatMap((row, index) =>
        invalid.has(index) ? rejected(row, invalid.get(index)!) : [],
      );
      if (rejections.length === 0) throw error;
      tally.rejected.push(...rejections);
      left = left.filter((_, index) => !invalid.has(index));
      if (tally.rejected.length >= MAX_INVALID && left.length > 0) throw tooManyInvalid(tally);
    }
  }
}

/** Messages of the invalid trades of a request, by index. */
function invalidTrades({ issues }: ApiError): Map<number, string> {
  const found = new Map<number, string>();
  for (const { field, message } of issues) {
    const [, index, name] = /(?:^|\.)trades\.(\d+)(?:\.(\w+))?$/.exec(field) ?? [];
    if (index === undefined) continue;
    const text = message.replaceAll(`trades.${index}.`, '');
    found.set(Number(index), name && !text.includes(name) ? `${name}: ${text}` : text);
  }
  return found;
}

function rejected({ line, trade }: TradeRow, reason: string): Rejected {
  return { line, trade_id: escapeControlChars(String(trade.trade_id ?? '-')), reason };
}

function tooManyInvalid({ rejected: all, logged, duplicates }: Tally): Error {
  const lines = all.slice(0, REJECTED_SHOWN).map(rejectedText);
  return new Error(
    `${all.length} trades are invalid; ${number(logged + duplicates, 0)} are logged. The rest of the file was not sent. Fix the file:\n${lines.join('\n')}`,
  );
}

function count(reply: Reply, rows: readonly TradeRow[], tally: Tally): void {
  for (const [index, item] of reply.items.entries()) {
    if (isRejected(item))
      tally.rejected.push(rejected(rows[index]!, `${item.error.code}: ${item.error.message}`));
    else if (item.duplicate) tally.duplicates++;
    else {
      tally.logged++;
      if (item.late) tally.late++;
      else if (item.misassigned) tally.misassigned++;
      else if (item.unassigned) tally.unassigned++;
    }
  }
  const { status, champion_trades, challenger_trades, recommendation } = reply;
  tally.snapshot = { status, champion_trades, challenger_trades, recommendation };
}

function isRejected(item: LoggedTrade | RejectedTrade): item is RejectedTrade {
  return 'error' in item;
}

function rejectedText({ line, trade_id, reason }: Rejected): string {
  return `${line === null ? 'Trade' : `Line ${line}, trade`} ${trade_id}: ${reason}`;
}

function tallyText(tally: Tally, ignored: readonly string[]): string {
  const { challenge_id, logged, duplicates, rejected: all, misassigned, unassigned, late, snapshot } = tally;
  const uncounted = [
    ...(misassigned > 0
      ? [`${number(misassigned, 0)} traded by the variant that their key was not assigned to`]
      : []),
    ...(unassigned > 0 ? [`${number(unassigned, 0)} without a key that was assigned before`] : []),
    ...(late > 0
      ? [`${number(late, 0)} opened before the start or logged after the end of the challenge`]
      : []),
  ];
  const rejected = all.slice(0, REJECTED_SHOWN).map(rejectedText);
  return [
    ...(ignored.length > 0 ? [`Ignored fields: ${ignored.join(', ')}`] : []),
    ...(all.length > 0
      ? [listNames(rejected, { shown: REJECTED_SHOWN, count: all.length, separator: '\n' })]
      : []),
    `${number(logged, 0)} new, ${formatCount(duplicates, 'duplicate')}, ${number(all.length, 0)} rejected`,
    ...(uncounted.length > 0 ? [`Not counted: ${uncounted.join('; ')}`] : []),
    ...(snapshot ? snapshotLines(challenge_id, snapshot) : []),
  ].join('\n');
}

function snapshotLines(id: string, snapshot: NonNullable<Tally['snapshot']>): string[] {
  const { status, champion_trades, challenger_trades, recommendation } = snapshot;
  const trades = `${number(champion_trades, 0)} and ${number(challenger_trades, 0)} closed trades`;
  return [
    `${id} is ${status.replace('_', ' ')}, with ${trades}: ${recommendation}`,
    ...(status === 'active' ? [] : [`Next: ${TOUCHSTONE} challenge status ${id}`]),
  ];
}

/** A trade to post. */
interface TradeRow {
  /** Line in the file, from 1; null for a trade from options. */
  readonly line: number | null;
  readonly trade: Readonly<Record<string, unknown>>;
}

interface TradeFile {
  readonly rows: readonly TradeRow[];
  /** Names in the file that are not fields of a trade. */
  readonly ignored: readonly string[];
}

/** Fields with numbers; other cells of a CSV file are strings. */
const NUMBERS = new Set(['profit_pct', 'profit_abs', 'stake_amount', 'fee_abs', 'leverage']);

/** @param file a path, or `-` for stdin */
function readTradeFile(file: string): TradeFile {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
  return parseTrades(text, file);
}

/** Parses JSON lines, or CSV with a header of trade fields. @throws UsageError */
export function parseTrades(text: string, file: string): TradeFile {
  const content = text.replace('\ufeff', '');
  const rows = /^\s*\{/.test(content) ? jsonRows(content, file) : csvRows(content, file);
  if (rows.length === 0) throw new UsageError(`${file} contains no trades`);
  const known = new Set(TRADE_FIELDS);
  const ignored = new Set<string>();
  const wanted = rows.map(({ line, trade }) => {
    const fields = Object.entries(trade).filter(([name]) => known.has(name) || !ignored.add(name));
    return { line, trade: Object.fromEntries(fields) };
  });
  return { rows: wanted, ignored: [...ignored].map(escapeControlChars) };
}

function jsonRows(content: string, file: string): TradeRow[] {
  return content.split(/\r?\n/).flatMap((text, index) => {
    if (text.trim() === '') return [];
    const line = index + 1;
    try {
      const trade: unknown = JSON.parse(text);
      if (typeof trade === 'object' && trade !== null && !Array.isArray(trade)) {
        return { line, trade: trade as Record<string, unknown> };
      }
    } catch (cause) {
      throw new UsageError(`${file}, line ${line} is not valid JSON: ${(cause as Error).message}`, {
        cause,
      });
    }
    throw new UsageError(`${file}, line ${line} is not a JSON object`);
  });
}

function csvRows(content: string, file: string): TradeRow[] {
  const [header, ...records] = csvRecords(content, file);
  const names = header?.cells.map((cell) => cell.trim()) ?? [];
  if (!names.includes('trade_id')) {
    const form = 'trade_id,variant,profit_pct. Pass CSV with a header, or JSON lines with one trade each.';
    throw new UsageError(`${file} has no header of trade fields, such as ${form}`);
  }
  return records.map(({ line, cells }) => {
    if (cells.length !== names.length) {
      throw new UsageError(
        `${file}, line ${line} has ${cells.length} cells where the header has ${names.length}`,
      );
    }
    const fields = names.flatMap((name, column) => {
      const cell = cells[column]!.trim();
      return cell === '' ? [] : [[name, cellValue(name, cell)] as const];
    });
    return { line, trade: Object.fromEntries(fields) };
  });
}

/** A string where a number belongs is sent unchanged: the service says what it expects. */
function cellValue(name: string, cell: string): unknown {
  return NUMBERS.has(name) && Number.isFinite(Number(cell)) ? Number(cell) : cell;
}

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** One cell and its end: plain, or quoted with doubled quotes inside. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** The records of RFC 4180 with their first line; empty ones are left out. @throws UsageError */
function csvRecords(content: string, file: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let line = 1;
  let cells: string[] = [];
  for (let at = 0, begins = 1; at < content.length || cells.length > 0; ) {
    CELL.lastIndex = at;
    const found = CELL.exec(content);
    if (!found) throw new UsageError(`${file}, line ${line} is not valid CSV: unexpected quote`);
    const [all, quoted, plain, end] = found;
    cells.push(quoted?.replaceAll('""', '"') ?? plain!);
    line += all.split('\n').length - 1;
    at += all.length;
    if (end === ',') continue;
    if (cells.length > 1 || cells[0]!.trim() !== '') records.push({ line: begins, cells });
    [cells, begins] = [[], line];
  }
  return records;
}

/** Fields of a trade as options: names in camel case, `modelVersion` for its version. */
export type TypedTrade = Readonly<Record<string, string | number | undefined>>;

/** The trades of a file, or the one trade of the options. @throws UsageError for both and for neither */
export function tradesOf(file: string | undefined, typed: TypedTrade): TradeFile {
  const isTyped = Object.keys(typed).length > 0;
  if (file !== undefined && isTyped) {
    throw new UsageError('Pass a file of trades or the options of one trade, not both.');
  }
  if (file !== undefined) return readTradeFile(file);
  if (isTyped) return { rows: [{ line: null, trade: tradeOf(typed) }], ignored: [] };
  throw new UsageError(
    'Pass a file of trades, or one trade: --trade-id t-1 --variant challenger --profit-pct 0.4',
  );
}

function tradeOf({ modelVersion, ...typed }: TypedTrade): Record<string, unknown> {
  const fields = Object.entries(typed).map(([name, value]) => [snakeCase(name), value] as const);
  return { ...Object.fromEntries(fields), ...(modelVersion === undefined ? {} : { version: modelVersion }) };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
