import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { SlippageModelRequest } from '#contract/config/slippage-model.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import {
  SLIPPAGE_MODEL_DEFAULTS as DEFAULTS,
  SLIPPAGE_MODEL_LIMITS as LIMITS,
  SPREAD_ESTIMATORS,
} from '#contract/values/slippage-limits.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkNumber, checkOneOf } from '../shared/validate.ts';

const FIELD = 'config.slippage_model';
const KEYS = Object.keys(SlippageModelRequest.shape);

/** The slippage model of a run, with its defaults; no field without one. Throws VAL005. */
export function resolveSlippageModel(
  model: BacktestConfigRequest['slippage_model'],
  timeframe: Timeframe,
): Pick<ResolvedBacktestConfig, 'slippage_model'> {
  if (!model) return {};
  const { spread, spread_days, impact, participation } = model;
  if (spread_days !== undefined && spread === undefined) throw withoutSpread();
  if (spread === undefined && impact === undefined && participation === undefined) return {};
  const daily = spread !== undefined ? 'spread' : impact !== undefined ? 'impact' : null;
  if (daily !== null && TIMEFRAME_MS[timeframe] > DAY_MS) throw ofLongCandles(daily, timeframe);
  return {
    slippage_model: {
      ...(spread !== undefined && {
        spread: checkOneOf(spread, `${FIELD}.spread`, SPREAD_ESTIMATORS),
        spread_days: checkNumber(
          spread_days ?? DEFAULTS.spread_days,
          `${FIELD}.spread_days`,
          LIMITS.spread_days,
        ),
      }),
      ...(impact !== undefined && { impact: checkNumber(impact, `${FIELD}.impact`, LIMITS.impact) }),
      ...(participation !== undefined && {
        participation: checkNumber(participation, `${FIELD}.participation`, LIMITS.participation),
      }),
    },
  };
}

export function slippageModelWarnings(model: BacktestConfigRequest['slippage_model']): string[] {
  return unknownKeyWarnings(model ?? {}, KEYS, `${FIELD}.`);
}

/** A candle of several days would tell of days after the fill. */
function ofLongCandles(part: 'spread' | 'impact', timeframe: Timeframe): CodedError {
  return new CodedError('VAL005', {
    message: `${FIELD}.${part} is estimated by day: it needs a timeframe of 1d or shorter, not ${timeframe}`,
    field: `${FIELD}.${part}`,
    context: { timeframe },
  });
}

function withoutSpread(): CodedError {
  return new CodedError('VAL005', {
    message: `${FIELD}.spread_days needs ${FIELD}.spread: ${SPREAD_ESTIMATORS.join(' or ')}`,
    field: `${FIELD}.spread_days`,
    context: {},
  });
}
