import { DIRECTIONS, type HyperoptJobConfig } from '#contract/hyperopt/hyperopt.ts';
import {
  HYPEROPT_DEFAULTS as DEFAULTS,
  type HyperoptRequest,
  HYPEROPT_LIMITS as LIMITS,
} from '#contract/hyperopt/hyperopt-request.ts';
import { CodedError } from '#contract/values/errors.ts';
import { NAMED_CONSTRAINTS } from '#contract/values/hyperopt-limits.ts';
import { nearestName } from '#contract/values/nearest-name.ts';
import type { Constraint } from '#engine/search/constraints.ts';
import { ExpressionError } from '#engine/walk-forward/objective-expression.ts';
import { findObjective, OBJECTIVES, parseObjective } from '#engine/walk-forward/objectives.ts';
import { checkCount, checkNumber, checkOneOf } from '../shared/validate.ts';

/**
 * Objective of a job: a metric, or an expression of metrics, which says no direction of improvement.
 * Throws VAL005 with the position of a problem, VAL004 for an expression without `direction`.
 */
export function resolveObjective(
  input: Pick<HyperoptRequest, 'objective_metric' | 'direction'>,
): Pick<HyperoptJobConfig, 'objective_metric' | 'direction'> {
  const text = input.objective_metric ?? DEFAULTS.objective_metric;
  const metric = findObjective(text);
  if (metric) {
    const direction = checkOneOf(input.direction ?? metric.better ?? 'maximize', 'direction', DIRECTIONS);
    return { objective_metric: metric.name, direction };
  }
  checkExpression(text);
  if (input.direction === undefined) {
    throw new CodedError('VAL004', {
      message: `direction is required with an expression: pass ${DIRECTIONS.join(' or ')}`,
      field: 'direction',
      context: { allowed: DIRECTIONS },
    });
  }
  return { objective_metric: text.trim(), direction: checkOneOf(input.direction, 'direction', DIRECTIONS) };
}

const METRIC_NAMES = OBJECTIVES.map(({ name }) => name);

/** Throws VAL005. */
function checkExpression(text: string): void {
  try {
    parseObjective(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { position } = error;
    const name = /^[a-z_]\w{0,59}/i.exec(text.slice(position, position + 60))?.[0];
    const nearest = name === undefined ? undefined : nearestName(name, METRIC_NAMES);
    throw new CodedError('VAL005', {
      message: `objective_metric must be a metric of a backtest or an expression of metrics. ${error.message}${nearest ? `; did you mean ${nearest}?` : ''}`,
      field: 'objective_metric',
      context: { value: text.slice(0, 100), position, ...(nearest && { nearest }), allowed: METRIC_NAMES },
      cause: error,
    });
  }
}

/** Constraints of the trials, one for each limit: of an object of named ones, or of a list. Throws VAL005. */
export function resolveConstraints(asked: unknown): Constraint[] {
  if (asked === undefined || asked === null) return [];
  if (isObject(asked)) return namedConstraints(asked);
  if (!Array.isArray(asked)) throw invalid('constraints', 'constraints must be an object or a list', {});
  checkCount(asked.length, 'constraints', LIMITS.constraints, 'entries');
  return asked.flatMap((entry: unknown, index) => {
    const field = `constraints.${index}`;
    if (!isObject(entry)) throw invalid(field, `${field} must be an object`, {});
    return listedConstraints(entry, field);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const NAMES = Object.keys(NAMED_CONSTRAINTS) as (keyof typeof NAMED_CONSTRAINTS)[];

/** A limit of the object is above 0, and a miss counts relative to it. */
function namedConstraints(asked: Readonly<Record<string, unknown>>): Constraint[] {
  checkKeys(asked, NAMES, 'constraints');
  return NAMES.flatMap((name) => {
    if (asked[name] === undefined) return [];
    const field = `constraints.${name}`;
    const limit = limitOf(asked, name, 'constraints') ?? 0;
    if (limit <= 0)
      throw invalid(field, `${field} must be above 0: leave it out for no limit`, { value: limit });
    return [{ ...NAMED_CONSTRAINTS[name], limit, divisor: limit }];
  });
}

/** A limit of the list is any number, also 0: a miss counts relative to its size, at least to 1. */
function listedConstraints(entry: Readonly<Record<string, unknown>>, field: string): Constraint[] {
  checkKeys(entry, ['metric', 'min', 'max'], field);
  const { metric } = entry;
  const found = typeof metric === 'string' ? findObjective(metric) : undefined;
  if (!found) {
    const name = String(metric).slice(0, 100);
    const nearest = nearestName(name.slice(0, 60), METRIC_NAMES);
    throw invalid(
      `${field}.metric`,
      `${field}.metric must be a metric of a backtest${nearest ? `; did you mean ${nearest}?` : ''}`,
      { value: name, allowed: METRIC_NAMES },
    );
  }
  const [min, max] = (['min', 'max'] as const).map((bound) => limitOf(entry, bound, field));
  if (min === undefined && max === undefined)
    throw invalid(field, `${field} needs min or max`, { metric: found.name });
  if (min !== undefined && max !== undefined && min > max) {
    throw invalid(field, `${field} has a min above its max, which no trial keeps: swap them`, { min, max });
  }
  return (
    [
      ['min', min],
      ['max', max],
    ] as const
  ).flatMap(([bound, limit]) =>
    limit === undefined ? [] : [{ metric: found.name, bound, limit, divisor: Math.max(Math.abs(limit), 1) }],
  );
}

/** Limit of an entry; undefined without one, which null is too. */
function limitOf(entry: Readonly<Record<string, unknown>>, bound: string, field: string): number | undefined {
  const limit = entry[bound] ?? undefined;
  if (limit === undefined) return undefined;
  if (typeof limit === 'number') return checkNumber(limit, `${field}.${bound}`);
  throw invalid(`${field}.${bound}`, `${field}.${bound} must be a number`, {
    value: String(limit).slice(0, 100),
  });
}

/** Throws VAL005 for an unknown key: a misspelled limit would otherwise be ignored. */
function checkKeys(asked: Readonly<Record<string, unknown>>, known: readonly string[], field: string): void {
  const unknown = Object.keys(asked).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown.slice(0, 60), known);
  const name = `${field}.${unknown.slice(0, 60)}`;
  throw invalid(name, `${name} is not known${nearest ? `; did you mean ${nearest}?` : ''}`, {
    allowed: known,
  });
}

function invalid(field: string, message: string, context: Readonly<Record<string, unknown>>): CodedError {
  return new CodedError('VAL005', { message, field, context });
}
