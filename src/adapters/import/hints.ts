import type { TradingMode } from '#contract/values/trading-modes.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { isRole } from './columns/choose-columns.ts';
import { ROLES, type Role } from './columns/column-names.ts';
import { zoneOf } from './columns/times.ts';
import { isSymbol } from './file-content.ts';
import { statedMode, symbolOfName } from './market-symbols.ts';
import type { Hints } from './recognizer.ts';

/** Options of `touchstone import` as they are typed. */
export interface ImportHints {
  readonly exchange?: string;
  /** Comma-separated, such as `ETH/BTC,ESH5=ES/USD:USD`. */
  readonly symbols?: string;
  readonly timeframe?: Timeframe;
  /** Comma-separated, such as `time=when,volume=traded`. */
  readonly columns?: string;
  readonly timeZone?: string;
  readonly spot?: boolean;
  readonly skipInvalid?: boolean;
}

/** Statements of the user. Throws Error for a value that means nothing. */
export function hintsOf({ symbols, columns, timeZone, ...stated }: ImportHints): Hints {
  if (timeZone !== undefined) checkZone(timeZone);
  const mode = statedMode(stated);
  return {
    ...stated,
    ...(symbols !== undefined && { symbols: symbols.split(',').map((text) => symbolOf(text.trim(), mode)) }),
    ...(columns !== undefined && { columns: columnsOf(columns) }),
    ...(timeZone !== undefined && { timeZone }),
  };
}

function checkZone(name: string): void {
  try {
    zoneOf(name);
  } catch {
    throw new Error(
      `--time-zone: ${JSON.stringify(name)} is not a time zone. Pass a name such as Europe/Athens, or UTC-5.`,
    );
  }
}

/** A symbol, or `NAME=SYMBOL`. Letters such as `BTCUSDT` are those of the exchange or of spot. */
function symbolOf(text: string, mode: TradingMode | undefined): string {
  const [name, given] = [text.slice(0, text.lastIndexOf('=') + 1), text.slice(text.lastIndexOf('=') + 1)];
  if (isSymbol(given)) return text;
  const found = mode === undefined ? undefined : symbolOfName(given, { mode }, []);
  if (found && 'symbol' in found) return `${name}${found.symbol}`;
  throw new Error(
    `--symbols: ${JSON.stringify(text)} is not a symbol. Write BASE/QUOTE for spot, BASE/QUOTE:SETTLE for perpetuals, or NAME=BASE/QUOTE for the series NAME of a file; letters such as BTCUSDT need --spot or --exchange binanceusdm.`,
  );
}

function columnsOf(list: string): Partial<Record<Role, string>> {
  const columns: Partial<Record<Role, string>> = {};
  for (const text of list.split(',')) {
    const at = text.indexOf('=');
    const role = text.slice(0, at).trim();
    if (at < 0 || !isRole(role)) {
      throw new Error(
        `--columns: ${JSON.stringify(text)} names no column. Write ROLE=NAME, such as time=when; roles are ${ROLES.join(', ')}.`,
      );
    }
    columns[role] = text.slice(at + 1).trim();
  }
  return columns;
}
