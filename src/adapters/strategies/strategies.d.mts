import type { StrategyFile } from './strategy-files.ts';

/** Written next to each bundle that loads strategies. */
export const strategies: readonly StrategyFile[];
