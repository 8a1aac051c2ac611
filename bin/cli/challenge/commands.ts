import { type Command, Option } from 'commander';
import {
  ANALYSIS_UNITS,
  CHALLENGE_STATUSES,
  ON_ROLLBACK,
  TRADE_STATUSES,
  VARIANTS,
} from '#contract/stored-challenge.ts';
import { REASON, WAIVE } from '../checks.ts';
import { type Addresses, type Session, strategyAddress, withSession } from '../session.ts';
import { amount, figure, wholeNumber } from '../usage.ts';
import { type ControlOptions, controlChallenge, type PromoteOptions, promoteChallenger } from './control.ts';
import { type CreateOptions, createChallenge } from './create.ts';
import { type ListOptions, type PageOptions, printChallenges, printEvents, printTrades } from './list.ts';
import { logTrades } from './log.ts';
import { printStatus } from './status.ts';
import { type TypedTrade, tradesOf } from './typed-trade.ts';
import { watchAndPrint } from './watch.ts';

type Run = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

const JSON_HELP = 'print what the service answers';

/** The commands that test a version against the champion. */
export function addChallengeCommands(program: Command): void {
  const challenge = program
    .command('challenge')
    .description(
      'test a version against the one in Production with part of its traffic (docs/challenges.md)',
    );
  const session: Run = (work) =>
    withSession(strategyAddress(program.opts<Addresses>(), 'challenge'), work, 'strategy');
  addCreate(challenge, session);
  addReading(challenge, session);
  addLog(challenge, session);
  addControl(challenge, session);
}

function addCreate(challenge: Command, session: Run): void {
  challenge
    .command('create')
    .description('start the test of a version: it gets 5 % of the traffic, and more as it proves itself')
    .argument('<model>', 'name of the strategy')
    .argument('<challenger>', 'the version to test: a number, or latest')
    .option(
      '--champion <version>',
      'what it is tested against: a number, or what is in Production',
      'champion',
    )
    .option(
      '--min-trades <n>',
      'closed trades of each arm before the verdict; default and least 100',
      wholeNumber(1, 1_000_000),
    )
    .option(
      '--max-hours <n>',
      'without a verdict by then the champion stays; default 168',
      wholeNumber(1, 8760),
    )
    .option('--no-canary', 'give it half of the traffic at once')
    .option(
      '--max-drawdown <percent>',
      'roll back when it has lost so many percent points since its peak',
      amount,
    )
    .option('--max-errors <n>', 'roll back when it has more errors than that', wholeNumber(1, 1_000_000))
    .option('--approval-stages <list>', 'shares that somebody must approve, such as stage_3,stage_4')
    .addOption(
      new Option(
        '--analysis-unit <unit>',
        'what is independent; assignment_key when trades of one key share a shock; default trade',
      ).choices(ANALYSIS_UNITS),
    )
    .addOption(
      new Option('--on-rollback <what>', 'becomes of its open positions then; default finish').choices(
        ON_ROLLBACK,
      ),
    )
    .option('--auto-promote', 'promote it as soon as it has won, without asking anybody; role approver')
    .option('--json', JSON_HELP)
    .action((model: string, challenger: string, options: CreateOptions) =>
      session(({ client }) => createChallenge(client, model, challenger, options)),
    );
}

/** A command about one challenge. */
function ofChallenge(challenge: Command, name: string, description: string): Command {
  return challenge
    .command(name)
    .description(description)
    .argument('<challenge>', 'ch-<id>, or a model: its newest challenge')
    .option('--json', JSON_HELP);
}

