import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { Trade } from '#contract/backtests/report.ts';
import type { StoredTradeReasons } from '#contract/backtests/trade-reasons.ts';
import { minutesSince, roiSteps, roiTarget } from '#engine/simulator/rules/roi.ts';

/** Levels of a trade at the end of a candle. */
export interface Levels {
  readonly stop: number;
  readonly moved: boolean;
  /** Distance of the stop, and the price from which it was measured. */
  readonly distance: number;
  readonly from: number;
  /** null without one. */
  readonly liquidation: number | null;
  /** Profit that closes the trade, and its price; null without one. */
  readonly target: { readonly ratio: number; readonly price: number } | null;
}

/** Reads the levels of a trade. */
export class TradeLevels {
  readonly #trade: Trade;
  readonly #stored: StoredTradeReasons;
  readonly #config: ResolvedBacktestConfig;
  readonly #roi: ReturnType<typeof roiSteps>;
  readonly #custom: ReadonlyMap<number, number | null>;

  constructor(trade: Trade, stored: StoredTradeReasons, config: ResolvedBacktestConfig) {
    this.#trade = trade;
    this.#stored = stored;
    this.#config = config;
    this.#roi = roiSteps(config.minimal_roi);
    this.#custom = new Map(stored.targets);
  }

  /** Time of the first level, ms: the fill of the entry. */
  get start(): number {
    return this.#stored.steps[0]?.[0] ?? this.#stored.opened_at;
  }

  /**
   * Levels as of the last step before `end`, ms; undefined before the first.
   * @param time at which the profit that is required counts, ms
   */
  at(time: number, end: number): Levels | undefined {
    const step = this.#stepBefore(end);
    if (!step) return undefined;
    const [, stop, moved, distance, from, liquidation, openValue, amount, funding] = step;
    const ratio = this.#ratioAt(time);
    const direction = this.#trade.side === 'long' ? 1 : -1;
    const price =
      ratio === null || openValue === null || !amount
        ? null
        : roiTarget(
            ratio,
            openValue,
            amount,
            this.#config.fee,
            funding ?? 0,
            this.#trade.leverage,
            direction,
          );
    return {
      stop: stop ?? Number.NaN,
      moved: moved === 1,
      distance: Math.abs(distance ?? Number.NaN),
      from: from ?? Number.NaN,
      liquidation: liquidation || null,
      target: ratio === null || price === null ? null : { ratio, price },
    };
  }

  /** The last step before `end`: a trade may have one in each candle. */
  #stepBefore(end: number): StoredTradeReasons['steps'][number] | undefined {
    const { steps } = this.#stored;
    let [from, to] = [0, steps.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (steps[middle]![0]! < end) from = middle + 1;
      else to = middle;
    }
    return steps[from - 1];
  }

  /** Ratio that closes the trade: the lower of the table's and of `customRoi`. */
  #ratioAt(time: number): number | null {
    const { minutes, ratios } = this.#roi;
    const held = minutesSince(this.#stored.opened_at, time);
    let step = minutes.length - 1;
    while (step >= 0 && minutes[step]! > held) step--;
    const table = step < 0 ? null : ratios[step]!;
    const custom = this.#custom.get(time) ?? null;
    if (custom === null || table === null) return custom ?? table;
    return Math.min(custom, table);
  }
}
