/** How one symbol of the simulated market behaves. */
export interface SimSymbol {
  readonly symbol: string;
  /** Price around which it moves, quote currency. */
  readonly price: number;
  /** Decimals of its prices. */
  readonly decimals: number;
  /** How much of a move of the whole market it follows. */
  readonly beta: number;
  /** Standard deviation a year of what it does on its own. */
  readonly volatility: number;
  /** Mean turnover of a minute, quote currency. */
  readonly turnover: number;
}

type Row = readonly [
  base: string,
  price: number,
  decimals: number,
  beta: number,
  volatility: number,
  turnover: number,
];

const ROWS: readonly Row[] = [
  ['BTC', 60_000, 1, 1, 0.2, 8_000_000],
  ['ETH', 3_000, 2, 1.15, 0.35, 5_000_000],
  ['BNB', 550, 2, 0.9, 0.4, 600_000],
  ['SOL', 150, 3, 1.4, 0.6, 1_500_000],
  ['XRP', 0.6, 4, 1.05, 0.6, 700_000],
  ['DOGE', 0.14, 5, 1.3, 0.75, 600_000],
  ['ADA', 0.45, 4, 1.15, 0.6, 250_000],
  ['AVAX', 32, 3, 1.35, 0.65, 250_000],
  ['LINK', 15, 3, 1.15, 0.6, 250_000],
  ['DOT', 6.5, 3, 1.2, 0.55, 150_000],
  ['LTC', 80, 2, 0.95, 0.45, 200_000],
  ['BCH', 420, 2, 1.05, 0.6, 150_000],
  ['TRX', 0.12, 5, 0.6, 0.35, 120_000],
  ['UNI', 8, 3, 1.2, 0.7, 120_000],
  ['ATOM', 7.5, 3, 1.15, 0.55, 100_000],
  ['ETC', 25, 3, 1.15, 0.55, 100_000],
  ['FIL', 5, 3, 1.25, 0.65, 100_000],
  ['NEAR', 5, 3, 1.35, 0.75, 150_000],
  ['APT', 9, 3, 1.35, 0.75, 120_000],
  ['ARB', 0.9, 4, 1.3, 0.7, 120_000],
  ['OP', 1.8, 4, 1.35, 0.75, 100_000],
  ['SUI', 1.5, 4, 1.4, 0.85, 200_000],
  ['AAVE', 110, 2, 1.2, 0.7, 90_000],
  ['XLM', 0.11, 5, 1, 0.6, 60_000],
];

/** What the simulated market lists: perpetuals settled in USDT. */
export const SIM_SYMBOLS: ReadonlyMap<string, SimSymbol> = new Map(
  ROWS.map(([base, price, decimals, beta, volatility, turnover]) => {
    const symbol = `${base}/USDT:USDT`;
    return [symbol, { symbol, price, decimals, beta, volatility, turnover }];
  }),
);
