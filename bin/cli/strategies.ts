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

interface BrokenFile {
  readonly file: string;
  readonly line: number | null;
  readonly error: string;
  readonly strategy: string | null;
}

/** Prints all strategies with the files that cannot be used, or one with its parameters. */
export async function printStrategies(client: ApiClient, name: string | undefined): Promise<void> {
  if (name) {
    printStrategy(await client.get<Strategy>(`/api/v1/strategies/${encodeURIComponent(name)}`));
    return;
  }
  const { items, broken } = await client.get<{ items: Strategy[]; broken: BrokenFile[] }>(
    '/api/v1/strategies',
  );
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
  if (broken.length === 0) return;
  console.log('\nFiles that cannot be used. Correct them; they count from the next request on.');
  console.log(
    table(
      ['File', 'Line', 'Strategy', 'Error'],
      broken.map(({ file, line, strategy, error }) => [
        file,
        line === null ? '' : String(line),
        strategy ?? '',
        wrap(error, 80),
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
