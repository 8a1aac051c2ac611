import { Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { BACKTEST_ID_PREFIX, COLUMNS_ID_PREFIX, VALIDATION_ID_PREFIX } from '#contract/backtests/backtest.ts';
import { HYPEROPT_ID_PREFIX } from '#contract/hyperopt/hyperopt.ts';
import { SIGNALS_ID_PREFIX } from '#contract/values/signals-limits.ts';
import { APPROVAL_PARTITION, TABLES, type TableId, TRIALS_PREFIX } from '#contract/values/tables.ts';
import { acknowledgeWildcard } from './construct-helpers.ts';

/** Scan is missing: no function reads a whole table. */
export type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem';
/** Actions of a stage transition: one read and one transaction. */
export const TRANSITION_REGISTRY = ['BatchGetItem', 'PutItem', 'UpdateItem'] as const satisfies TableAction[];
/** Actions of lists and of the health probe. Each role names the indexes that it queries. */
export const READ_REGISTRY = ['GetItem', 'Query'] as const satisfies TableAction[];

export type ObjectAction = 'GetObject' | 'PutObject' | 'DeleteObject';

export interface Permission {
  readonly actions: string[];
  readonly resources: string[];
  /** @default - none */
  readonly conditions?: Record<string, Record<string, string | string[]>>;
  /** Reason for a wildcard in the resources. @default - they have none */
  readonly wildcard?: string;
}

/** Partition keys of the jobs that the backtest state machine runs. */
export const BACKTEST_KEYS = [
  `${BACKTEST_ID_PREFIX}*`,
  `${VALIDATION_ID_PREFIX}*`,
  `${COLUMNS_ID_PREFIX}*`,
] as const;
/** Partition keys of hyperopt jobs with their trials. */
export const HYPEROPT_KEYS = [`${HYPEROPT_ID_PREFIX}*`] as const;

/** Partition keys of the records of uploaded signals. */
export const SIGNALS_KEYS = [`${SIGNALS_ID_PREFIX}*`] as const;
/** Keys of the uploaded signals in the bucket of results. */
export const SIGNAL_FILES = 'signals/*';

/** Adds a permission to a role, with the reason for a wildcard that cdk-nag requires. */
export function allow(role: iam.IRole, { wildcard, ...statement }: Permission): void {
  role.addToPrincipalPolicy(new iam.PolicyStatement(statement));
  if (wildcard) for (const resource of statement.resources) acknowledgeWildcard(role, resource, wildcard);
}

/** Part of a table that a role may access. */
interface TablePart {
  /** Patterns of the partition keys. @default - all items */
  readonly keys?: readonly string[];
  /** Indexes that it queries. @default - all; none with `keys`, because an index has other partition keys */
  readonly indexes?: readonly string[];
}

/** Allows these actions on a table, and Query on its indexes. */
export function allowTable(
  role: iam.IRole,
  id: TableId,
  table: dynamodb.ITableV2,
  actions: readonly TableAction[],
  { keys, indexes }: TablePart = {},
): void {
  const queried = actions.includes('Query') && !keys ? TABLES[id].indexes.map(({ name }) => name) : [];
  allow(role, {
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn, ...(indexes ?? queried).map((name) => indexArn(table, name))],
    ...(keys && { conditions: keysLike(keys) }),
  });
  if (id === 'registry') denyAuditChanges(role, table);
}

/** Allows changing jobs and costs of strategies, taking and freeing slots, and removing owners without waiting jobs. */
export function allowQueueChanges(role: iam.IRole, jobs: dynamodb.ITableV2): void {
  const queue = ['#slots#*', '#owners#*'];
  // One statement: taking a slot writes a slot and a job in one transaction.
  const written = [...BACKTEST_KEYS, ...HYPEROPT_KEYS, ...queue, '#costs#*'];
  allowTable(role, 'jobs', jobs, ['PutItem', 'UpdateItem'], { keys: written });
  allowTable(role, 'jobs', jobs, ['DeleteItem'], { keys: queue });
}

/** Allows counting the trials of users. Nothing removes them but the erasure of a user. */
export function allowTrials(role: iam.IRole, jobs: dynamodb.ITableV2): void {
  // Tasks of the release before decision 095 may run at its deployment: they use GetItem.
  allowTable(role, 'jobs', jobs, ['GetItem', 'Query', 'PutItem', 'UpdateItem'], {
    keys: [`${TRIALS_PREFIX}*`],
  });
}

