import { listNames } from '#contract/values/list-names.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { SPOT_EXCHANGES, type TradingMode } from '#contract/values/trading-modes.ts';
import { isExchangeKey } from '#domain/shared/validate.ts';
import type { Found } from './find.ts';

/** The reason why candles of a trading mode cannot be those of an exchange: no run could read them. */
function exchangeProblem(exchange: string, mode: TradingMode): string | undefined {
  const spot = mode === 'spot' ? SPOT_EXCHANGES.get(exchange) : undefined;
  return spot && `spot, and ${exchange} has perpetuals only: import it with --exchange ${spot}`;
}

/** Exchanges of an import. */
export interface ImportExchanges {
  /** Exchange of the files of a trading mode that name none; null when the folders name several. */
  readonly exchanges: Readonly<Record<TradingMode, string | null>>;
  /** Exchanges in the names of the files. */
  readonly named: ReadonlySet<string>;
  /** Series that name an exchange are imported as those of it. */
  readonly keepNamed: boolean;
}

/**
 * Exchange of a series, or the reason why it is not imported.
 *
 * @param theirs exchange that the file or its row names
 * @param subject what is imported, for the reason; empty for a whole file
 */
export function exchangeOf(
  { exchanges, named, keepNamed }: ImportExchanges,
  theirs: string | undefined,
  mode: TradingMode,
  subject = '',
): { readonly exchange: string } | { readonly reason: string } {
  const exchange = (keepNamed && theirs) || exchanges[mode];
  const is = subject === '' ? 'is' : `${subject} is`;
  if (exchange === null) {
    return {
      reason: `${subject === '' ? 'names' : `${subject} names`} no exchange, and other files name several: ${listNames([...named])}. Import it by itself with --exchange`,
    };
  }
  if (exchange === SIMULATED) return { reason: `${is} of ${SIMULATED}, the simulated market` };
  const problem = exchangeProblem(exchange, mode);
  if (theirs && theirs !== exchange && (problem || named.size > 1 || !named.has(theirs))) {
    return { reason: `of ${theirs}, not of ${exchange}: import it with --exchange ${theirs}` };
  }
  return problem ? { reason: `${is} ${problem}` } : { exchange };
}

/**
 * Exchange of the imported files of a trading mode: the requested one, else the one in the files' folders, else `fallback` (in spot
 * the spot markets of that exchange). null: none is requested, and the folders name several, so that each file has its own.
 * @throws Error when the requested exchange is not an exchange key
 */
export function chooseExchange(
  found: Pick<Found, 'exchanges' | 'spotExchanges'>,
  asked: string | undefined,
  fallback: string,
  mode: TradingMode = 'futures',
): string | null {
  if (asked !== undefined && !isExchangeKey(asked)) {
    throw new Error(`${JSON.stringify(asked)} is not an exchange key such as binanceusdm`);
  }
  if (asked !== undefined) return asked;
  const [first, ...others] = mode === 'spot' ? found.spotExchanges : found.exchanges;
  if (others.length > 0) return null;
  return first ?? (mode === 'spot' ? (SPOT_EXCHANGES.get(fallback) ?? fallback) : fallback);
}
