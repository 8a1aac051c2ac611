/** Largest drawdowns of a series of balances. The running maximum begins at the starting balance. */
export interface Drawdown {
  /** Largest drawdown, quote currency; 0 when the series never fell. */
  readonly amount: number;
  /** Lost share of the peak at the drawdown with the largest amount. */
  readonly ratioAtAmount: number;
  /** Largest lost share of a peak. */
  readonly ratio: number;
  /** Row of the peak before the largest lost share; -1 for the starting balance. */
  readonly peakRow: number;
  /** Row of the largest lost share; -1 when the series never fell. */
  readonly lowRow: number;
}

/** Drawdowns of `balances`, which follow a starting balance of `start`. */
export function drawdownOf(start: number, balances: ArrayLike<number>): Drawdown {
  const scan = new DrawdownScan(start);
  scan.read(balances, balances.length);
  return scan.worst;
}

/**
 * The drawdowns of a series that is read in parts, in one pass. Only a new low since the peak can be a larger drawdown, so the
 * drawdowns of other rows are not computed.
 */
export class DrawdownScan {
  /** Rows read. */
  rows = 0;
  peak = Number.NaN;
  /** Lowest balance since the peak. */
  low = Number.NaN;
  #amount = 0;
  #ratioAtAmount = 0;
  #ratio = 0;
  #peakRow = -1;
  #lowRow = -1;
  #peakAt = -1;

  constructor(start: number) {
    this.peak = start;
    this.low = start;
  }

  /** The largest drawdowns of the rows read. */
  get worst(): Drawdown {
    return {
      amount: this.#amount,
      ratioAtAmount: this.#ratioAtAmount,
      ratio: this.#ratio,
      peakRow: this.#peakRow,
      lowRow: this.#lowRow,
    };
  }

  /** Reads the rows of `balances` before `to` that it has not read. */
  read(balances: ArrayLike<number>, to: number): void {
    for (let row = this.rows; row < to; row++) {
      const { low, peak } = this;
      while (row < to && balances[row]! >= low && balances[row]! < peak) row++;
      if (row < to) this.book(balances[row]!, row);
    }
    this.rows = to;
  }

  /** Books the balance of `row`, which is below the low, or at the peak or above. */
  book(balance: number, row: number): void {
    this.low = balance;
    if (balance >= this.peak) {
      this.peak = balance;
      this.#peakAt = row;
      return;
    }
    const fall = this.peak - balance;
    const share = fall / this.peak;
    if (fall > this.#amount) {
      this.#amount = fall;
      this.#ratioAtAmount = share;
    }
    if (share > this.#ratio) {
      this.#ratio = share;
      this.#peakRow = this.#peakAt;
      this.#lowRow = row;
    }
  }
}
