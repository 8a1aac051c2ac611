import { type Command, Option } from 'commander';
import type { Challenge } from '#contract/registry/challenge-api.ts';
import {
  ANALYSIS_UNITS,
  CANARY_STAGES,
  CHALLENGE_STATUSES,
  ON_ROLLBACK,
  TRADE_STATUSES,
  VARIANTS,
} from '#contract/registry/stored-challenge.ts';
import {
  CHALLENGE_DEFAULTS as DEFAULTS,
  CHALLENGE_LIMITS as LIMITS,
} from '#contract/values/challenge-limits.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { TRADING_MODES } from '#contract/values/trading-modes.ts';
import { type ApiClient, ApiError } from '../client.ts';
import { boundsText, finiteNumber, given, integer, LIMIT, listOf, positiveNumber } from '../options.ts';
import { minute, number } from '../output.ts';
import { COMMENT, postChecked, REASON, WAIVE, type WaiveOptions, waiverOf } from '../registry/registry.ts';
import { type RunInSession, sessionWith } from '../session.ts';
import {
  challengePath,
  challengesOf,
  idOf,
  type ListOptions,
  loadChallenge,
  type PageOptions,
  printChallenges,
  printEvents,
  printStatus,
  printTrades,
  watchAndPrint,
} from './status.ts';
import { challengeStatusText, evidenceText, holdText } from './status-text.ts';
import { logTrades, type TypedTrade, tradesOf } from './trades.ts';

const JSON_OPTION = ['--json', 'print the raw JSON response'] as const;

export function addChallengeCommands(program: Command): void {
  const challenge = program
    .command('challenge')
    .description('test a version against the champion with part of its traffic (docs/challenges.md)');
  const session = sessionWith(program, 'strategy');
  addCreate(challenge, session);
  addReading(challenge, session);
  addLog(challenge, session);
  addControl(challenge, session);
}

function addCreate(challenge: Command, session: RunInSession): void {
  challenge
    .command('create')
    .description(
      `start a challenge; the challenger starts with ${trafficText(CANARY_STAGES[0].share)} of the traffic`,
    )
    .argument('<model>', 'name of the strategy')
    .argument('<challenger>', 'the version to test: a number, or latest')
    .option('--champion <version>', 'the version to test against: a number, or champion', 'champion')
    .option(
      '--min-trades <n>',
      `closed trades of each variant before the verdict, ${boundsText(LIMITS.min_trades)} (default: ${DEFAULTS.min_trades}, and at least the platform's minimum)`,
      integer(LIMITS.min_trades),
    )
    .option(
      '--max-hours <n>',
      `without a verdict by then the champion stays, ${boundsText(LIMITS.max_duration_hours)} (default: ${DEFAULTS.max_duration_hours})`,
      integer(LIMITS.max_duration_hours),
    )
    .option('--no-canary', `start with ${trafficText(CANARY_STAGES.at(-1)!.share)} of the traffic`)
    .option(
      '--max-drawdown <points>',
      'roll back when the drawdown of the challenger exceeds this many percentage points',
      positiveNumber,
    )
    .option('--max-errors <n>', 'roll back when the challenger has more errors', integer(LIMITS.max_errors))
    .option('--approval-stages <list>', 'canary stages that need an approval, such as stage_3,stage_4')
    .addOption(
      new Option(
        '--analysis-unit <unit>',
        `unit of analysis; use assignment_key when trades of one key are correlated (default: ${DEFAULTS.analysis_unit})`,
      ).choices(ANALYSIS_UNITS),
    )
    .addOption(
      new Option(
        '--on-rollback <action>',
        `the challenger's open positions after a rollback: let them finish, or close them (default: ${DEFAULTS.on_rollback})`,
      ).choices(ON_ROLLBACK),
    )
    .option('--auto-promote', 'promote the challenger when it wins; needs role approver')
    .option(
      '--require-assignment',
      'count only trades whose key was assigned before (default: the setting of the platform)',
    )
    .option('--no-require-assignment', 'count trades of keys that were not assigned, too')
    .option(...JSON_OPTION)
    .action((model: string, challenger: string, options: CreateOptions) =>
      session(({ client }) => createChallenge(client, model, challenger, options)),
    );
}

