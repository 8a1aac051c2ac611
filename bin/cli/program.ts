import { Command, CommanderError, Option } from 'commander';
import { PRECISIONS } from '#contract/limits.ts';
import { VERSION } from '#runtime/version.ts';
import { type AuditOptions, printAudit } from './audit.ts';
import { type BacktestOptions, runBacktest } from './backtest.ts';
import { addChallengeCommands } from './challenge/commands.ts';
import type { StrategyCheckOptions } from './check.ts';
import { type CollectOptions, collect } from './collect.ts';
import { addHyperoptCommands } from './hyperopt/commands.ts';
import { type JobsOptions, printJobs } from './jobs.ts';
import { printable } from './printable.ts';
import { callProxy } from './proxy.ts';
import { addRegistryCommands } from './registry-commands.ts';
import { type Addresses, strategyAddress, withSession } from './session.ts';
import { checkShareOptions, principal, type ShareOptions, serviceOf, shareResource } from './share.ts';
import { printStrategies } from './strategies.ts';
import { groupName, printToken, userName } from './token.ts';
import { amount, pairs, parameter, readConfig, stake, UsageError, wholeNumber } from './usage.ts';

const program = new Command('touchstone')
  .description('Backtests and strategy versions, on this machine or against deployed services')
  .option(
    '--url <url>',
    'backend service; default: the platform on this data folder, started when it is not running',
  )
  .option('--strategy-url <url>', 'strategy service, which registers; beside --url')
  .version(VERSION)
  .showHelpAfterError('touchstone <command> --help shows what a command takes.')
  .exitOverride();

const url = () => program.opts<{ url?: string }>().url;

program
  .command('backtest')
  .description('submit a backtest, follow it and print the result')
  .argument('<strategy>', 'name of a strategy (see: touchstone strategies)')
  .option('--exchange <key>', "whose candles; default: the platform's")
  .option('--offline', 'run on stored candles and collect none')
  .option('--pairs <list>', 'comma separated, such as BTC/USDT:USDT,ETH/USDT:USDT')
  .option('--timeframe <timeframe>', '1m, 5m, 15m, 1h, 4h or 1d')
  .option('--start <time>', 'ISO 8601, UTC; default: 90 days before the end')
  .option('--end <time>', 'ISO 8601, UTC, exclusive; default: the newest stored candle')
  .option('--stake <amount>', 'per trade, or unlimited', stake)
  .option('--wallet <amount>', 'starting balance', amount)
  .addOption(
    new Option(
      '--precision <precision>',
      "the exchange's ticks, steps and minimum orders; default: exchange where all instruments are stored",
    ).choices(PRECISIONS),
  )
  .option('--param <name=value>', 'strategy parameter; repeat for more', parameter, {})
  .option(
    '--ml <name=value>',
    'setting of the ML engine, such as model_type=xgboost; any one switches it on; repeat for more',
    parameter,
    {},
  )
  .option('--config <file>', 'JSON file with any fields of config; options win over it')
  .option(
    '--model-version <version>',
    'run a registered version: a number, latest or champion; options win over what it was registered with',
  )
  .option(
    '--hyperopt <job-id>',
    'run the best parameters of a finished study, ho-<id>; options win over them',
  )
  .option('--experiment <name>', 'experiment name')
  .option('--priority <n>', '1 to 10', wholeNumber(1, 10))
  .option('--no-wait', 'print the job id and return')
  .action(async (strategy: string, options: BacktestOptions) => {
    const config = options.config ? readConfig(options.config) : {};
    process.exitCode = await withSession(url(), ({ client }) =>
      runBacktest(client, strategy, config, options),
    );
  });

program
  .command('jobs')
  .description('list backtests, newest first')
  .option('--status <status>', 'pending, running, completed, failed or cancelled')
  .option('--experiment <name>', 'experiment name')
  .option('--limit <n>', '1 to 100', wholeNumber(1, 100), 20)
  .action((options: JobsOptions) => withSession(url(), ({ client }) => printJobs(client, options)));

program
  .command('strategies')
  .description('list strategies, or show one with its parameters')
  .argument('[name]')
  .action((name: string | undefined) => withSession(url(), ({ client }) => printStrategies(client, name)));

program
  .command('check')
  .description(
    'check the definition of a strategy, and certify that it knows no later candles; needs no platform (docs/writing-strategies.md)',
  )
  .argument('<strategy|file>', 'name of a strategy, or a strategy file')
  .option('--exchange <key>', 'candles of this data folder; default: simulated ones', 'sim')
  .option('--pair <pair>', 'such as BTC/USDT:USDT; repeat for more', pairs, [])
  .option('--timeframe <timeframe>', "default: the strategy's")
  .option('--timerange <days>', 'such as 20250101-20250301; default: 1,000 candles')
  .option('--param <name=value>', 'strategy parameter; repeat for more', parameter, {})
  .option('--cuts <n>', 'times at which the candles are cut off', wholeNumber(1, 1000), 20)
  .option('--seed <n>', 'of the simulated candles and of the cuts', wholeNumber(0, 1_000_000), 1)
  .action(async (strategy: string, options: StrategyCheckOptions) => {
    const { checkCommand } = await import('./check.ts');
    process.exitCode = await checkCommand(strategy, options);
  });

