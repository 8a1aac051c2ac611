import { type Command, Option } from 'commander';
import { DIRECTIONS, PRUNERS, SAMPLERS, TRIAL_STATES } from '#contract/hyperopt.ts';
import { HYPEROPT_LIMITS } from '#contract/hyperopt-request.ts';
import { PRECISIONS } from '#contract/limits.ts';
import { type Addresses, type Session, strategyAddress, withSession } from '../session.ts';
import { amount, ratio, readConfig, stake, wholeNumber } from '../usage.ts';
import {
  cancelHyperopt,
  type ListOptions,
  printHyperopts,
  printStatus,
  printTrials,
  type TrialsOptions,
} from './list.ts';
import { showProgress } from './progress.ts';
import { printEnd, printResult } from './result.ts';
import { range, resumeStudy, type StartOptions, searched, startStudy } from './start.ts';
import { watchStudy } from './watch.ts';

interface Json {
  readonly json?: boolean;
}

const within = ({ min, max }: { readonly min: number; readonly max: number }) => wholeNumber(min, max);

/** The commands that search parameters. */
export function addHyperoptCommands(program: Command): void {
  const hyperopt = program
    .command('hyperopt')
    .description('search the parameters of a strategy and of its model (docs/hyperopt.md)');
  const session = <T>(work: (session: Session) => Promise<T>) =>
    withSession(strategyAddress(program.opts<Addresses>(), 'hyperopt'), work, 'strategy');
  addStart(hyperopt, session);
  hyperopt
    .command('resume')
    .description('go on with a cancelled or failed study, as a new one that takes over what had ended')
    .argument('<job-id>', 'ho-<id>')
    .option('--watch', 'follow it to its end and print the result; Ctrl-C leaves it running')
    .option('--json', 'print JSON, one line an event')
    .action(async (jobId: string, options: WatchOptions) => {
      process.exitCode = await session(async (opened) =>
        printStart(opened, await resumeStudy(opened.client, jobId), options),
      );
    });

  const ofJob = (name: string, description: string) =>
    hyperopt
      .command(name)
      .description(description)
      .argument('<job-id>', 'ho-<id>')
      .option('--json', 'print what the service answers');

  ofJob('status', 'how far a study is').action((jobId: string, { json }: Json) =>
    session(({ client }) => printStatus(client, jobId, json)),
  );
  ofJob('watch', 'follow a study to its end and print its result').action(
    async (jobId: string, { json }: Json) => {
      process.exitCode = await session((opened) => watchAndPrint(opened, jobId, json));
    },
  );
  ofJob('result', 'the best trials of a finished study, and how far to believe them').action(
    (jobId: string, { json }: Json) => session(({ client }) => printResult(client, jobId, json)),
  );
  ofJob('trials', 'the trials of a study, by number')
    .addOption(new Option('--state <state>', 'only these').choices(TRIAL_STATES))
    .option('--limit <n>', '1 to 100', wholeNumber(1, 100), 20)
    .option('--cursor <cursor>', 'where the page before ended')
    .action((jobId: string, options: TrialsOptions) =>
      session(({ client }) => printTrials(client, jobId, options)),
    );
  ofJob('cancel', 'cancel a study; trials that have ended stay').action((jobId: string, { json }: Json) =>
    session(({ client }) => cancelHyperopt(client, jobId, json)),
  );
  hyperopt
    .command('list')
    .description('list studies, newest first')
    .option('--status <status>', 'pending, running, completed, failed or cancelled')
    .option('--experiment <name>', 'experiment name')
    .option('--limit <n>', '1 to 100', wholeNumber(1, 100), 20)
    .option('--json', 'print what the service answers')
    .action((options: ListOptions) => session(({ client }) => printHyperopts(client, options)));
}

type Run = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

interface WatchOptions extends Json {
  readonly watch?: boolean;
}

interface StartCommandOptions extends StartOptions, WatchOptions {
  readonly config?: string;
}