/** Allows deleting jobs that have expired or that users have deleted, with their items and results, and recording how far a pass is. */
export function allowExpiry(role: iam.IRole, jobs: dynamodb.ITableV2, results: s3.IBucket): void {
  allowTable(role, 'jobs', jobs, ['BatchGetItem']);
  allowTable(role, 'jobs', jobs, ['PutItem'], { keys: ['#retention'] });
  allowTable(role, 'jobs', jobs, ['DeleteItem'], {
    keys: [`${BACKTEST_ID_PREFIX}*`, ...HYPEROPT_KEYS, '#deleted', ...SIGNALS_KEYS],
  });
  allowTable(role, 'jobs', jobs, ['UpdateItem'], { keys: SIGNALS_KEYS });
  allowObjects(role, results, ['DeleteObject']);
}

/** Allows processing due challenges: the index of unfinished ones, and the items that a run reads and changes. */
export function allowChallengeProcessing(role: iam.IRole, registry: dynamodb.ITableV2): void {
  allow(role, {
    actions: ['dynamodb:Query'],
    resources: [indexArn(registry, 'active-challenges')],
    conditions: keysLike(['unfinished']),
  });
  // Includes models, requests for approval and the catalog's counts, for validation results and promotions. Excludes idempotency records and the audit trail.
  const keys = ['MODEL#*', 'CHALLENGE#*', 'CATALOG', APPROVAL_PARTITION];
  allowTable(role, 'registry', registry, [...READ_REGISTRY, ...TRANSITION_REGISTRY], { keys });
}

/** Allows finding what uses a series: unfinished jobs, and the rows of the catalog. Nothing else of the registry can be read. */
export function allowSeriesUses(
  role: iam.IRole,
  { jobs, registry }: { readonly jobs: dynamodb.ITableV2; readonly registry: dynamodb.ITableV2 },
): void {
  allow(role, {
    actions: ['dynamodb:Query'],
    resources: [indexArn(jobs, 'by-list-status'), indexArn(registry, 'catalog-by-name')],
  });
  allowTable(role, 'jobs', jobs, ['BatchGetItem'], { keys: [...BACKTEST_KEYS, ...HYPEROPT_KEYS] });
}

function indexArn(table: dynamodb.ITableV2, name: string): string {
  return `${table.tableArn}/index/${name}`;
}

function keysLike(keys: readonly string[]): Permission['conditions'] {
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys.length === 1 ? keys[0]! : [...keys] } };
}

const AUDIT_PARTITIONS = { 'dynamodb:LeadingKeys': 'AUDIT#*' };

/** Allows adding to the audit trail, for roles that use nothing else of its table. */
export function allowAudit(role: iam.IRole, registry: dynamodb.ITableV2): void {
  allow(role, {
    actions: ['dynamodb:PutItem'],
    resources: [registry.tableArn],
    conditions: { 'ForAllValues:StringLike': AUDIT_PARTITIONS },
  });
  denyAuditChanges(role, registry);
}

/**
 * Denies updates and deletions of audit items, regardless of other permissions of a role. Each PutItem call has a condition that
 * prevents replacement; a policy cannot require it.
 */
function denyAuditChanges(role: iam.IRole, { tableArn }: dynamodb.ITableV2): void {
  role.addToPrincipalPolicy(
    new iam.PolicyStatement({
      effect: iam.Effect.DENY,
      actions: ['dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      resources: [tableArn],
      conditions: { 'ForAnyValue:StringLike': AUDIT_PARTITIONS },
    }),
  );
}

/** Objects of a bucket that a role may access. */
interface ObjectPart {
  /** Patterns of the keys. @default - all objects */
  readonly keys?: readonly string[];
  /** ListBucket: without it a missing object returns 403, not 404. @default true */
  readonly list?: boolean;
}

/** Allows these actions on a bucket's objects. */
export function allowObjects(
  role: iam.IRole,
  bucket: s3.IBucket,
  actions: readonly ObjectAction[],
  { keys = ['*'], list = true }: ObjectPart = {},
): void {
  allow(role, {
    actions: actions.map((action) => `s3:${action}`),
    resources: keys.map((key) => bucket.arnForObjects(key)),
    wildcard: 'Keys of objects are data: they are named after jobs, series and tasks.',
  });
  if (list) allow(role, { actions: ['s3:ListBucket'], resources: [bucket.bucketArn] });
}

/** Allows these actions on any task of a cluster. */
export function allowTasks(
  role: iam.IRole,
  cluster: ecs.ICluster,
  actions: readonly ('StopTask' | 'DescribeTasks' | 'TagResource')[],
  conditions?: Permission['conditions'],
): void {
  const resource = `${cluster.clusterName}/*`;
  allow(role, {
    actions: actions.map((action) => `ecs:${action}`),
    resources: [Stack.of(cluster).formatArn({ service: 'ecs', resource: 'task', resourceName: resource })],
    wildcard: 'A task’s ARN exists when it runs; the cluster runs only Touchstone’s tasks.',
    ...(conditions && { conditions }),
  });
}
