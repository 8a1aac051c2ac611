import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { CollectMode } from '#contract/common.ts';
import { CodedError } from '#contract/errors.ts';
import { COLLECT_MODES } from '#contract/limits.ts';
import type { RoiTable, TrailingStop } from '#engine/strategy.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { checkNumber, checkOneOf, checkSymbol, checkTimeframe, isExchangeKey } from './validate.ts';

/** Rules on the fields of a backtest's configuration. Each throws a CodedError that names the field. */

/** Bounds of a submission's numbers. The OpenAPI document states the same. */
export const LIMITS = {
  pairs: 200,
  wallet: { min: 0, aboveMin: true, max: 1e12 },
  stake: { min: 0, aboveMin: true, max: 1e12 },
  maxOpenTrades: { min: 1, max: 1000, integer: true },
  rate: { min: 0, max: 0.1 },
  leverage: { min: 1, max: 125 },
  stoploss: { min: -1, aboveMin: true, max: 0, belowMax: true },
  seed: { min: 0, max: 2 ** 32 - 1, integer: true },
  roiSteps: 50,
} as const;

export const FILL_MODELS = ['freqtrade', 'conservative'] as const;
export const TRAILING_KEYS = ['positive', 'offset', 'only_offset_is_reached'];
const MINUTES_PER_YEAR = 525_600;

export function checkCollect(mode: string | undefined, field: string): CollectMode {
  return checkOneOf(mode ?? 'if_stale', field, COLLECT_MODES);
}

export function checkExchange(exchange: string): string {
  if (!isExchangeKey(exchange)) {
    throw new CodedError('VAL005', {
      message: 'config.exchange must be an exchange key such as binanceusdm or sim',
      field: 'config.exchange',
      context: { value: exchange.slice(0, 100) },
    });
  }
  return exchange;
}

export function checkPairs(pairs: readonly string[]): string[] {
  if (pairs.length === 0 || pairs.length > LIMITS.pairs) {
    throw new CodedError('VAL005', {
      message: `config.pairs must hold 1 to ${LIMITS.pairs} symbols`,
      field: 'config.pairs',
      context: { count: pairs.length, min: 1, max: LIMITS.pairs },
    });
  }
  const seen = new Set<string>();
  for (const [index, pair] of pairs.entries()) {
    checkSymbol(pair, `config.pairs.${index}`);
    if (seen.has(pair)) {
      throw new CodedError('VAL005', {
        message: `config.pairs names ${pair} twice`,
        field: `config.pairs.${index}`,
        context: { value: pair },
      });
    }
    seen.add(pair);
  }
  return [...pairs];
}

export function checkStake(stake: number | string, wallet: number): number | 'unlimited' {
  if (stake === 'unlimited') return stake;
  if (typeof stake === 'string') {
    throw new CodedError('VAL005', {
      message: 'config.stake_amount must be a number or "unlimited"',
      field: 'config.stake_amount',
      context: { value: stake.slice(0, 100), allowed: ['unlimited'] },
    });
  }
  checkNumber(stake, 'config.stake_amount', LIMITS.stake);
  if (stake > wallet) {
    throw new CodedError('VAL005', {
      message: 'config.stake_amount must not exceed config.dry_run_wallet: no trade could be opened',
      field: 'config.stake_amount',
      context: { value: stake, max: wallet },
    });
  }
  return stake;
}

const MAX_ROI_MINUTES = 10 * MINUTES_PER_YEAR;

export function checkRoi(table: RoiTable): Record<string, number> {
  const steps = Object.entries(table);
  if (steps.length > LIMITS.roiSteps) {
    throw new CodedError('VAL005', {
      message: `config.minimal_roi must hold at most ${LIMITS.roiSteps} steps`,
      field: 'config.minimal_roi',
      context: { count: steps.length, max: LIMITS.roiSteps },
    });
  }
  for (const [minutes, ratio] of steps) {
    const field = `config.minimal_roi.${minutes.slice(0, 20)}`;
    if (!/^\d{1,9}$/.test(minutes) || Number(minutes) > MAX_ROI_MINUTES) {
      throw new CodedError('VAL005', {
        message: `The keys of config.minimal_roi are minutes since entry, whole numbers from 0 to ${MAX_ROI_MINUTES}`,
        field,
        context: { value: minutes.slice(0, 20), min: 0, max: MAX_ROI_MINUTES },
      });
    }
    checkNumber(ratio, field, { min: -1, max: 1000 });
  }
  return Object.fromEntries(steps);
}

export function checkTrailing(trailing: TrailingStop | null): ResolvedBacktestConfig['trailing'] {
  if (trailing === null) return null;
  const { positive, offset = 0, only_offset_is_reached = false } = trailing;
  if (positive !== undefined) checkNumber(positive, 'config.trailing.positive', POSITIVE_RATIO);
  checkNumber(offset, 'config.trailing.offset', { min: 0, max: 10 });
  if (only_offset_is_reached && offset <= 0) {
    throw new CodedError('VAL004', {
      message: 'config.trailing.offset is required with only_offset_is_reached',
      field: 'config.trailing.offset',
      context: {},
    });
  }
  if (positive !== undefined && offset > 0 && offset <= positive) {
    throw new CodedError('VAL005', {
      message:
        'config.trailing.offset must be above config.trailing.positive: the stop would start at a loss',
      field: 'config.trailing.offset',
      context: { value: offset, positive },
    });
  }
  return { ...(positive === undefined ? {} : { positive }), offset, only_offset_is_reached };
}

const POSITIVE_RATIO = { min: 0, aboveMin: true, max: 1 } as const;

export function checkDetail(detail: string | null, timeframe: Timeframe): Timeframe | null {
  if (detail === null) return null;
  const finer = checkTimeframe(detail, 'config.timeframe_detail');
  if (TIMEFRAME_MS[finer] >= TIMEFRAME_MS[timeframe]) {
    throw new CodedError('VAL005', {
      message: 'config.timeframe_detail must be finer than config.timeframe',
      field: 'config.timeframe_detail',
      context: { value: detail, timeframe },
    });
  }
  return finer;
}
