import { CodedError } from '#contract/errors.ts';
import { BACKTEST_DEFAULTS as DEFAULTS, BACKTEST_LIMITS as LIMITS } from '#contract/limits.ts';
import { SPOT_EXCHANGES, TRADING_MODES, type TradingMode } from '#contract/trading-modes.ts';
import type { DefinitionData } from '#engine/strategies/validate-definition.ts';
import { checkCount, checkNumber, checkOneOf, checkSymbol } from './validate.ts';

interface MarketRequest {
  readonly trading_mode?: string | undefined;
  readonly pairs?: readonly string[] | undefined;
  readonly leverage?: number | undefined;
}

/** Candidates of a universe in place of the pairs of the strategy, whose first pair is given. */
type FindPairs = (like: string) => Promise<readonly string[]>;

interface ResolvedMarket {
  /** Present in spot only: configurations of futures keep their digest. */
  readonly mode: { readonly trading_mode?: 'spot' };
  readonly pairs: string[];
  readonly leverage: number;
  readonly warnings: readonly string[];
}

/**
 * Trading mode of a request with what depends on it: format and default of the pairs, leverage. Throws VAL002 for a pair of
 * the other mode, VAL005 for an unknown mode, a repeated pair, leverage in spot, or an exchange without spot markets.
 */
export async function resolveTradingMode(
  input: MarketRequest,
  strategy: DefinitionData,
  exchange: string,
  candidates?: FindPairs,
): Promise<ResolvedMarket> {
  const mode = checkOneOf(input.trading_mode ?? DEFAULTS.trading_mode, 'config.trading_mode', TRADING_MODES);
  const isSpot = mode === 'spot';
  if (isSpot) checkSpotExchange(exchange);
  const own = isSpot ? spotPairs(strategy.pairs) : strategy.pairs;
  const found = input.pairs ?? (await candidates?.(own[0]!));
  const leverage = strategy.leverage ?? DEFAULTS.leverage;
  const asked = input.leverage ?? (isSpot ? DEFAULTS.leverage : leverage);
  return {
    mode: isSpot ? { trading_mode: 'spot' } : {},
    pairs: input.pairs || !found ? checkPairs(found ?? own, mode) : [...found],
    leverage: isSpot ? noLeverage(asked) : checkNumber(asked, 'config.leverage', LIMITS.leverage),
    warnings:
      isSpot && input.leverage === undefined && leverage !== DEFAULTS.leverage
        ? [`config.leverage is 1 instead of the ${leverage} of ${strategy.name}: spot has no leverage`]
        : [],
  };
}

/** Spot pairs of perpetuals: without the settlement currency, each once. */
export function spotPairs(pairs: readonly string[]): string[] {
  return [...new Set(pairs.map((pair) => pair.split(':')[0]!))];
}

function checkSpotExchange(exchange: string): void {
  const spot = SPOT_EXCHANGES.get(exchange);
  if (spot === undefined) return;
  throw new CodedError('VAL005', {
    message: `config.exchange must have spot markets with config.trading_mode spot: ${exchange} has perpetuals only, set it to ${spot}`,
    field: 'config.exchange',
    context: { value: exchange, trading_mode: 'spot' },
  });
}

function noLeverage(leverage: number): number {
  if (leverage === DEFAULTS.leverage) return leverage;
  throw new CodedError('VAL005', {
    message: 'config.leverage must be 1 with config.trading_mode spot: remove it, or trade futures',
    field: 'config.leverage',
    context: { value: leverage, trading_mode: 'spot' },
  });
}

function checkPairs(pairs: readonly string[], mode: TradingMode): string[] {
  checkCount(pairs.length, 'config.pairs', LIMITS.pairs, 'symbols');
  for (const [index, pair] of pairs.entries()) {
    checkSymbol(pair, `config.pairs.${index}`, mode);
    if (pairs.indexOf(pair) === index) continue;
    throw new CodedError('VAL005', {
      message: `config.pairs names ${pair} twice: name each pair once`,
      field: `config.pairs.${index}`,
      context: { value: pair },
    });
  }
  return [...pairs];
}