const trafficText = (share: number) => `${number(100 * share, 0)} %`;

function ofChallenge(challenge: Command, name: string, description: string): Command {
  return challenge
    .command(name)
    .description(description)
    .argument('<challenge>', 'ch-<id>, or a model: its newest challenge')
    .option(...JSON_OPTION);
}

function addReading(challenge: Command, session: RunInSession): void {
  const paged = (command: Command) =>
    command.option(...LIMIT).option('--cursor <cursor>', 'cursor that the previous page printed');
  ofChallenge(challenge, 'status', 'print status, comparison of the variants and recommendation')
    .option('--watch', 'follow it to its end; Ctrl-C stops watching only')
    .action(async (reference: string, { watch, json }: { watch?: boolean; json?: boolean }) => {
      process.exitCode = await session(async (opened) => {
        if (watch) return watchAndPrint(opened, reference, json);
        await printStatus(opened.client, reference, json);
        return 0;
      });
    });
  paged(ofChallenge(challenge, 'trades', 'list its trades, last logged first')).action(
    (reference: string, options: PageOptions) =>
      session(({ client }) => printTrades(client, reference, options)),
  );
  paged(ofChallenge(challenge, 'events', 'list its events, newest first')).action(
    (reference: string, options: PageOptions) =>
      session(({ client }) => printEvents(client, reference, options)),
  );
  paged(
    challenge
      .command('list')
      .description('list the challenges of a model, newest first')
      .argument('<model>', 'name of the strategy')
      .addOption(
        new Option('--status <status>', 'only challenges in this status').choices(CHALLENGE_STATUSES),
      )
      .option(...JSON_OPTION),
  ).action((model: string, options: ListOptions) =>
    session(({ client }) => printChallenges(client, model, options)),
  );
}

function addLog(challenge: Command, session: RunInSession): void {
  ofChallenge(challenge, 'log', 'log the trades of a file, or one trade from options; a trade id counts once')
    .argument('[file]', 'JSON lines, or CSV with a header of trade fields; - reads stdin')
    .option('--trade-id <id>', 'your id; logging the same trade again is a duplicate')
    .addOption(new Option('--variant <variant>', 'the variant that traded').choices(VARIANTS))
    .option('--model-version <version>', 'the version that traded, instead of --variant')
    .option('--profit-pct <n>', 'percent of the stake, net of fees', finiteNumber)
    .option('--profit-abs <n>', 'in money, net of fees', finiteNumber)
    .option('--stake-amount <n>', 'in money', finiteNumber)
    .option('--fee-abs <n>', 'in money', finiteNumber)
    .option('--leverage <n>', 'leverage (default: 1)', finiteNumber)
    .option('--pair <pair>', 'such as BTC/USDT:USDT; in spot BTC/USDT')
    .addOption(
      new Option('--trading-mode <mode>', 'market of the pair (default: futures)').choices(TRADING_MODES),
    )
    .addOption(new Option('--side <side>', 'side of the trade').choices(['long', 'short']))
    .option(
      '--opened-at <time>',
      'ISO 8601; selects the canary stage in which the trade counts; before the start it does not count',
    )
    .option('--closed-at <time>', 'ISO 8601 (default: now)')
    .option('--exit-reason <text>', 'why the trade was closed')
    .option('--exchange <key>', 'where it was traded')
    .addOption(new Option('--mode <mode>', 'with money, or simulated').choices(['live', 'paper']))
    .option('--assignment-key <key>', 'key that was assigned; a trade of the other variant does not count')
    .addOption(
      new Option(
        '--status <status>',
        'log the same id again to close an open trade (default: closed)',
      ).choices(TRADE_STATUSES),
    )
    .option('--error-message <text>', 'with --status error: how the strategy failed')
    .action(async (reference: string, file: string | undefined, options: TypedTrade & { json?: boolean }) => {
      const { json, ...typed } = options;
      const trades = tradesOf(file, typed);
      process.exitCode = await session(({ client }) => logTrades(client, reference, trades, json));
    });
}

