import type { Command } from 'commander';
import type * as z from 'zod';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import type {
  ModelHistory,
  ModelVersionDetail,
  PromoteResult,
  RegisterResult,
  RollbackResult,
  StageResult,
  StopResult,
} from '#contract/registry/registry-api.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { PAGE_LIMITS } from '#contract/values/request-limits.ts';
import { UNDEFINED_REASONS, type UndefinedReason } from '#contract/values/undefined-metrics.ts';
import { isRequired } from '#domain/transitions/check-status.ts';
import { type ProductionChange, rollbackTargets } from '#domain/transitions/rollback-target.ts';
import { VERSION } from '#runtime/version.ts';
import { type ApiClient, ApiError } from '../client.ts';
import { finiteNumber, given, JSON_OPTION, listOf, queryOf, repeated, UsageError } from '../options.ts';
import { metricText, minute, number, table, wrap } from '../output.ts';
import { sessionWith } from '../session.ts';

/** Commands that register a version and change its stage. Long because it is their table. */
export function addRegistryCommands(program: Command): void {
  const session = sessionWith(program);
  program
    .command('register')
    .description('register a completed backtest as the next version of its strategy')
    .argument('<strategy>', 'name of the strategy')
    .requiredOption('--run <job-id>', 'the backtest, bt-<id>')
    .option('--image <uri>', 'container image that runs it', `touchstone:${VERSION}`)
    .option('--description <text>', 'what is new in this version')
    .option('--tag <tag>', 'repeatable', repeated, [])
    .option('--min-sharpe <n>', 'reject below this Sharpe ratio', finiteNumber)
    .option('--min-profit-factor <n>', 'reject below this profit factor', finiteNumber)
    .option('--max-drawdown <percent>', 'reject above this drawdown', finiteNumber)
    .option('--skip-validation', 'skip the thresholds; needs role admin')
    .option('--waive <checks>', 'look_ahead: register despite a found look-ahead bias; needs role admin')
    .option(...REASON)
    .option(...JSON_OPTION)
    .action((strategy: string, options: RegisterOptions) =>
      sessionWith(program, 'strategy')(({ client }) => registerVersion(client, strategy, options)),
    );

  program
    .command('stage')
    .description('validate a version and transition it from None to Staging')
    .argument('<model>', 'name of the strategy')
    .argument('<version>', 'a number, or latest')
    .option(...COMMENT)
    .option('--dry-run', 'run the checks and change nothing')
    .option('--skip-validation', 'skip the checks, except the release policy; needs role admin')
    .option(...WAIVE)
    .option(...REASON)
    .option('--no-wait', 'return before checks that run the strategy have finished')
    .option(...JSON_OPTION)
    .action(async (model: string, version: string, options: StageOptions) => {
      process.exitCode = await session(({ client }) => stageVersion(client, model, version, options));
    });

  program
    .command('promote')
    .description('promote a staged version to Production; the version it replaces is archived')
    .argument('<model>', 'name of the strategy')
    .argument('<version>', 'a number, or latest')
    .option(...COMMENT)
    .option('--expect <version>', 'reject unless this version is in Production now; none: no version')
    .option('--challenge <id>', 'the challenge that the version won, ch-<id>')
    .option(
      '--force',
      'promote despite a failed validation; the release policy still applies; needs role admin',
    )
    .option(...WAIVE)
    .option(...REASON)
    .option(...JSON_OPTION)
    .action((model: string, version: string, options: PromoteOptions) =>
      session(({ client }) => promoteVersion(client, model, version, options)),
    );

  program
    .command('rollback')
    .description('return an archived version to Production')
    .argument('<model>', 'name of the strategy')
    .argument('[version]', 'default: the last in Production before, which was never rolled back or stopped')
    .option('--reason <text>', 'recorded in the history')
    .option('--expect <version>', 'reject unless this version is in Production now; none: no version')
    .option(...JSON_OPTION)
    .action((model: string, version: string | undefined, options: RollbackOptions) =>
      session(({ client }) => rollbackVersion(client, model, version, options)),
    );

  program
    .command('stop')
    .description('take the version in Production out of it, without a successor: positions close')
    .argument('<model>', 'name of the strategy')
    .requiredOption('--reason <text>', 'recorded in the history')
    .option('--expect <version>', 'reject unless this version is in Production now')
    .option(...JSON_OPTION)
    .action((model: string, options: StopOptions) =>
      session(({ client }) => stopModel(client, model, options)),
    );
}

export const COMMENT = ['--comment <text>', 'recorded in the history'] as const;
/** Options that waive checks of the release policy. */
export const WAIVE = [
  '--waive <checks>',
  'comma-separated checks of the release policy to waive; needs role admin',
] as const;
export const REASON = ['--reason <text>', 'why they are waived; recorded in the history'] as const;

export interface WaiveOptions {
  /** Comma-separated. */
  readonly waive?: string;
  readonly reason?: string;
}

