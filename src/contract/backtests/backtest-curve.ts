import * as z from 'zod';
import { integerParameter, stringParameter } from '../common/parameters.ts';
import { CURVE_LIMITS } from '../values/backtest-limits.ts';

/** Request and response of the equity curve for charts. */

const CurveResolution = z.enum(['day', 'candle']);

export const BacktestCurveQuery = z.object({
  resolution: CurveResolution.default('day').meta({
    description:
      '`day`: the end of each UTC day, as in `/equity`. `candle`: the close of each candle of the timeframe',
  }),
  from: stringParameter(
    40,
    'ISO 8601, inclusive; without an offset it is UTC. Default: the start',
  ).optional(),
  to: stringParameter(40, 'ISO 8601, exclusive; without an offset it is UTC. Default: the end').optional(),
  points: integerParameter({ ...CURVE_LIMITS, description: 'Maximum number of points' }).default(
    CURVE_LIMITS.default,
  ),
});
export type BacktestCurveQuery = z.output<typeof BacktestCurveQuery>;

export const BacktestCurve = z
  .object({
    resolution: CurveResolution.meta({
      description:
        'Resolution of the points. `day` although `candle` was asked for: only days are stored, because an earlier release ran the backtest',
    }),
    step_seconds: z.int().meta({ description: 'Seconds between two points that are not decimated' }),
    decimated: z.boolean().meta({
      description:
        'True when the range has more points than returned. Then the range is divided into buckets, and the points of each bucket with the smallest and largest value of each column are returned, with the first and last point of the range',
    }),
    total: z.int().meta({ description: 'Points in the range before decimation' }),
    times: z.array(z.int()).meta({
      description: 'Unix seconds, ascending: start of the UTC day, or open time of the candle',
    }),
    equity: z.array(z.number()).meta({
      description:
        'At the end of the day or candle, open positions marked to market, quote currency. Of candles: rounded to a millionth of the wallet',
      'x-unit': 'quote',
    }),
    drawdown: z.array(z.number()).meta({
      description: 'Percent below the running maximum since the start of the run, zero or negative',
      'x-unit': 'percent',
    }),
    market: z.array(z.number()).nullable().meta({
      description:
        'Value of the wallet if it had been invested in all pairs in equal parts at their first candle, without costs. null: not stored, because an earlier release ran the backtest',
      'x-unit': 'quote',
    }),
  })
  .meta({ id: 'BacktestCurve', description: 'Columns of equal length' });
export type BacktestCurve = z.infer<typeof BacktestCurve>;