function addReading(challenge: Command, session: Run): void {
  const paged = (command: Command) =>
    command
      .option('--limit <n>', '1 to 100', wholeNumber(1, 100), 20)
      .option('--cursor <cursor>', 'where the page before ended');
  ofChallenge(challenge, 'status', 'how it stands, how the arms compare, and what to do')
    .option('--watch', 'follow it to its end; Ctrl-C leaves it')
    .action(async (reference: string, { watch, json }: { watch?: boolean; json?: boolean }) => {
      process.exitCode = await session(async (opened) => {
        if (watch) return watchAndPrint(opened, reference, json);
        await printStatus(opened.client, reference, json);
        return 0;
      });
    });
  paged(ofChallenge(challenge, 'trades', 'its trades, last logged first')).action(
    (reference: string, options: PageOptions) =>
      session(({ client }) => printTrades(client, reference, options)),
  );
  paged(ofChallenge(challenge, 'events', 'what happened to it, newest first')).action(
    (reference: string, options: PageOptions) =>
      session(({ client }) => printEvents(client, reference, options)),
  );
  paged(
    challenge
      .command('list')
      .description('list the challenges of a model, newest first')
      .argument('<model>', 'name of the strategy')
      .addOption(new Option('--status <status>', 'only these').choices(CHALLENGE_STATUSES))
      .option('--json', JSON_HELP),
  ).action((model: string, options: ListOptions) =>
    session(({ client }) => printChallenges(client, model, options)),
  );
}

function addLog(challenge: Command, session: Run): void {
  ofChallenge(
    challenge,
    'log',
    'log trades: those of a file, or one from options; each counts once by its id',
  )
    .argument('[file]', 'JSON lines, or CSV with a header of trade fields; - reads stdin')
    .option('--trade-id <id>', 'of your own; the same trade again is a duplicate')
    .addOption(new Option('--variant <arm>', 'whose it was').choices(VARIANTS))
    .option('--model-version <version>', 'whose it was, in place of --variant')
    .option('--profit-pct <n>', 'net of fees, percent of the stake', figure)
    .option('--profit-abs <n>', 'net of fees, in money', figure)
    .option('--stake-amount <n>', 'in money', figure)
    .option('--fee-abs <n>', 'in money', figure)
    .option('--leverage <n>', 'default 1', figure)
    .option('--pair <pair>', 'such as BTC/USDT:USDT')
    .addOption(new Option('--side <side>').choices(['long', 'short']))
    .option('--opened-at <time>', 'ISO 8601; decides in which stage it is compared')
    .option('--closed-at <time>', 'ISO 8601; default: now')
    .option('--exit-reason <text>', 'why it was closed')
    .option('--exchange <key>', 'where it was traded')
    .addOption(new Option('--mode <mode>', 'with money or without').choices(['live', 'paper']))
    .option('--assignment-key <key>', 'as it was assigned: one of the other arm does not count')
    .addOption(
      new Option('--status <status>', 'an open one is closed by its id; default closed').choices(
        TRADE_STATUSES,
      ),
    )
    .option('--error-message <text>', 'of an error: the strategy failed to decide or to trade')
    .action(async (reference: string, file: string | undefined, options: TypedTrade & { json?: boolean }) => {
      const { json, ...typed } = options;
      const trades = tradesOf(file, typed);
      process.exitCode = await session(({ client }) => logTrades(client, reference, trades, json));
    });
}

function addControl(challenge: Command, session: Run): void {
  const verbs = {
    advance: ['give the challenger the next share at once; that approves it too', 'comment'],
    hold: ['keep the share as it is', 'reason'],
    resume: ['end a hold', 'comment'],
    rollback: ['end it: the champion stays', 'reason'],
  } as const;
  for (const verb of ['advance', 'hold', 'resume'] as const) addVerb(verb);
  ofChallenge(challenge, 'promote', 'promote the challenger that has won to Production')
    .option('--comment <text>', 'goes into the history')
    .option(...WAIVE)
    .option(...REASON)
    .option('--check', 'show what it would do and change nothing')
    .action(async (reference: string, options: PromoteOptions) => {
      process.exitCode = await session(({ client }) => promoteChallenger(client, reference, options));
    });
  addVerb('rollback');

  function addVerb(verb: keyof typeof verbs): void {
    const [description, note] = verbs[verb];
    ofChallenge(challenge, verb, description)
      .option(`--${note} <text>`, 'goes into the history')
      .action((reference: string, options: ControlOptions) =>
        session(({ client }) => controlChallenge(client, verb, reference, options)),
      );
  }
}
