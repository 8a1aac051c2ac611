import type { Command } from 'commander';
import type * as z from 'zod';
import type { VersionComparison } from '#contract/registry/catalog-api.ts';
import type {
  ModelHistory,
  ModelVersion,
  ModelVersionDetail,
  ModelVersionList,
} from '#contract/registry/registry-api.ts';
import { PAGE_LIMITS } from '#contract/values/request-limits.ts';
import { UNDEFINED_REASONS, type UndefinedReason } from '#contract/values/undefined-metrics.ts';
import type { ApiClient } from '../client.ts';
import { JSON_OPTION, queryOf, repeated } from '../options.ts';
import {
  escapeControlChars,
  figure,
  lookAheadText,
  metricText,
  minute,
  number,
  percent,
  resultText,
  table,
  wrap,
} from '../output.ts';
import { sessionWith } from '../session.ts';

/** Commands that read versions, and change their aliases and tags. */
export function addVersionCommands(program: Command): void {
  const session = sessionWith(program);
  program
    .command('versions')
    .description('list the versions of a model, or its history, newest first')
    .argument('<model>', 'name of the strategy')
    .option('--no-archived', 'leave out archived versions')
    .option('--history', 'list stage transitions instead: who, when, why')
    .option(...JSON_OPTION)
    .action((model: string, options: VersionsOptions) =>
      session(({ client }) =>
        options.history ? printHistory(client, model, options.json) : printVersions(client, model, options),
      ),
    );

  program
    .command('compare')
    .description('compare a challenger with a champion on their registered backtests')
    .argument('<model>', 'name of the strategy')
    .argument('<champion>', 'version a: a number, champion or latest')
    .argument('<challenger>', 'version b')
    .option(...JSON_OPTION)
    .action((model: string, champion: string, challenger: string, { json }: { json?: boolean }) =>
      session(({ client }) => compareVersions(client, model, champion, challenger, json)),
    );

  program
    .command('label')
    .description('set or remove aliases and tags of a version')
    .argument('<model>', 'name of the strategy')
    .argument('<version>', 'a number or an alias')
    .option('--alias <name>', 'repeatable; the version that has it loses it', repeated, [])
    .option('--remove-alias <name>', 'repeatable', repeated, [])
    .option('--tag <tag>', 'repeatable, such as desk=fx', repeated, [])
    .option('--remove-tag <tag>', 'repeatable', repeated, [])
    .option(...JSON_OPTION)
    .action((model: string, version: string, options: LabelOptions) =>
      session(({ client }) => labelVersion(client, model, version, options)),
    );
}

interface LabelOptions {
  readonly alias: readonly string[];
  readonly removeAlias: readonly string[];
  readonly tag: readonly string[];
  readonly removeTag: readonly string[];
  readonly json?: boolean;
}

/** Changes the lists that the options name, and prints the version's aliases and tags. */
async function labelVersion(
  client: ApiClient,
  model: string,
  version: string,
  { alias, removeAlias, tag, removeTag, json }: LabelOptions,
): Promise<void> {
  const path = (number: string) =>
    `/api/v1/models/${encodeURIComponent(model)}/versions/${encodeURIComponent(number)}`;
  const found = await client.get<ModelVersionDetail>(path(version));
  const changed = (list: readonly string[], added: readonly string[], removed: readonly string[]) =>
    added.length + removed.length > 0
      ? [...list, ...added].filter((each) => !removed.includes(each))
      : undefined;
  const body = {
    aliases: changed(found.aliases, alias, removeAlias),
    tags: changed(found.tags, tag, removeTag),
  };
  const after = await client.patch<ModelVersionDetail>(path(found.version), body);
  if (json) return console.log(JSON.stringify(after));
  const listed = (list: readonly string[]) => escapeControlChars(list.join(', ')) || 'none';
  console.log(`${model} version ${after.version}`);
  console.log(`Aliases: ${listed(after.aliases)}`);
  console.log(`Tags: ${listed(after.tags)}`);
}

interface VersionsOptions {
  readonly archived: boolean;
  readonly history?: boolean;
  readonly json?: boolean;
}

async function printVersions(
  client: ApiClient,
  model: string,
  { archived, json }: VersionsOptions,
): Promise<void> {
  const versions: ModelVersion[] = [];
  let cursor: string | null = null;
  do {
    const query = queryOf({ include_archived: archived, cursor: cursor ?? undefined });
    const page: z.infer<typeof ModelVersionList> = await client.get(
      `/api/v1/models/${encodeURIComponent(model)}/versions?${query}`,
    );
    versions.push(...page.versions);
    cursor = page.next_cursor;
  } while (cursor);
  if (json) return console.log(JSON.stringify({ model_name: model, versions, count: versions.length }));
  console.log(
    versions.length > 0
      ? versionTable(versions)
      : `Every version of ${model} is archived. Leave out --no-archived to list them.`,
  );
}

async function printHistory(client: ApiClient, model: string, json = false): Promise<void> {
  const path = `/api/v1/models/${encodeURIComponent(model)}/history`;
  const history = await client.get<z.infer<typeof ModelHistory>>(`${path}?limit=${PAGE_LIMITS.max}`);
  if (json) return console.log(JSON.stringify(history));
  console.log(historyTable(history.items));
  if (history.next_cursor) console.log(`Older events exist: GET ${path}`);
}

