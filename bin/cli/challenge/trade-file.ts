import { readFileSync } from 'node:fs';
import { TRADE_FIELDS } from '#contract/challenge-trade.ts';
import { printable } from '../printable.ts';
import { UsageError } from '../usage.ts';

/** A trade as it is to be posted. */
export interface TradeRow {
  /** Of the file, from 1; null for what was typed. */
  readonly line: number | null;
  readonly trade: Readonly<Record<string, unknown>>;
}

export interface TradeFile {
  readonly rows: readonly TradeRow[];
  /** Names in the file that no trade has. */
  readonly ignored: readonly string[];
}

/** Numbers by the interface; the rest of a CSV file is text. */
const NUMBERS = new Set(['profit_pct', 'profit_abs', 'stake_amount', 'fee_abs', 'leverage']);

/** Reads trades of a file, or with `-` of the standard input. Throws {@link UsageError}. */
export function readTradeFile(file: string): TradeFile {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
  return parseTrades(text, file);
}

/** Trades of JSON lines, or of CSV with a header of their fields. Throws {@link UsageError}. */
export function parseTrades(text: string, file: string): TradeFile {
  const content = text.replace('\ufeff', '');
  const rows = /^\s*\{/.test(content) ? jsonRows(content, file) : csvRows(content, file);
  if (rows.length === 0) throw new UsageError(`${file} holds no trades`);
  const known = new Set(TRADE_FIELDS);
  const ignored = new Set<string>();
  const wanted = rows.map(({ line, trade }) => {
    const fields = Object.entries(trade).filter(([name]) => known.has(name) || !ignored.add(name));
    return { line, trade: Object.fromEntries(fields) };
  });
  return { rows: wanted, ignored: [...ignored].map(printable) };
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
      throw new UsageError(`${file}, line ${line} cannot be read as JSON: ${(cause as Error).message}`, {
        cause,
      });
    }
    throw new UsageError(`${file}, line ${line} is no JSON object`);
  });
}

function csvRows(content: string, file: string): TradeRow[] {
  const [header, ...records] = csvRecords(content, file);
  const names = header?.cells.map((cell) => cell.trim()) ?? [];
  if (!names.includes('trade_id')) {
    const form = 'trade_id,variant,profit_pct; or JSON lines, an object a trade';
    throw new UsageError(`${file} begins with no header of trade fields, such as ${form}`);
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

/** Text that should be a number and is none goes as it is: the service says what it expects. */
function cellValue(name: string, cell: string): unknown {
  return NUMBERS.has(name) && Number.isFinite(Number(cell)) ? Number(cell) : cell;
}

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** One cell and what ends it: plain, or in quotes, which are doubled within. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** The records of RFC 4180, without empty ones, with the line on which each begins. Throws {@link UsageError}. */
function csvRecords(content: string, file: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let line = 1;
  let cells: string[] = [];
  for (let at = 0, begins = 1; at < content.length || cells.length > 0; ) {
    CELL.lastIndex = at;
    const found = CELL.exec(content);
    if (!found) throw new UsageError(`${file}, line ${line} is no CSV: a quote stands where none may`);
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