/** The waiver of a request; empty without one. @throws UsageError for one option without the other. */
export function waiverOf({ waive, reason }: WaiveOptions): { waive?: { checks: string[]; reason: string } } {
  if (waive === undefined && reason === undefined) return {};
  if (waive === undefined)
    throw new UsageError('--reason belongs to --waive <checks>. Name the checks to waive.');
  if (reason === undefined) throw new UsageError('--waive needs --reason <text>. The history records it.');
  return { waive: { checks: listOf(waive), reason } };
}

/** Posts, and adds the table of checks to a rejection that names them. */
export async function postChecked<T>(client: ApiClient, path: string, body: object): Promise<T> {
  return client.post<T>(path, body).catch((error: unknown) => {
    if (!(error instanceof ApiError) || !Array.isArray(error.context.checks)) throw error;
    throw error.withDetails(checkTable(error.context.checks as ValidationCheck[]));
  });
}

function checkTable(checks: readonly ValidationCheck[]): string {
  return table(
    ['Check', 'Status', 'Value', 'Threshold', 'Finding'],
    checks.map(({ name, status, value, threshold, message }) => [
      name,
      status,
      shortDigest(value),
      shortDigest(threshold),
      wrap(message, 60),
    ]),
  );
}

/** Digests are too long for a cell; the version has them in full. */
function shortDigest(value: number | string | null): number | string | null {
  return typeof value === 'string' && value.length > 12 ? `${value.slice(0, 12)}…` : value;
}

function printWarnings({ warnings = [] }: { readonly warnings?: readonly string[] }): void {
  for (const warning of warnings) console.log(`Warning: ${warning}`);
}

interface RegisterOptions extends WaiveOptions {
  readonly json?: boolean;
  readonly run: string;
  readonly image: string;
  readonly description?: string;
  readonly tag: readonly string[];
  readonly minSharpe?: number;
  readonly minProfitFactor?: number;
  readonly maxDrawdown?: number;
  readonly skipValidation?: boolean;
}

/** Registers a backtest as the next version; a rejection lists the thresholds that it misses. */
async function registerVersion(client: ApiClient, strategy: string, options: RegisterOptions): Promise<void> {
  const { minSharpe, minProfitFactor, maxDrawdown } = options;
  const body = given({
    backtest_run_id: options.run,
    container_image_uri: options.image,
    description: options.description,
    tags: options.tag,
    skip_validation: options.skipValidation,
    thresholds: given({
      min_sharpe: minSharpe,
      min_profit_factor: minProfitFactor,
      max_drawdown: maxDrawdown,
    }),
    ...waiverOf(options),
  });
  const reply = await client
    .post<RegisterResult>(`/api/v1/strategies/${encodeURIComponent(strategy)}/register`, body)
    .catch((error: unknown) => {
      if (!(error instanceof ApiError) || !Array.isArray(error.context.failures)) throw error;
      throw error.withDetails(failureTable(error.context.failures as Failure[]));
    });
  if (options.json) return console.log(JSON.stringify(reply));
  console.log(reply.message);
  const policy = reply.validation.checks.filter(({ name }) => name !== 'thresholds');
  if (policy.some(({ status }) => status === 'failed')) console.log(checkTable(policy));
  printWarnings({ warnings: reply.warnings?.filter((each) => !each.startsWith('release policy: ')) ?? [] });
  const { model_name, version, validation } = reply;
  if (validation.status !== 'failed') console.log(`Next: ${TOUCHSTONE} stage ${model_name} ${version}`);
}

interface Failure {
  readonly metric: string;
  readonly value: number | null;
  readonly threshold: number;
  readonly reason?: UndefinedReason | null;
}

function failureTable(failures: readonly Failure[]): string {
  return table(
    ['Metric', 'Value', 'Threshold'],
    failures.map(({ metric, value, threshold, reason }) => [
      metric,
      metricText(metric, value === null ? null : number(value), reason ? UNDEFINED_REASONS[reason] : null),
      number(threshold),
    ]),
  );
}

interface StageOptions extends WaiveOptions {
  readonly json?: boolean;
  readonly comment?: string;
  readonly dryRun?: boolean;
  readonly skipValidation?: boolean;
  readonly wait: boolean;
}

type Validation = StoredVersion['validation'];

const POLL_MS = 500;

/** Stages a version and prints its checks, after those that run the strategy have finished. Returns the exit code. */
async function stageVersion(
  client: ApiClient,
  model: string,
  version: string,
  options: StageOptions,
): Promise<number> {
  const reply = await postChecked<StageResult>(
    client,
    `/api/v1/strategies/${encodeURIComponent(model)}/stage`,
    given({
      version,
      comment: options.comment,
      validate_only: options.dryRun,
      skip_validation: options.skipValidation,
      ...waiverOf(options),
    }),
  );
  const isPending = options.wait && !options.dryRun && reply.validation.status === 'pending';
  if (!options.json) {
    console.log(reply.message);
    printWarnings(reply);
    if (isPending) console.log('Waiting for the checks that run the strategy');
  }
  const validation = isPending ? await finishedValidation(client, reply) : reply.validation;
  const { status, checks } = validation;
  if (options.json) {
    console.log(JSON.stringify({ ...reply, validation }));
    return status === 'failed' ? 1 : 0;
  }
  if (checks.length > 0) console.log(checkTable(checks));
  console.log(`Validation: ${validationText(validation)}`);
  return status === 'failed' ? 1 : 0;
}

