import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkStrategy } from '#adapters/definitions/strategy-check.ts';
import { SimExchange } from '#adapters/exchange/sim.ts';
import { loadStrategyFiles } from '#adapters/strategies/strategy-files.ts';
import { createStrategyRegistry } from '#engine/definitions/registry.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';

const FOLDER = join(import.meta.dirname, '../../../strategies');
const files = await loadStrategyFiles(FOLDER);
const sim = new SimExchange();

it('every file in strategies/ defines a valid strategy with a unique name', () => {
  const registry = createStrategyRegistry([...builtInStrategies, ...files.map((file) => file.definition)]);
  expect(registry.names()).toHaveLength(builtInStrategies.length + files.length);
  expect(registry.names()).toContain('example_pullback');
});

it.each(files.map(({ file, definition }) => [file, definition] as const))(
  '%s is certified without look-ahead',
  async (file, definition) => {
    const outcome = await checkStrategy(
      {
        file: join(FOLDER, file),
        builtIn: null,
        exchange: 'sim',
        pairs: undefined,
        maxPairs: 3,
        timeframe: undefined,
        range: undefined,
        end: Date.UTC(2025, 0, 1),
        params: {},
        cuts: 20,
        seed: 1,
        available: await sim.symbols(),
      },
      {
        loadCandles: ({ pairs, timeframe, date_range }, _strategy, from) =>
          Promise.all(
            pairs.map(async (pair) => ({
              pair,
              candles: await sim.fetchCandles(pair, timeframe, from, Date.parse(date_range.end)),
            })),
          ),
      },
    );
    if ('problems' in outcome) throw new Error(outcome.problems.join('; '));
    const { findings, entrySignals, cuts } = outcome.certificate;
    expect(findings.map(({ message }) => message)).toEqual([]);
    expect(cuts).toBeGreaterThanOrEqual(20);
    expect(
      entrySignals,
      `${definition.name} gave no entry signal: nothing was put to the test`,
    ).toBeGreaterThan(0);
  },
);
