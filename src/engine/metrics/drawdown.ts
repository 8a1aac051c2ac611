/** The worst falls of a series of balances below its running maximum, which begins at the starting balance. */
export interface Drawdown {
  /** Largest fall, quote currency; 0 when the series never fell. */
  readonly amount: number;
  /** Share of the peak that was lost where the fall in currency is largest. */
  readonly ratioAtAmount: number;
  /** Largest share of a peak that was lost, anywhere. */
  readonly ratio: number;
  /** Row of the peak before the largest share was lost; -1 for the starting balance. */
  readonly peakRow: number;
  /** Row at which the largest share was lost; -1 when the series never fell. */
  readonly lowRow: number;
}

/**
 * One pass over `balances`, which follow a starting balance of `start`. Only a new low since the peak can be worse than what
 * came before: the falls of the other rows are not computed.
 */
export function drawdownOf(start: number, balances: ArrayLike<number>): Drawdown {
  let peak = start;
  let low = start;
  let peakAt = -1;
  let amount = 0;
  let ratioAtAmount = 0;
  let ratio = 0;
  let peakRow = -1;
  let lowRow = -1;
  for (
    let row = leave(balances, 0, low, peak);
    row < balances.length;
    row = leave(balances, row + 1, low, peak)
  ) {
    const balance = balances[row]!;
    low = balance;
    if (balance >= peak) {
      peak = balance;
      peakAt = row;
      continue;
    }
    const fall = peak - balance;
    const share = fall / peak;
    if (fall > amount) {
      amount = fall;
      ratioAtAmount = share;
    }
    if (share > ratio) {
      ratio = share;
      peakRow = peakAt;
      lowRow = row;
    }
  }
  return { amount, ratioAtAmount, ratio, peakRow, lowRow };
}

/** First row from `from` on that is below `low`, or at `peak` or above; the number of rows when there is none. */
function leave(balances: ArrayLike<number>, from: number, low: number, peak: number): number {
  const { length } = balances;
  let row = from;
  while (row < length && balances[row]! >= low && balances[row]! < peak) row++;
  return row;
}

/** Percent below the running maximum at each row, zero or negative. */
export function drawdownSeries(start: number, balances: Float64Array): Float64Array {
  const series = new Float64Array(balances.length);
  let peak = start;
  for (let row = 0, { length } = balances; row < length; row++) {
    const balance = balances[row]!;
    if (balance > peak) peak = balance;
    series[row] = balance < peak ? -((peak - balance) / peak) * 100 : 0;
  }
  return series;
}

/** A stretch of rows below a peak, up to the row that reached it again. */
export interface DrawdownPeriod {
  /** Row of the peak; -1 for the starting balance. */
  readonly peakRow: number;
  readonly lowRow: number;
  /** First row back at the peak or above; null when the series ended below it. */
  readonly recoveryRow: number | null;
  /** Largest fall within the period, quote currency. */
  readonly amount: number;
  /** That fall as a share of the peak. */
  readonly ratio: number;
}

/** All stretches below the running maximum, in time order. */
export function drawdownPeriods(start: number, balances: ArrayLike<number>): DrawdownPeriod[] {
  const periods: DrawdownPeriod[] = [];
  let peak = start;
  let peakRow = -1;
  let lowRow = -1;
  const close = (recoveryRow: number | null) => {
    const amount = peak - balances[lowRow]!;
    periods.push({ peakRow, lowRow, recoveryRow, amount, ratio: amount / peak });
    lowRow = -1;
  };
  for (let row = 0, { length } = balances; row < length; row++) {
    const balance = balances[row]!;
    if (balance < peak) {
      if (lowRow < 0 || balance < balances[lowRow]!) lowRow = row;
      continue;
    }
    if (lowRow >= 0) close(row);
    peak = balance;
    peakRow = row;
  }
  if (lowRow >= 0) close(null);
  return periods;
}