addRegistryCommands(program);
addChallengeCommands(program);
addHyperoptCommands(program);

program
  .command('share')
  .description(
    'show whose a job or model is and with whom it is shared, share it or take it back (docs/access.md)',
  )
  .argument('<resource>', 'bt-<id>, ho-<id> or the name of a model')
  .option('--with <who>', 'a user, group:<name> or everyone; repeat for more', principal, [])
  .option('--write', 'those may change it too, as far as their roles go')
  .option('--without <who>', 'whom to take it back from; repeat for more', principal, [])
  .option('--private', 'take it back from everybody')
  .action((resource: string, options: ShareOptions) => {
    checkShareOptions(options);
    const service = serviceOf(resource);
    const address =
      service === 'strategy' ? strategyAddress(program.opts<Addresses>(), 'a hyperopt job') : url();
    return withSession(address, ({ client }) => shareResource(client, resource, options), service);
  });

program
  .command('audit')
  .description('who did what when, newest first: every call that could change something; role admin')
  .option('--day <day>', 'a day, UTC, such as 2026-11-21')
  .option('--from <time>', 'ISO 8601; default: seven days before --to')
  .option('--to <time>', 'ISO 8601, exclusive; default now')
  .option('--user <id>', 'who called')
  .option('--operation <id>', 'what was called, such as promoteVersion')
  .option('--resource <id>', 'what it was about, such as bt-… or the name of a model')
  .option('--outcome <outcome>', 'succeeded, refused, failed or unknown')
  .option('--limit <n>', '1 to 1000', wholeNumber(1, 1000), 20)
  .action((options: AuditOptions) => withSession(url(), ({ client }) => printAudit(client, options)));

program
  .command('import')
  .description(
    'import candles and funding rates: CSV, Parquet, Feather, JSON; freqtrade data folders (docs/importing.md)',
  )
  .argument('<path>', 'a file or a folder; a file is named like BTC_USDT_USDT-5m.csv.gz')
  .option(
    '--exchange <key>',
    "exchange the candles are of; default: what their folders say, else the platform's, binanceusdm where that is sim",
  )
  .action(async (path: string, options: { exchange?: string }) => {
    if (url()) throw new UsageError('import writes into the data folder of this machine: it takes no --url');
    const { importCandles } = await import('./import.ts');
    process.exitCode = await withSession(undefined, ({ platform }) =>
      importCandles(platform!, path, options),
    );
  });

program
  .command('collect')
  .description('collect candles, funding rates and instruments of an exchange (docs/precision.md)')
  .argument('<symbols...>', 'such as BTC/USDT:USDT')
  .requiredOption('--timeframe <timeframe>', '1m, 5m, 15m, 1h, 4h or 1d')
  .option('--exchange <key>', "such as binanceusdm; default: the platform's")
  .option('--start <time>', 'ISO 8601, UTC; default: 90 days before the end')
  .option('--end <time>', 'ISO 8601, UTC, exclusive; default: now')
  .action(async (symbols: string[], options: CollectOptions) => {
    if (url()) throw new UsageError('collect takes no --url: set DATA_COLLECTION_URL for a deployed service');
    process.exitCode = await withSession(
      process.env.DATA_COLLECTION_URL || undefined,
      ({ client }) => collect(client, symbols, options),
      'data_collection',
    );
  });

program
  .command('proxy')
  .description("run the data proxy's handler on an event and print its envelope (docs/calling-the-proxy.md)")
  .argument('<event>', 'JSON such as \'{"operation":"symbols"}\', or - to read it from stdin')
  .action(async (event: string) => {
    process.exitCode = await callProxy(event);
  });

program
  .command('token')
  .description(
    'print a token for the platform on this data folder (npm start -- --auth); commands send TOUCHSTONE_TOKEN',
  )
  .addOption(
    new Option('--role <role>', 'what it may do')
      .choices(['viewer', 'researcher', 'approver', 'admin'])
      .makeOptionMandatory(),
  )
  .option('--user <name>', 'who it is', userName, 'local')
  .option('--group <name>', 'a group it is in, beside its role; repeat for more', groupName, [])
  .option('--minutes <n>', 'valid for 1 to 1440', wholeNumber(1, 1440), 60)
  .action(printToken);

/** Does what the arguments of this process say. Exit code 2 for what was typed wrongly, as shells have it; 1 for what went wrong. */
export async function runProgram(): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // It has said what is wrong, or has shown its help or version.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    console.error(message.split('\n').map(printable).join('\n'));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