function versionTable(versions: readonly ModelVersion[]): string {
  return table(
    [
      'Version',
      'Stage',
      'Exchange',
      'Validation',
      'Look-ahead',
      'Trades',
      'Profit',
      'Sharpe',
      'Drawdown',
      'Created (UTC)',
      'By',
      'Description',
    ],
    versions.map((each) => [
      [each.version, ...each.aliases].join(' '),
      stageText(each),
      each.exchange,
      each.validation_status,
      lookAheadText(each.look_ahead),
      figure(each.look_ahead, number(each.metrics.total_trades, 0)),
      figure(each.look_ahead, percent(each.metrics.total_profit_pct)),
      figure(each.look_ahead, resultText(each.metrics, 'sharpe_ratio')),
      figure(each.look_ahead, percent(each.metrics.max_drawdown_pct)),
      minute(each.created_at),
      each.created_by,
      wrap([each.description, ...tagText(each), ...waivedText(each)].filter(Boolean).join('; '), 40),
    ]),
  );
}

/** Stage of a version, and how it left Production when not by a promotion. */
function stageText({ stage, rolled_back, stopped }: ModelVersion): string {
  if (stopped) return `${stage} (stopped)`;
  return rolled_back ? `${stage} (rolled back)` : stage;
}

function tagText({ tags }: ModelVersion): string[] {
  return tags.length > 0 ? [`tags: ${tags.join(', ')}`] : [];
}

/** The checks that were waived for a version. */
function waivedText({ waivers }: ModelVersion): string[] {
  const names = [...new Set(waivers.flatMap(({ checks }) => checks))];
  return names.length > 0 ? [`waived: ${names.join(', ')}`] : [];
}

function historyTable(events: z.infer<typeof ModelHistory>['items']): string {
  return table(
    ['Time (UTC)', 'Actor', 'Action', 'Version', 'From', 'To', 'In Production', 'Challenge', 'Reason'],
    events.map((event) => [
      minute(event.at),
      event.actor,
      event.action,
      event.version,
      event.from,
      event.to,
      event.production,
      event.challenge_id,
      wrap([event.reason, ...event.notes, event.waiver?.reason].filter(Boolean).join('; '), 40),
    ]),
  );
}

/** Prints metrics, guardrails and the decision. */
async function compareVersions(
  client: ApiClient,
  model: string,
  champion: string,
  challenger: string,
  json = false,
): Promise<void> {
  const query = queryOf({ version_a: champion, version_b: challenger });
  const comparison = await client.get<VersionComparison>(
    `/api/v1/catalog/strategies/${encodeURIComponent(model)}/compare?${query}`,
  );
  if (json) return console.log(JSON.stringify(comparison));
  console.log(inputTable(comparison));
  console.log(metricTable(comparison));
  console.log(guardrailTable(comparison));
  for (const { field, a, b } of comparison.differences) console.log(`Different ${field}: ${a} and ${b}`);
  for (const warning of comparison.warnings) console.log(`Warning: ${warning}`);
  console.log(
    `${comparison.decision}, confidence ${number(comparison.confidence)} (${methodText(comparison)})`,
  );
  console.log(comparison.recommendation);
}

/** Market and look-ahead check of both versions. */
function inputTable({ version_a, version_b, exchange, look_ahead }: VersionComparison): string {
  return table(
    ['', 'Version', 'Exchange', 'Look-ahead'],
    [
      ['a', version_a, exchange.a, lookAheadText(look_ahead.a)],
      ['b', version_b, exchange.b, lookAheadText(look_ahead.b)],
    ],
  );
}

function methodText({ confidence_method, sample_sizes }: VersionComparison): string {
  return confidence_method === 'welch'
    ? `Welch's test on ${number(sample_sizes.a, 0)} and ${number(sample_sizes.b, 0)} trades`
    : 'ratio of metrics that agree: too few trades for a test';
}

const IMPROVEMENT_LABELS = { '-1': 'worse', '0': 'same', '1': 'better' } as const;
const NOTES = {
  baseline_near_zero: 'a is 0: only the sign of the percentage is meaningful',
  no_losses: 'a profit factor without losses',
  undefined_a: 'undefined in a',
  undefined_b: 'undefined in b',
} as const;

function metricTable({ metrics, version_a, version_b, look_ahead }: VersionComparison): string {
  return table(
    ['Metric', `a: version ${version_a}`, `b: version ${version_b}`, 'Improvement', 'b is', 'Note'],
    Object.entries(metrics).map(([name, { a, b, improvement, direction, reasons, notes }]) => {
      const isCount = direction === 'none';
      const cell = (value: number, reason: UndefinedReason | null = null) =>
        reason === null ? number(value, isCount ? 0 : 2) : metricText(name, null, UNDEFINED_REASONS[reason]);
      return [
        name,
        figure(look_ahead.a, cell(a, reasons?.a)),
        figure(look_ahead.b, cell(b, reasons?.b)),
        percent(improvement),
        isCount ? '-' : IMPROVEMENT_LABELS[`${Math.sign(improvement) as -1 | 0 | 1}`],
        notes.map((note) => NOTES[note]).join('; '),
      ];
    }),
  );
}

function guardrailTable({ guardrails }: VersionComparison): string {
  return table(
    ['Guardrail', 'Status', 'Value', 'Threshold'],
    guardrails.map(({ name, status, value, threshold }) => [name, status, number(value), number(threshold)]),
  );
}