function addControl(challenge: Command, session: RunInSession): void {
  const verbs = {
    advance: ['advance to the next canary stage now; gives the approval too', 'comment'],
    hold: ['stay in the current canary stage', 'reason'],
    resume: ['end a hold', 'comment'],
    rollback: ['end the challenge and keep the champion', 'reason'],
  } as const;
  for (const verb of ['advance', 'hold', 'resume', 'rollback'] as const) {
    const [description, note] = verbs[verb];
    ofChallenge(challenge, verb, description)
      .option(`--${note} <text>`, COMMENT[1])
      .action((reference: string, options: ControlOptions) =>
        session(({ client }) => controlChallenge(client, verb, reference, options)),
      );
  }
  ofChallenge(challenge, 'promote', 'promote a challenger that has won to Production')
    .option(...COMMENT)
    .option(...WAIVE)
    .option(...REASON)
    .option('--dry-run', 'print what it would do and change nothing')
    .action(async (reference: string, options: PromoteOptions) => {
      process.exitCode = await session(({ client }) => promoteChallenger(client, reference, options));
    });
}

interface CreateOptions {
  /** A version or an alias. */
  readonly champion: string;
  readonly minTrades?: number;
  readonly maxHours?: number;
  /** Option --no-canary. */
  readonly canary: boolean;
  readonly maxDrawdown?: number;
  readonly maxErrors?: number;
  /** Comma-separated. */
  readonly approvalStages?: string;
  readonly analysisUnit?: string;
  readonly onRollback?: string;
  readonly autoPromote?: boolean;
  readonly requireAssignment?: boolean;
  readonly json?: boolean;
}

/** Starts a challenge and prints the next steps. */
async function createChallenge(
  client: ApiClient,
  model: string,
  challenger: string,
  options: CreateOptions,
): Promise<void> {
  const body = given({
    champion_version: options.champion,
    challenger_version: challenger,
    min_trades: options.minTrades,
    max_duration_hours: options.maxHours,
    enable_canary: options.canary,
    max_drawdown_pct: options.maxDrawdown,
    max_errors: options.maxErrors,
    approval_stages: options.approvalStages && listOf(options.approvalStages),
    analysis_unit: options.analysisUnit,
    on_rollback: options.onRollback,
    auto_promote: options.autoPromote,
    require_assignment: options.requireAssignment,
  });
  const challenge = await client.post<Challenge>(challengesOf(model), body).catch((cause: unknown) => {
    if (!(cause instanceof ApiError) || cause.context.version !== 'champion') throw cause;
    const what = `Promote one (${TOUCHSTONE} promote ${model} <version>), or name the champion with --champion.`;
    throw new Error(`No version of ${model} is in Production. ${what}`, { cause });
  });
  console.log(options.json ? JSON.stringify(challenge) : createdText(challenge));
}

/** The conditions of a verdict. */
function needsText(challenge: Challenge): string {
  const { effective_min_trades, min_assignments, min_hours, require_assignment } = challenge;
  return [
    `${number(effective_min_trades, 0)} closed trades of each variant${require_assignment ? ' with assigned keys' : ''}`,
    ...(min_assignments > 0 ? [`${number(min_assignments, 0)} assignments of each`] : []),
    ...(min_hours > 0 ? [`${number(min_hours, 0)} hours`] : []),
  ].join(', ');
}

