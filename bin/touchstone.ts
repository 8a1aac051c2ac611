#!/usr/bin/env node
/** The command line: `npx touchstone <command>`. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { VERSION } from '#runtime/version.ts';
import { type BacktestOptions, runBacktest } from './cli/backtest.ts';
import { importCandles } from './cli/import.ts';
import { type JobsOptions, printJobs } from './cli/jobs.ts';
import { callProxy } from './cli/proxy.ts';
import { withSession } from './cli/session.ts';
import { printStrategies } from './cli/strategies.ts';

const program = new Command('touchstone')
  .description('Backtests on this machine or against a deployed service')
  .option(
    '--url <url>',
    'backend service; default: the platform on this data folder, started when it is not running',
  )
  .version(VERSION)
  .showHelpAfterError();

const url = () => program.opts<{ url?: string }>().url;
const collect = (value: string, previous: string[]) => [...previous, value];

function readConfig(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file} cannot be read as JSON: ${(cause as Error).message}`, { cause });
  }
}

program
  .command('backtest')
  .description('submit a backtest, follow it and print the result')
  .argument('<strategy>', 'name of a strategy (see: touchstone strategies)')
  .option('--exchange <key>', "whose candles; default: the platform's")
  .option('--pairs <list>', 'comma separated, such as BTC/USDT:USDT,ETH/USDT:USDT')
  .option('--timeframe <timeframe>', '1m, 5m, 15m, 1h, 4h or 1d')
  .option('--start <time>', 'ISO 8601, UTC; default: 90 days before the end')
  .option('--end <time>', 'ISO 8601, UTC, exclusive; default: the newest stored candle')
  .option('--stake <amount>', 'per trade, or unlimited')
  .option('--wallet <amount>', 'starting balance')
  .option('--param <name=value>', 'strategy parameter; repeat for more', collect, [])
  .option('--config <file>', 'JSON file with any fields of config; options win over it')
  .option('--experiment <name>', 'experiment name')
  .option('--priority <n>', '1 to 10')
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
  .option('--limit <n>', '1 to 100', '20')
  .action((options: JobsOptions) => withSession(url(), ({ client }) => printJobs(client, options)));

program
  .command('strategies')
  .description('list strategies, or show one with its parameters')
  .argument('[name]')
  .action((name: string | undefined) => withSession(url(), ({ client }) => printStrategies(client, name)));

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
    if (url()) throw new Error('import writes into the data folder of this machine: it takes no --url');
    process.exitCode = await withSession(undefined, ({ platform }) =>
      importCandles(platform!, path, options),
    );
  });

program
  .command('proxy')
  .description("run the data proxy's handler on an event and print its envelope (docs/calling-the-proxy.md)")
  .argument('<event>', 'JSON such as \'{"operation":"symbols"}\', or - to read it from stdin')
  .action(async (event: string) => {
    process.exitCode = await callProxy(event);
  });

program.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