function addStart(hyperopt: Command, session: Run): void {
  hyperopt
    .command('start')
    .description('start a study; every trial is a walk-forward backtest, with --models none a plain one')
    .argument('<strategy>', 'name of a strategy (see: touchstone strategies)')
    .option('--trials <n>', 'default 100', within(HYPEROPT_LIMITS.n_trials))
    .option('--exchange <key>', "whose candles; default: the platform's")
    .option('--offline', 'run on stored candles and collect none')
    .option('--pairs <list>', 'comma separated, such as BTC/USDT:USDT,ETH/USDT:USDT')
    .option('--timeframe <timeframe>', '1m, 5m, 15m, 1h, 4h or 1d')
    .addOption(
      new Option(
        '--precision <precision>',
        "the exchange's ticks, steps and minimum orders; default: exchange where all instruments are stored",
      ).choices(PRECISIONS),
    )
    .option(
      '--train-days <n>',
      'days each model is trained on; default 30',
      within(HYPEROPT_LIMITS.train_period_days),
    )
    .option(
      '--backtest-days <n>',
      'days it is traded for then, without models the length of a window; default 7',
      within(HYPEROPT_LIMITS.backtest_period_days),
    )
    .option(
      '--start <time>',
      'first traded candle, ISO 8601, UTC; default: four backtest periods before the end, 90 days without models',
    )
    .option('--end <time>', 'ISO 8601, UTC, exclusive; default: the newest stored candle')
    .option('--objective <metric>', 'a metric of the result; default sharpe_ratio')
    .addOption(
      new Option('--direction <direction>', 'default: the one in which the metric is better').choices(
        DIRECTIONS,
      ),
    )
    .option(
      '--models <list>',
      'kinds of models, comma separated, such as xgboost,lightgbm; none: the strategy without models',
    )
    .option('--spaces <list>', 'what is searched, comma separated: params,stoploss,roi,trailing,ml')
    .option('--trees <min..max>', 'default 50..500', range)
    .option('--learning-rate <min..max>', 'default 0.01..0.3', range)
    .option(
      '--search <parameter>',
      'of the strategy: name, name=min..max or name=a,b,c; repeat for more',
      searched,
      {},
    )
    .option('--stake <amount>', 'per trade, or unlimited', stake)
    .option('--wallet <amount>', 'starting balance; default 1000', amount)
    .option('--slots <n>', 'trades open at once; default the number of pairs', wholeNumber(1, 1000))
    .option('--fee <ratio>', 'per side; default 0.0005', ratio)
    .option('--slippage <ratio>', 'adverse move of every market fill; default 0', ratio)
    .option('--leverage <times>', 'default the leverage of the strategy', amount)
    .addOption(new Option('--sampler <sampler>', 'default tpe').choices(SAMPLERS))
    .addOption(new Option('--pruner <pruner>', 'default wilcoxon').choices(PRUNERS))
    .option('--seed <n>', 'the same seed gives the same trials; default 0', within(HYPEROPT_LIMITS.seed))
    .option('--workers <n>', 'machines, or processes of this one; default 1', within(HYPEROPT_LIMITS.workers))
    .option('--experiment <name>', 'experiment name')
    .option('--config <file>', 'JSON file with any fields of the request; options win over it')
    .option('--watch', 'follow it to its end and print the result; Ctrl-C leaves it running')
    .option('--json', 'print JSON, one line an event')
    .action(async (strategy: string, options: StartCommandOptions) => {
      const body = options.config ? readConfig(options.config) : {};
      process.exitCode = await session(async (opened) =>
        printStart(opened, await startStudy(opened.client, strategy, body, options), options),
      );
    });
}

/** Prints what was started, and follows it if asked. Answers the exit code. */
async function printStart(
  session: Session,
  started: Awaited<ReturnType<typeof startStudy>>,
  { json = false, watch = false }: WatchOptions,
): Promise<number> {
  const { job_id, n_trials, strategy, warnings } = started;
  if (json) console.log(JSON.stringify(watch ? { event: 'start', data: started } : started));
  else {
    console.log(`Started ${job_id}: ${n_trials} trials of ${strategy}`);
    for (const warning of warnings) console.log(`Warning: ${warning}`);
  }
  if (watch) return watchAndPrint(session, job_id, json);
  if (!json) console.log(comeBack(session, job_id));
  return 0;
}

/** Exit code of what was interrupted, as shells have it. */
const INTERRUPTED = 130;

async function watchAndPrint(session: Session, jobId: string, json = false): Promise<number> {
  const { client } = session;
  const left = new AbortController();
  const leave = () => left.abort();
  process.once('SIGINT', leave);
  const progress = showProgress(process.stdout, json);
  const job = await watchStudy(client, jobId, progress, left.signal).finally(() => {
    progress.end();
    process.off('SIGINT', leave);
  });
  if (job) return printEnd(client, job, json);
  // Beside what a program reads from the output.
  console.error(comeBack(session, jobId));
  return INTERRUPTED;
}

/** Where the study is when nobody watches it. */
function comeBack({ temporary }: Session, jobId: string): string {
  const again = `touchstone hyperopt watch ${jobId}`;
  return temporary
    ? `It stops with this command, since no platform is running, and goes on with: ${again} (or npm start)`
    : `It goes on. Come back with: ${again}`;
}
