/** Pairs that the built-in strategies trade unless a run names others. */
export const DEFAULT_PAIRS = ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT', 'BNB/USDT:USDT'] as const;

/** Stake per trade of the built-in strategies, in quote currency. */
export const DEFAULT_STAKE = 100;
