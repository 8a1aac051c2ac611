import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { Space, TrialParams } from '#contract/hyperopt/hyperopt.ts';
import { MINUTE_MS } from '#contract/values/durations.ts';
import type { Dimension } from '#engine/search/space.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';

/**
 * Search ranges of stoploss, ROI table and trailing stop as in freqtrade: docs "Hyperopt", `IHyperOpt` of freqtrade
 * 2026.
 */

type Exits = Partial<Pick<ResolvedBacktestConfig, 'stoploss' | 'minimal_roi' | 'trailing'>>;

/** Field of a backtest's configuration that each space sets. */
export const EXIT_NAMES: Readonly<Partial<Record<Space, keyof Exits>>> = {
  stoploss: 'stoploss',
  roi: 'minimal_roi',
  trailing: 'trailing',
};

/** Ratios are searched as integer thousandths: freqtrade rounds to three decimals, and a sum of them is exact. */
const THOUSANDTHS = 1000;
/** Timeframe for which the ranges of the ROI table are written down; others are scaled. */
const ROI_REFERENCE_MINUTES = 5;

/**
 * Dimensions of the spaces `stoploss`, `roi` and `trailing`. Times of the ROI table grow with the timeframe, as multiples
 * of a candle, since exits are evaluated at opens only. Profits grow with its logarithm. The names contain a dot, which
 * names of strategy parameters do not.
 */
export function exitDimensions(spaces: readonly Space[], timeframe: Timeframe): Dimension[] {
  return [
    ...(spaces.includes('stoploss') ? [ratio('exit.stoploss', -0.35, -0.02)] : []),
    ...(spaces.includes('roi') ? roiDimensions(TIMEFRAME_MS[timeframe] / MINUTE_MS) : []),
    ...(spaces.includes('trailing') ? TRAILING : []),
  ];
}

const ratio = (name: string, min: number, max: number): Dimension => ({
  kind: 'int',
  name,
  min: Math.round(min * THOUSANDTHS),
  max: Math.round(max * THOUSANDTHS),
});

function roiDimensions(minutes: number): Dimension[] {
  const timeScale = minutes / ROI_REFERENCE_MINUTES;
  const profitScale = Math.log1p(minutes) / Math.log1p(ROI_REFERENCE_MINUTES);
  const time = (name: string, max: number): Dimension => ({
    kind: 'float',
    name,
    min: 10 * timeScale,
    max: max * timeScale,
    step: minutes,
  });
  const profit = (name: string, max: number) => ratio(name, 0.01 * profitScale, max * profitScale);
  return [
    time('exit.roi_t1', 120),
    time('exit.roi_t2', 60),
    time('exit.roi_t3', 40),
    profit('exit.roi_p1', 0.04),
    profit('exit.roi_p2', 0.07),
    profit('exit.roi_p3', 0.2),
  ];
}

const TRAILING: readonly Dimension[] = [
  ratio('exit.trailing_positive', 0.01, 0.35),
  ratio('exit.trailing_offset_p1', 0.001, 0.1),
  { kind: 'categorical', name: 'exit.trailing_only_offset_is_reached', choices: [true, false] },
];

/** True for a trial parameter of the exit spaces. */
export const isExit = (name: string): boolean => name.startsWith('exit.');

/** Exit settings of a backtest's configuration from a trial's parameters; spaces that were not searched are omitted. */
export function exitsOf(params: TrialParams): Exits {
  const number = (name: string) => Number(params[`exit.${name}`]);
  const has = (name: string) => Object.hasOwn(params, `exit.${name}`);
  return {
    ...(has('stoploss') && { stoploss: number('stoploss') / THOUSANDTHS }),
    ...(has('roi_t1') && { minimal_roi: roiTable(number) }),
    ...(has('trailing_positive') && {
      trailing: {
        positive: number('trailing_positive') / THOUSANDTHS,
        offset: (number('trailing_positive') + number('trailing_offset_p1')) / THOUSANDTHS,
        only_offset_is_reached: params['exit.trailing_only_offset_is_reached'] === true,
      },
    }),
  };
}

/** freqtrade's table of four steps: the required profit falls from p1 + p2 + p3 to 0 after t3 + t2 + t1 minutes. */
function roiTable(number: (name: string) => number): Record<string, number> {
  const [t1, t2, t3] = [number('roi_t1'), number('roi_t2'), number('roi_t3')];
  const [p1, p2, p3] = [number('roi_p1'), number('roi_p2'), number('roi_p3')];
  return {
    0: (p1 + p2 + p3) / THOUSANDTHS,
    [t3]: (p1 + p2) / THOUSANDTHS,
    [t3 + t2]: p1 / THOUSANDTHS,
    [t3 + t2 + t1]: 0,
  };
}
