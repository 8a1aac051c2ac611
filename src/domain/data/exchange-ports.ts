import type { TradingMode } from '#contract/values/trading-modes.ts';
import type { Candles } from '#engine/candles.ts';
import type { Instrument } from '#engine/instrument.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import type { Timeframe } from '#engine/timeframe.ts';

/** A market that candles are collected from. Failures are CodedErrors DATA003 (symbol not listed) and DATA004. */
export interface Exchange {
  /** Exchange key in series and configurations, for example `binanceusdm`. */
  readonly name: string;
  /** Kinds of markets that the exchange has. */
  readonly modes: readonly TradingMode[];
  /** Perpetuals that may be traded, `BASE/QUOTE:SETTLE`. */
  symbols(): Promise<readonly string[]>;
  /**
   * Candles that open in `[start, end)` ms, in any order; the last may still be open. A candle that is
   * absent from the result does not exist on the exchange. Rejects with the signal's reason when it is aborted.
   */
  fetchCandles(
    symbol: string,
    timeframe: Timeframe,
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<Candles>;
  /** Funding events in `[start, end]` ms. */
  fetchFunding(symbol: string, start: number, end: number, signal?: AbortSignal): Promise<FundingEvents>;
  /**
   * Current order rules of a symbol; undefined on an exchange without such rules. Throws SVC002 also for contradictory
   * rules.
   */
  fetchInstrument(symbol: string, signal?: AbortSignal): Promise<Instrument | undefined>;
}

/** The exchanges with data to collect. */
export interface Exchanges {
  /**
   * Throws CodedError VAL005 for an unknown key, and for an exchange without such markets.
   *
   * @param mode default `futures`
   */
  open(key: string, mode?: TradingMode): Promise<Exchange>;
}
