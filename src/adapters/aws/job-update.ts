import { type JobKind, type JobStatus, VALIDATION_ID_PREFIX } from '#contract/backtest.ts';
import { HYPEROPT_ID_PREFIX, STUDY_KIND } from '#contract/hyperopt.ts';

/** A change of a job that is one conditional write. */
export interface JobChange {
  /** Attributes to set. */
  readonly set: Readonly<Record<string, unknown>>;
  readonly status?: JobStatus;
  readonly add?: readonly string[];
  readonly append?: { readonly warnings: readonly string[] };
  /** The change happens only from these states ... */
  readonly from: readonly JobStatus[];
  /** ... and, when given, only while this is the job's attempt. */
  readonly attempt?: number | undefined;
  /** ... and while these attributes have these values. */
  readonly where?: Readonly<Record<string, unknown>>;
}

/** The kind of job that an id names. */
function kindOf(jobId: string): JobKind | typeof STUDY_KIND {
  if (jobId.startsWith(HYPEROPT_ID_PREFIX)) return STUDY_KIND;
  return jobId.startsWith(VALIDATION_ID_PREFIX) ? 'validation' : 'backtest';
}

/** The update of a job's item that makes the change. */
export function updateOf(jobId: string, change: JobChange) {
  const set = {
    ...change.set,
    ...(change.status && { status: change.status, kind_status: `${kindOf(jobId)}#${change.status}` }),
  };
  const names: Record<string, string> = { '#status': 'status' };
  const values: Record<string, unknown> = { ':one': 1 };
  const assignments = Object.entries(set).map(([name, value]) => {
    names[`#${name}`] = name;
    values[`:${name}`] = value;
    return `#${name} = :${name}`;
  });
  if (change.append) {
    values[':appended'] = change.append.warnings;
    assignments.push('warnings = list_append(warnings, :appended)');
  }
  const states = change.from.map((status) => {
    values[`:from_${status}`] = status;
    return `:from_${status}`;
  });
  const conditions = [`#status IN (${states.join(', ')})`];
  if (change.attempt !== undefined) {
    names['#attempt'] = 'attempt';
    values[':attempt'] = change.attempt;
    conditions.push('#attempt = :attempt');
  }
  for (const [name, value] of Object.entries(change.where ?? {})) {
    names[`#${name}`] = name;
    values[`:where_${name}`] = value;
    conditions.push(`#${name} = :where_${name}`);
  }
  const added = ['revision', ...(change.add ?? [])].map((name) => `${name} :one`);
  return {
    UpdateExpression: `SET ${assignments.join(', ')} ADD ${added.join(', ')}`,
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW' as const,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}
