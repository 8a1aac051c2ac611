import type { StrategyDefinition } from '../strategy.ts';

type ExitRules = Pick<
  StrategyDefinition,
  'useExitSignal' | 'exitProfitOnly' | 'exitProfitOffset' | 'ignoreRoiIfEntrySignal'
>;

/** The exit rules of a strategy, with the defaults of those that it does not declare. */
export function exitRules(declared: ExitRules): Required<ExitRules> {
  return {
    useExitSignal: declared.useExitSignal ?? true,
    exitProfitOnly: declared.exitProfitOnly ?? false,
    exitProfitOffset: declared.exitProfitOffset ?? 0,
    ignoreRoiIfEntrySignal: declared.ignoreRoiIfEntrySignal ?? false,
  };
}
