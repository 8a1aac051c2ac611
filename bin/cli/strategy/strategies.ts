import { type Command, InvalidArgumentError } from 'commander';
import type * as z from 'zod';
import type { BrokenStrategyFile, StrategyConfiguration } from '#contract/config/strategy.ts';
import { CLI_LIMITS } from '#contract/values/request-limits.ts';
import { TIMEFRAMES } from '#contract/values/timeframes.ts';
import type { ApiClient } from '../client.ts';
import { boundsText, integer, JSON_OPTION, parameter, repeated } from '../options.ts';
import { number, table, wrap } from '../output.ts';
import { addRunOptions, EXPERIMENT, tradingModeOption } from '../run-options.ts';
import { sessionWith } from '../session.ts';
import type { StrategyCheckOptions } from './check.ts';
import type { DevOptions } from './dev.ts';

const { cuts: CUTS, check_seed: SEED } = CLI_LIMITS;

/** Long because it is the table of the commands. */
export function addStrategyCommands(program: Command): void {
  const session = sessionWith(program);
  program
    .command('strategies')
    .description('list strategies, or show one with its parameters')
    .argument('[strategy]')
    .option(...JSON_OPTION)
    .action((name: string | undefined, { json }: { json?: boolean }) =>
      session(({ client }) => printStrategies(client, name, json)),
    );

  program
    .command('check')
    .description(
      'validate the definition of a strategy and search it for look-ahead bias; needs no platform (docs/writing-strategies.md)',
    )
    .argument('<strategy|file>', 'name of a strategy, or a strategy file')
    .option('--exchange <key>', 'exchange of stored candles, or sim for simulated ones', 'sim')
    .addOption(tradingModeOption())
    .option('--pair <pair>', 'such as BTC/USDT:USDT; repeatable', repeated, [])
    .option('--timeframe <timeframe>', `${TIMEFRAMES.join(', ')} (default: the strategy's)`)
    .option('--timerange <days>', 'such as 20250101-20250301 (default: 1,000 candles)')
    .option('--param <name=value>', 'strategy parameter; repeatable', parameter, {})
    .option(
      '--cuts <n>',
      `times at which later candles are removed, ${boundsText(CUTS)}`,
      integer(CUTS),
      CUTS.default,
    )
    .option(
      '--seed <n>',
      `seed of simulated candles and cuts, ${boundsText(SEED)}`,
      integer(SEED),
      SEED.default,
    )
    .option('--json', 'print JSON: problems, or the certificate with its findings')
    .action(async (strategy: string, options: StrategyCheckOptions) => {
      // Loaded only here: it takes the engine and the candle files with it.
      const { checkCommand } = await import('./check.ts');
      process.exitCode = await checkCommand(strategy, options);
    });

  program
    .command('new')
    .description('make a strategy file to start from')
    .argument('<name>', 'name of the strategy: letters, digits and _', strategyName)
    .option(...JSON_OPTION)
    .action(async (name: string, { json }: { json?: boolean }) => {
      const { newStrategy } = await import('./new-strategy.ts');
      await newStrategy(name, json);
    });

  addRunOptions(
    program
      .command('dev')
      .description(
        'run a strategy after each save of its file and compare it with the last save; Ctrl-C ends',
      )
      .argument('<strategy|file>', 'name of a strategy of your own, or its file'),
  )
    .option(...EXPERIMENT)
    .option('--json', 'print one line of JSON per run')
    .action(async (strategy: string, options: DevOptions) => {
      const { develop } = await import('./dev.ts');
      await session((opened) => develop(opened, strategy, options));
    });
}

type Strategy = z.infer<typeof StrategyConfiguration>;

function strategyName(text: string): string {
  if (/^[a-z][a-z0-9_]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('Pass up to 64 lower-case letters, digits and _, such as my_strategy.');
}

/** Prints all strategies and the files that cannot be used, or one strategy with its parameters. */
async function printStrategies(client: ApiClient, name: string | undefined, json = false): Promise<void> {
  if (name) {
    const strategy = await client.get<Strategy>(`/api/v1/strategies/${encodeURIComponent(name)}`);
    if (json) console.log(JSON.stringify(strategy));
    else printStrategy(strategy);
    return;
  }
  const found = await client.get<{
    items: Strategy[];
    broken: z.infer<typeof BrokenStrategyFile>[];
  }>('/api/v1/strategies');
  if (json) return console.log(JSON.stringify(found));
  const { items, broken } = found;
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
  console.log('\nFiles that cannot be used. Fix them; the next request reads them again.');
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
  const informative = [
    ...strategy.informative_timeframes,
    ...strategy.informative.map(({ pair, timeframe }) => `${pair} ${timeframe}`),
  ];
  if (informative.length > 0) console.log(`Reads also ${informative.join(', ')}`);
  if (strategy.callbacks.length > 0) console.log(`Callbacks: ${strategy.callbacks.join(', ')}`);
  const parameters = Object.entries(strategy.parameters);
  if (parameters.length === 0) {
    console.log('Parameters: none');
    return;
  }
  console.log(
    table(
      ['Parameter', 'Default', 'Range', 'Meaning'],
      parameters.map(([name, parameter]) => [
        name,
        String(parameter.default),
        parameter.kind === 'choice' ? parameter.choices.join(', ') : `${parameter.min} to ${parameter.max}`,
        wrap(parameter.description, 60),
      ]),
    ),
  );
}
