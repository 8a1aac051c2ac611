import { SPOT_EXCHANGES, type TradingMode } from '#contract/trading-modes.ts';
import { isExchangeKey } from '#domain/validate.ts';
import type { Found } from './find.ts';

/** The reason why candles of a trading mode cannot be those of an exchange: no run could read them. */
export function exchangeProblem(exchange: string, mode: TradingMode): string | undefined {
  const spot = mode === 'spot' ? SPOT_EXCHANGES.get(exchange) : undefined;
  return spot && `spot, and ${exchange} has perpetuals only: import it with --exchange ${spot}`;
}

/** The reason why files of one exchange are not imported as those of another. */
export function notTheirs(theirs: string, exchange: string): string {
  return `of ${theirs}, not of ${exchange}: import it with --exchange ${theirs}`;
}

/**
 * Exchange of the imported files of a trading mode: the requested one, else the one in the files' folders, else `fallback` (in spot
 * the spot markets of that exchange).
 * @throws Error when the requested exchange is not an exchange key, or none is requested and the folders name several
 */
export function chooseExchange(
  found: Pick<Found, 'exchanges' | 'spotExchanges'>,
  asked: string | undefined,
  fallback: string,
  mode: TradingMode = 'futures',
): string {
  if (asked !== undefined && !isExchangeKey(asked)) {
    throw new Error(`${JSON.stringify(asked)} is not an exchange key such as binanceusdm`);
  }
  const named = mode === 'spot' ? found.spotExchanges : found.exchanges;
  if (asked === undefined && named.length > 1) {
    throw new Error(
      `The folders hold files of several exchanges: ${named.join(', ')}. Choose one with --exchange`,
    );
  }
  return asked ?? named[0] ?? (mode === 'spot' ? (SPOT_EXCHANGES.get(fallback) ?? fallback) : fallback);
}
