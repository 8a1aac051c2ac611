import { Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { TABLES, type TableId } from '#contract/tables.ts';
import { acknowledgeWildcard } from './acknowledge.ts';

/** No Scan: nothing here reads a whole table. */
export type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem';
/** What a move of the registry takes: its one read, and its one transaction. */
export const MOVE_REGISTRY = ['BatchGetItem', 'PutItem', 'UpdateItem'] as const satisfies TableAction[];
/** What lists and the health probe take. Of the indexes each role names its own. */
export const READ_REGISTRY = ['GetItem', 'Query'] as const satisfies TableAction[];

export type ObjectAction = 'GetObject' | 'PutObject';

export interface Permission {
  readonly actions: string[];
  readonly resources: string[];
  /** @default - none */
  readonly conditions?: Record<string, Record<string, string | string[]>>;
  /** Why the resources have a wildcard. @default - they have none */
  readonly wildcard?: string;
}

/** Adds a permission to a role, with its reason for a wildcard where cdk-nag asks for one. */
export function allow(role: iam.IRole, { wildcard, ...statement }: Permission): void {
  role.addToPrincipalPolicy(new iam.PolicyStatement(statement));
  if (wildcard) for (const resource of statement.resources) acknowledgeWildcard(role, resource, wildcard);
}

/** What of a table a role reaches. */
export interface Only {
  /** Items whose partition key is like one of these. @default - all */
  readonly keys?: readonly string[];
  /** Indexes that it queries. @default - all, but none with `keys`: theirs are others */
  readonly indexes?: readonly string[];
}

/** These calls on a table, and queries on its indexes too, each named. */
export function allowTable(
  role: iam.IRole,
  id: TableId,
  table: dynamodb.ITableV2,
  actions: readonly TableAction[],
  { keys, indexes }: Only = {},
): void {
  const queried = actions.includes('Query') && !keys ? TABLES[id].indexes.map(({ name }) => name) : [];
  allow(role, {
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn, ...(indexes ?? queried).map((name) => indexArn(table, name))],
    ...(keys && { conditions: keysLike(keys) }),
  });
  if (id === 'registry') keepAudit(role, table);
}

/** Time passes for challenges: the index of those to which it can still do something, and what a tick reads and changes. */
export function allowTicks(role: iam.IRole, registry: dynamodb.ITableV2): void {
  allow(role, {
    actions: ['dynamodb:Query'],
    resources: [indexArn(registry, 'active-challenges')],
    conditions: keysLike(['unfinished']),
  });
  // Models and the catalog's counts too, as validations are recorded and winners promoted there. No replies, no audit.
  const keys = ['MODEL#*', 'CHALLENGE#*', 'CATALOG'];
  allowTable(role, 'registry', registry, [...READ_REGISTRY, ...MOVE_REGISTRY], { keys });
}

function indexArn(table: dynamodb.ITableV2, name: string): string {
  return `${table.tableArn}/index/${name}`;
}

function keysLike(keys: readonly string[]): Permission['conditions'] {
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys.length === 1 ? keys[0]! : [...keys] } };
}

const AUDIT_PARTITIONS = { 'dynamodb:LeadingKeys': 'AUDIT#*' };

/** Adding to the audit trail, for who does nothing else with the table that holds it. */
export function allowAudit(role: iam.IRole, registry: dynamodb.ITableV2): void {
  allow(role, {
    actions: ['dynamodb:PutItem'],
    resources: [registry.tableArn],
    conditions: { 'ForAllValues:StringLike': AUDIT_PARTITIONS },
  });
  keepAudit(role, registry);
}

/**
 * Nothing of the audit trail is changed or removed, whatever else a role is allowed. That PutItem replaces nothing is a
 * condition of each call, which policies cannot ask for.
 */
function keepAudit(role: iam.IRole, { tableArn }: dynamodb.ITableV2): void {
  role.addToPrincipalPolicy(
    new iam.PolicyStatement({
      effect: iam.Effect.DENY,
      actions: ['dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      resources: [tableArn],
      conditions: { 'ForAnyValue:StringLike': AUDIT_PARTITIONS },
    }),
  );
}

/** These calls on a bucket's objects. Listing comes with them: without it an absent object would answer 403, not 404. */
export function allowObjects(role: iam.IRole, bucket: s3.IBucket, actions: readonly ObjectAction[]): void {
  allow(role, {
    actions: actions.map((action) => `s3:${action}`),
    resources: [bucket.arnForObjects('*')],
    wildcard: 'The bucket holds one kind of object, all of them this role’s business; their keys are data.',
  });
  allow(role, { actions: ['s3:ListBucket'], resources: [bucket.bucketArn] });
}

/** These calls on any task of a cluster. */
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
    wildcard: 'A task’s ARN exists when it runs; the cluster runs nothing but Touchstone’s tasks.',
    ...(conditions && { conditions }),
  });
}
