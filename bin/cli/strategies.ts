import type { ApiClient } from './client.ts';
import { number, table, wrap } from './format.ts';

interface Strategy {
  readonly strategy: string;
  readonly description: string;
  readonly timeframe: string;
  readonly pairs: readonly string[];
  readonly can_short: boolean;
  readonly startup_candles: number;
  readonly ml_engine: { readonly enabled: boolean; readonly model_type: string };
  readonly parameters: Readonly<
    Record<
      string,
      {
        readonly default: unknown;
        readonly description: string;
        readonly min?: number;
        readonly max?: number;
        readonly choices?: readonly unknown[];
      }
    >
  >;
}

/** Prints all strategies, or one with its parameters. */
export async function printStrategies(client: ApiClient, name: string | undefined): Promise<void> {
  if (name) {
    printStrategy(await client.get<Strategy>(`/api/v1/strategies/${encodeURIComponent(name)}`));
    return;
  }
  const { items } = await client.get<{ items: Strategy[] }>('/api/v1/strategies');
  console.log(
    table(
      ['Strategy', 'Timeframe', 'Sides', 'Startup candles', 'Description'],
      items.map((each) => [
        each.strategy,
        each.timeframe,
        each.can_short ? 'long, short' : 'long',
        number(each.startup_candles, 0),
        wrap(each.description, 60),
      ]),
    ),
  );
}

function printStrategy(strategy: Strategy): void {
  console.log(`${strategy.strategy}: ${strategy.description}`);
  console.log(`${strategy.timeframe}; ${strategy.pairs.join(', ')}`);
  if (strategy.ml_engine.enabled) console.log(`Trades on predictions of ${strategy.ml_engine.model_type}`);
  console.log(
    table(
      ['Parameter', 'Default', 'Range', 'Meaning'],
      Object.entries(strategy.parameters).map(([name, parameter]) => [
        name,
        String(parameter.default),
        parameter.choices ? parameter.choices.join(', ') : `${parameter.min} to ${parameter.max}`,
        wrap(parameter.description, 60),
      ]),
    ),
  );
}
