import { basename } from 'node:path';
import type { Command } from 'commander';
import { formatCount } from '#contract/values/format-count.ts';
import { listNames } from '#contract/values/list-names.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { SIGNALS_STRATEGY } from '#contract/values/signals-limits.ts';
import { isTimeframe, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { printUnfinished, submit } from './backtest.ts';
import { UsageError } from './options.ts';
import { minute, number, table } from './output.ts';
import { allTrades } from './reports/all-trades.ts';
import type { Job } from './reports/load-results.ts';
import { warningLines } from './reports/report-text.ts';
import { addRunOptions, configWith, type RunOptions } from './run-options.ts';
import { type Session, sessionWith } from './session.ts';
import { readFile, upload } from './signals.ts';
import { compareTrades, parseTradeList, signalsOf, type TradeDifference } from './tradingview.ts';

export function addVerifyCommands(program: Command): void {
  const session = sessionWith(program);
  const verify = program.command('verify').description('check a result of another program (docs/signals.md)');
  addRunOptions(
    verify
      .command('tradingview')
      .description(
        'run the entries and exits of a list of trades on our candles and costs, and print the difference',
      )
      .argument('<file>', 'CSV of "List of trades" in the strategy tester')
      .option('--utc-offset <offset>', "offset of the chart's time zone from UTC, such as +02:00", '+00:00'),
  )
    .option('--json', 'print one line of JSON: each trade with its differences')
    .action(async (file: string, options: VerifyOptions) => {
      process.exitCode = await session((opened) => verifyTradingView(opened, file, options));
    });
}

interface VerifyOptions extends RunOptions {
  readonly utcOffset: string;
  readonly json?: boolean;
}

async function verifyTradingView(session: Session, file: string, options: VerifyOptions): Promise<number> {
  const { pairs: pair, timeframe = '' } = options;
  if (!pair || pair.includes(',') || !isTimeframe(timeframe)) {
    throw new UsageError('Pass the market of the list: --pairs with one pair, and --timeframe of the chart.');
  }
  const stepMs = TIMEFRAME_MS[timeframe];
  const listed = parseTradeList(readFile(file).toString('utf8'), {
    stepMs,
    offsetMs: offsetOf(options.utcOffset),
  });
  // No run enters at its last candle: a trade that is still open, or ends in the candle of its entry, needs another one.
  // An open trade is compared at the candle that the list ends with, as far as that has closed.
  const closed = Math.floor(Date.now() / stepMs) * stepMs;
  const ends = listed.map(({ entry, exit, openUntil = 0 }) =>
    Math.max(exit ? exit.time + stepMs : Math.min(openUntil + stepMs, closed), entry.time + 2 * stepMs),
  );
  if (ends.length === 0) throw new UsageError(`${file} has no trades`);
  const csv = Buffer.from(signalsOf(listed, pair, stepMs));
  const { signals_id } = await upload(session.client, { name: `${basename(file)}.signals.csv`, bytes: csv });
  const range = {
    start: iso(listed[0]!.entry.time - stepMs),
    end: iso(ends.reduce((a, b) => Math.max(a, b))),
  };
  // The list has the stops of its strategy as exits.
  const config = configWith({ stoploss: -0.99, minimal_roi: {}, trailing: null, date_range: range }, options);
  const request = { config: { ...config, strategy: SIGNALS_STRATEGY, signals: signals_id } };
  const job = await submit(session, request, { wait: true, ...(options.json && { json: true }) });
  if (!job) return 0;
  if (job.status !== 'completed') return printUnfinished(job, options.json);
  const differences = compareTrades(listed, await allTrades(session.client, job.job_id));
  if (options.json) console.log(JSON.stringify({ job_id: job.job_id, trades: differences }));
  else for (const line of [...warningLines(job), ...differenceText(differences, job)]) console.log(line);
  return 0;
}

/** Milliseconds of `+02:00`. */
function offsetOf(text: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(text) ?? [];
  if (!sign) throw new UsageError('--utc-offset must be an offset such as +02:00 or -05:00.');
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Number of trades that the table shows. */
const SHOWN = 10;

function differenceText(all: readonly TradeDifference[], { job_id, config }: Job): string[] {
  const found = all.filter(({ run }) => run);
  const same = found.filter(({ sameExit }) => sameExit);
  const exits = same.filter(({ listed }) => listed.exit).length;
  const open = same.length - exits;
  const known = found.filter(({ listed }) => listed.profitPct !== null);
  const theirs = sum(known.map(({ listed }) => listed.profitPct!));
  const ours = sum(known.map(({ run }) => run!.profit_pct));
  const largest = found.toSorted((a, b) => costOf(b) - costOf(a)).slice(0, SHOWN);
  const lacking = all.filter(({ run }) => !run);
  const isShort = ({ listed }: TradeDifference) => config.trading_mode === 'spot' && listed.side === 'short';
  return [
    `${formatCount(all.length, 'trade')} in the list, ${found.length} of them in the run; ${exits} ${exits === 1 ? 'was' : 'were'} closed in the same candle${open > 0 ? `, ${open} ${open === 1 ? 'is' : 'are'} open in both` : ''}`,
    `Entries: ${spread(found.map(({ entryBp }) => entryBp))}`,
    `Exits: ${spread(found.map(({ exitBp }) => exitBp))}`,
    ...(known.length > 0
      ? [
          `Profits of ${formatCount(known.length, 'trade')}, each in percent of its position, added: ${number(theirs)} % in the list, ${number(ours)} % here, difference ${number(ours - theirs)} %`,
        ]
      : []),
    'Largest differences of prices, in basis points; positive is worse than the list:',
    table(
      ['Trade', 'Side', 'Entry (UTC)', 'Entry bp', 'Exit bp', 'Exit here', 'List %', 'Here %'],
      largest.map(({ listed, run, entryBp, exitBp }) => [
        listed.number,
        listed.side,
        minute(iso(listed.entry.time)),
        number(entryBp),
        number(exitBp),
        run!.exit_reason,
        number(listed.profitPct),
        number(run!.profit_pct),
      ]),
    ),
    ...missingText(lacking.filter(isShort), 'Spot has no shorts'),
    ...missingText(
      lacking.filter((each) => !isShort(each)),
      'A position was open already, or an exit of the same candle excludes the entry',
    ),
    `The whole run: ${TOUCHSTONE} show ${job_id}`,
  ];
}

function missingText(missing: readonly TradeDifference[], reason: string): string[] {
  if (missing.length === 0) return [];
  const numbers = missing.map(({ listed }) => listed.number);
  return [`Not in the run: ${listNames(numbers)}. ${reason}`];
}

/** Cost of a difference of prices, basis points. */
function costOf({ entryBp, exitBp }: TradeDifference): number {
  return Math.abs(entryBp ?? 0) + Math.abs(exitBp ?? 0);
}

function spread(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 'none to compare';
  const worst = known.reduce((a, b) => Math.max(a, b));
  return `${number(sum(known) / known.length)} bp worse on average, ${number(worst)} bp at most`;
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
const iso = (time: number) => new Date(time).toISOString();
