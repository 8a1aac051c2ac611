import { expect, it } from 'vitest';
import { loadStrategyFiles } from '#adapters/strategy-files.ts';
import { findLookAhead } from '#engine/causality.ts';
import { startupRows, trainingRows } from '#engine/run/history.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { defaultParameters } from '#engine/strategies/parameters.ts';
import { createStrategyRegistry } from '#engine/strategies/registry.ts';
import { mlEngineOf } from '#engine/walk-forward/settings.ts';
import { marketCandles } from '../indicators/market.ts';

const files = await loadStrategyFiles();

it('every file in strategies/ defines a sound strategy with a name of its own', () => {
  const registry = createStrategyRegistry([...builtInStrategies, ...files.map((file) => file.definition)]);
  expect(registry.names()).toHaveLength(builtInStrategies.length + files.length);
  expect(registry.names()).toContain('example_pullback');
});

it.each(files.map(({ file, definition }) => [file, definition] as const))(
  '%s does not see the future',
  (_file, strategy) => {
    const params = defaultParameters(strategy.parameters);
    const { timeframe } = strategy;
    const ml = strategy.mlEngine && mlEngineOf(strategy);
    const history = startupRows(strategy, params, timeframe, ml) + trainingRows(timeframe, ml);
    const length = 3_000 + history;
    const markets = new Map(
      [1, 2, 3].map((seed) => [`market ${seed}`, marketCandles(seed, length, timeframe)]),
    );
    const { findings, entrySignals } = findLookAhead(strategy, params, markets);
    expect(findings).toEqual([]);
    expect(
      entrySignals,
      'no entry in three markets of 3,000 candles: nothing was put to the test',
    ).toBeGreaterThan(0);
  },
);
