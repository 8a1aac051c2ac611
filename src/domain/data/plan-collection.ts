import { CodedError } from '#contract/errors.ts';
import type { StoredCollection } from '#contract/stored-collection.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import type { Exchanges } from '../exchange-ports.ts';
import type { Clock } from '../ports.ts';
import { checkSymbol, checkTimeframe, isoTime } from '../validate.ts';
import { parseRange } from './time-range.ts';

export interface CollectionBody {
  readonly symbols: readonly string[];
  readonly timeframe: string;
  readonly start?: string;
  readonly end?: string;
  readonly exchange?: string;
}

/** What is to be collected, every default filled in. */
type CollectionPlan = Pick<StoredCollection, 'exchange' | 'symbols' | 'timeframe' | 'start' | 'end'>;

const DEFAULT_DAYS = 90;
const MAX_SYMBOLS = 200;

/** Checks a request and fills in its defaults. Throws VAL001, VAL002, VAL003, VAL005. */
export async function planCollection(
  deps: { readonly exchanges: Exchanges; readonly defaultExchange: string; readonly clock: Clock },
  body: CollectionBody,
): Promise<CollectionPlan> {
  const symbols = checkSymbols(body.symbols);
  const timeframe = checkTimeframe(body.timeframe, 'timeframe');
  const exchange = await deps.exchanges.open(body.exchange ?? deps.defaultExchange);
  const range = parseRange(body);
  const now = deps.clock.now();
  const end = range.end ?? now;
  const start = range.start ?? Math.min(end, now) - DEFAULT_DAYS * DAY_MS;
  if (start >= now) {
    throw new CodedError('VAL001', {
      message: 'start lies in the future: there is nothing to collect yet',
      field: 'start',
      context: { start: isoTime(start), now: isoTime(now) },
    });
  }
  return { exchange: exchange.name, symbols, timeframe, start: isoTime(start), end: isoTime(end) };
}

function checkSymbols(symbols: readonly string[]): string[] {
  if (symbols.length === 0 || symbols.length > MAX_SYMBOLS) {
    throw new CodedError('VAL005', {
      message: `symbols must hold 1 to ${MAX_SYMBOLS} symbols`,
      field: 'symbols',
      context: { count: symbols.length, min: 1, max: MAX_SYMBOLS },
    });
  }
  return [...new Set(symbols.map((symbol, index) => checkSymbol(symbol, `symbols.${index}`)))];
}
