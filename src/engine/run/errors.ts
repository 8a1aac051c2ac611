/**
 * - `insufficient_data`: no pair has candles enough to trade on
 * - `invalid_candles`: a candle is impossible, out of order or off its grid
 * - `strategy`: the strategy threw, or returned something that is not one value per candle
 */
export type BacktestErrorKind = 'insufficient_data' | 'invalid_candles' | 'strategy';

/** Why a backtest could not be run, in words for the researcher. */
export class BacktestError extends Error {
  override readonly name = 'BacktestError';
  readonly kind: BacktestErrorKind;

  constructor(kind: BacktestErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