function createdText(challenge: Challenge): string {
  const { challenge_id: id, model_name, champion_version, challenger_version, traffic_split } = challenge;
  return [
    `Created ${id} of ${model_name}: version ${challenger_version} against ${champion_version}, with ${trafficText(traffic_split[1]!)} of the traffic${challenge.enable_canary ? ' at first' : ''}`,
    ...challenge.warnings.map((warning) => `Warning: ${warning}`),
    `The first verdict needs ${needsText(challenge)}. Without a verdict by ${minute(challenge.ends_at)} UTC the champion stays.`,
    `Next: ${TOUCHSTONE} challenge log ${id} trades.csv`,
    `      ${TOUCHSTONE} challenge status ${id}`,
  ].join('\n');
}

interface ControlOptions {
  readonly comment?: string;
  readonly reason?: string;
  readonly json?: boolean;
}

/** Advances, holds, resumes or rolls back a challenge and prints its new status. */
async function controlChallenge(
  client: ApiClient,
  verb: 'advance' | 'hold' | 'resume' | 'rollback',
  reference: string,
  { comment, reason, json }: ControlOptions,
): Promise<void> {
  const path = challengePath(await idOf(client, reference), `/${verb}`);
  const challenge = await client.post<Challenge>(path, given({ comment, reason }));
  console.log(json ? JSON.stringify(challenge) : controlledText(challenge));
}

function controlledText(challenge: Challenge): string {
  const { challenge_id, model_name, champion_version, challenger_version, traffic_split } = challenge;
  const [champion, challenger] = traffic_split.map(trafficText);
  return [
    `${challenge_id} of ${model_name} is ${challengeStatusText(challenge)}`,
    `Traffic: ${champion} to version ${champion_version}, ${challenger} to version ${challenger_version}`,
    ...holdText(challenge),
  ].join('\n');
}

interface PromoteOptions extends WaiveOptions {
  readonly comment?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Prints what a promotion does and its evidence, and promotes unless it is a dry run. Returns the exit code. */
async function promoteChallenger(
  client: ApiClient,
  reference: string,
  { comment, dryRun, json, ...options }: PromoteOptions,
): Promise<number> {
  const waiver = waiverOf(options);
  const snapshot = await loadChallenge(client, reference);
  const { challenge_id, model_name, champion_version, challenger_version } = snapshot.challenge;
  if (!json) {
    console.log(
      `${challenge_id} of ${model_name}: version ${challenger_version} to Production, in place of ${champion_version}`,
    );
    console.log(evidenceText(snapshot));
    for (const warning of snapshot.evaluation.warnings) console.log(`Warning: ${warning}`);
  }
  if (dryRun) {
    const [text, code] = dryRunOf(snapshot.challenge);
    console.log(json ? JSON.stringify(snapshot) : text);
    return code;
  }
  const body = given({ comment, ...waiver });
  const promoted = await postChecked<Challenge>(client, challengePath(challenge_id, '/promote'), body);
  const before = snapshot.challenge.promoted_at !== null;
  console.log(json ? JSON.stringify(promoted) : before ? alreadyText(promoted) : promotedText(promoted));
  return 0;
}

function dryRunOf(challenge: Challenge): [text: string, code: number] {
  const { status, outcome, promoted_at } = challenge;
  if (promoted_at) return [alreadyText(challenge), 0];
  if (status === 'completed' && outcome === 'challenger_wins') {
    return ['Nothing was changed. Leave out --dry-run to promote it.', 0];
  }
  return [`It cannot be promoted: it is ${challengeStatusText(challenge)}.`, 1];
}

/** A later transition may have replaced it since. */
function alreadyText({ model_name, promoted_at }: Challenge): string {
  return `It was promoted before, at ${minute(promoted_at)} UTC. See: ${TOUCHSTONE} versions ${model_name}`;
}

function promotedText({ model_name, champion_version, challenger_version, promoted_at }: Challenge): string {
  return [
    `Version ${challenger_version} was promoted at ${minute(promoted_at)} UTC; version ${champion_version} is archived.`,
    `To roll back: ${TOUCHSTONE} rollback ${model_name} ${champion_version}`,
  ].join('\n');
}