/** Status, and for `skipped` which checks it means: those that run the strategy may have passed. */
function validationText({ status, checks }: Validation): string {
  if (status !== 'skipped') return status;
  const named = (wanted: ValidationCheck['status']) =>
    checks.filter((check) => isRequired(check) && check.status === wanted).map(({ name }) => name);
  const passed = named('passed');
  return `skipped (${named('skipped').join(', ')})${passed.length > 0 ? `; passed: ${passed.join(', ')}` : ''}`;
}

async function finishedValidation(
  client: ApiClient,
  { model_name, version }: { readonly model_name: string; readonly version: string },
): Promise<Validation> {
  for (;;) {
    const { validation } = await client.get<ModelVersionDetail>(
      `/api/v1/models/${encodeURIComponent(model_name)}/versions/${version}`,
    );
    if (validation.status !== 'pending') return validation;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

interface PromoteOptions extends WaiveOptions {
  readonly json?: boolean;
  readonly comment?: string;
  readonly expect?: string;
  readonly challenge?: string;
  readonly force?: boolean;
}

/** Promotes a staged version and prints what it replaced; a rejection lists the checks that it fails. */
async function promoteVersion(
  client: ApiClient,
  model: string,
  version: string,
  options: PromoteOptions,
): Promise<void> {
  const reply = await postChecked<PromoteResult>(
    client,
    `/api/v1/strategies/${encodeURIComponent(model)}/promote`,
    given({
      version,
      comment: options.comment,
      expected_production: expectedProduction(options.expect),
      challenge_id: options.challenge,
      force: options.force,
      ...waiverOf(options),
    }),
  );
  if (options.json) return console.log(JSON.stringify(reply));
  console.log(reply.message);
  printWarnings(reply);
  const { previous_stage, new_stage, archived_versions, promoted_at } = reply;
  console.log(
    table(
      ['Version', 'From', 'To', 'Archived', 'Promoted (UTC)'],
      [[reply.version, previous_stage, new_stage, archived_versions.join(', ') || null, minute(promoted_at)]],
    ),
  );
}

/** The option `--expect`, a version or `none`, as requests have it. */
function expectedProduction(expect: string | undefined): string | null | undefined {
  return expect === 'none' ? null : expect;
}

interface RollbackOptions {
  readonly json?: boolean;
  readonly reason?: string;
  readonly expect?: string;
}

async function rollbackVersion(
  client: ApiClient,
  model: string,
  version: string | undefined,
  { reason, expect, json }: RollbackOptions,
): Promise<void> {
  const expected = expectedProduction(expect);
  const named = version === undefined ? await versionBefore(client, model, expected) : { version };
  if (!json && version === undefined && named.version) {
    console.log(`Returning to version ${named.version}, the last in Production before.`);
  }
  const reply = await client.post<RollbackResult>(
    `/api/v1/models/${encodeURIComponent(model)}/rollback`,
    given({ expected_production: expected, ...named, reason }),
  );
  if (json) return console.log(JSON.stringify(reply));
  console.log(reply.message);
  console.log(
    table(
      ['Model', 'Production before', 'Production now'],
      [[reply.model_name, reply.previous_production, reply.new_production]],
    ),
  );
}

/** The version to return to by default, with the one in Production now. Without a version the platform says which can be named. */
async function versionBefore(client: ApiClient, model: string, expected: string | null | undefined) {
  const changes: ProductionChange[] = [];
  let cursor: string | null = null;
  do {
    const query = queryOf({ limit: PAGE_LIMITS.max, cursor: cursor ?? undefined });
    const page: z.infer<typeof ModelHistory> = await client.get(
      `/api/v1/models/${encodeURIComponent(model)}/history?${query}`,
    );
    changes.push(...page.items.filter((event) => event.production !== event.previous_production));
    cursor = page.next_cursor;
  } while (cursor);
  const production = changes[0]?.production ?? null;
  const { target } = rollbackTargets(changes, production);
  return {
    expected_production: expected === undefined ? production : expected,
    ...(target !== null && { version: target }),
  };
}

interface StopOptions {
  readonly json?: boolean;
  readonly reason: string;
  readonly expect?: string;
}

async function stopModel(
  client: ApiClient,
  model: string,
  { reason, expect, json }: StopOptions,
): Promise<void> {
  const reply = await client.post<StopResult>(
    `/api/v1/models/${encodeURIComponent(model)}/stop`,
    given({ reason, expected_production: expectedProduction(expect) }),
  );
  if (json) return console.log(JSON.stringify(reply));
  console.log(reply.message);
  console.log(
    table(
      ['Model', 'Production before', 'Production now'],
      [[reply.model_name, reply.previous_production, reply.new_production]],
    ),
  );
}
