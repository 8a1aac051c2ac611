import type { ResponseOf } from '../../api/client.ts';
import type { Scale } from './search.ts';

type Equity = ResponseOf<'getBacktestEquity'>;

interface Curve {
  readonly equity: readonly (number | null)[];
  readonly drawdown: readonly (number | null)[];
}

/** Daily curves on one axis of time. */
export interface Curves {
  /** Unix seconds. */
  readonly times: readonly number[];
  /** In the order of the runs. */
  readonly curves: readonly Curve[];
}

/** Curves of runs whose ranges may differ: a day that a run does not have is null. */
export function alignCurves(
  runs: readonly { readonly data: Equity; readonly wallet: number }[],
  scale: Scale,
): Curves {
  const days = [...new Set(runs.flatMap(({ data }) => data.dates))].sort();
  const places = new Map(days.map((day, index) => [day, index]));
  const spread = (dates: readonly string[], values: readonly (number | null)[]) => {
    const spaced = new Array<number | null>(days.length).fill(null);
    for (const [index, date] of dates.entries()) spaced[places.get(date)!] = values[index] ?? null;
    return spaced;
  };
  return {
    times: days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1_000),
    curves: runs.map(({ data, wallet }) => ({
      equity: spread(
        data.dates,
        data.equity.map((equity) => scaled(equity, wallet, scale)),
      ),
      drawdown: spread(data.dates, data.drawdown),
    })),
  };
}

function scaled(equity: number, wallet: number, scale: Scale): number | null {
  if (scale === 'absolute') return equity;
  if (scale === 'percent') return (equity / wallet - 1) * 100;
  // A logarithmic axis has no place for a lost wallet.
  return equity > 0 ? equity / wallet : null;
}
