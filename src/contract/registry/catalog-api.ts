import * as z from 'zod';
import { paginated } from '../common/page.ts';
import { integerParameter, numberParameter, pageLimit, stringParameter } from '../common/parameters.ts';

import { LOOK_AHEAD_STATES } from '../config/look-ahead.ts';

import { UNDEFINED_REASONS, type UndefinedReason } from '../values/undefined-metrics.ts';
import { SameRun } from './registry-api.ts';
import { CatalogRow } from './stored-registry.ts';

/** Requests and responses of the catalog and of the comparison of two versions. */

/** Highest offset: 15 digits, the longest integer that a parameter holds. */
const MAX_OFFSET = 999_999_999_999_999;

export const CatalogQuery = z.object({
  stage: z
    .enum(['Production', 'Staging'])
    .optional()
    .meta({ description: 'Only versions in this stage; default both' }),
  exchange: stringParameter(40, 'Only strategies on this exchange').optional(),
  timeframe: stringParameter(10, 'Only strategies on this timeframe').optional(),
  search: stringParameter(
    200,
    'Only versions with this text in name, description, tags or pairs, in either case',
  ).optional(),
  min_sharpe: numberParameter('Smallest Sharpe ratio; an undefined one is never enough').optional(),
  max_drawdown: numberParameter('Largest drawdown, percent; of either sign').optional(),
  sort_field: z.enum(['name', 'sharpe', 'drawdown']).default('name').meta({
    description:
      'drawdown sorts by magnitude; undefined values come last in both orders, and versions with a found look-ahead bias after them',
  }),
  sort_order: z.enum(['asc', 'desc']).default('asc').meta({ description: 'Ascending or descending' }),
  limit: pageLimit,
  offset: integerParameter({
    min: 0,
    max: MAX_OFFSET,
    description: 'Items before the page; an empty page beyond the end. Not together with `cursor`',
  }).default(0),
  cursor: stringParameter(
    4096,
    '`next_cursor` of the previous page, with the same filters and order',
  ).optional(),
});

export const CatalogStrategy = CatalogRow.extend({
  waivers: CatalogRow.shape.waivers.removeDefault(),
  active_challenge_id: z.string().nullable().meta({ description: 'Active challenge of the model' }),
  same_run_as: SameRun.nullable(),
}).meta({ id: 'CatalogStrategy', description: 'A version in Production or Staging.' });
export type CatalogStrategy = z.infer<typeof CatalogStrategy>;

export const CatalogStrategyList = paginated(CatalogStrategy)
  .extend({
    total: z.int().meta({ description: 'Items that pass the filters, on all pages' }),
    limit: z.int(),
    offset: z.int().meta({ description: 'Items before this page' }),
  })
  .meta({ id: 'CatalogStrategyList' });

export const CompareParams = z.object({ name: stringParameter(100, 'Name of the strategy') });

const versionParameter = (role: string) =>
  stringParameter(20, `${role}: a version number, \`latest\` or \`champion\``);

export const CompareQuery = z.object({
  version_a: versionParameter('The champion'),
  version_b: versionParameter('The challenger'),
});

const Reason = z.enum(Object.keys(UNDEFINED_REASONS) as [UndefinedReason, ...UndefinedReason[]]);

const ComparedMetric = z
  .object({
    a: z.number(),
    b: z.number(),
    improvement: z.number().meta({
      description:
        'Percent of the magnitude of `a`; positive: b is better. Without a direction the relative change. When `a` is 0: 0, 100 or -100',
    }),
    direction: z
      .enum(['higher', 'lower', 'none'])
      .meta({ description: 'Direction of better values; `none` is not counted' }),
    reasons: z.object({ a: Reason.nullable(), b: Reason.nullable() }).optional().meta({
      description: 'Why a value is undefined, where its number stands for none; absent where both are values',
    }),
    notes: z.array(z.enum(['baseline_near_zero', 'no_losses', 'undefined_a', 'undefined_b'])).meta({
      description:
        '`no_losses`: a profit factor without losing trades is 999. `undefined_a`, `undefined_b`: the number stands for an undefined value, so the improvement is 0',
    }),
  })
  .meta({ id: 'ComparedMetric' });

const Guardrail = z
  .object({
    name: z.enum(['max_drawdown_pct', 'profit_factor', 'sharpe_ratio']),
    status: z
      .enum(['passed', 'broken', 'undefined'])
      .meta({ description: '`undefined`: the value of b is undefined, so it does not pass either' }),
    value: z.number().meta({ description: 'Improvement in percent, of profit_factor its value in b' }),
    threshold: z.number(),
    message: z.string(),
  })
  .meta({ id: 'ComparisonGuardrail' });

export const VersionComparison = z
  .object({
    model_name: z.string(),
    version_a: z.string().meta({ description: 'The champion' }),
    version_b: z.string().meta({ description: 'The challenger' }),
    decision: z
      .enum(['PROMOTE', 'REJECT', 'INCONCLUSIVE'])
      .meta({ description: 'Decision about the challenger' }),
    confidence: z
      .number()
      .meta({ description: '0 to 1: probability that the mean trade differs in the decided direction' }),
    confidence_method: z.enum(['welch', 'metric_agreement']).meta({
      description:
        "`welch`: Welch's test on profit_pct of all trades of both backtests. `metric_agreement`, where a trade list is too short or does not vary: share of the metrics with a direction that agree",
    }),
    exchange: z.object({ a: z.string(), b: z.string() }).meta({ description: 'Exchange of each backtest' }),
    look_ahead: z.object({ a: z.enum(LOOK_AHEAD_STATES), b: z.enum(LOOK_AHEAD_STATES) }).meta({
      description:
        'Result of the look-ahead bias check of each. `found` in b is rejected; in a it makes the comparison inconclusive',
    }),
    sample_sizes: z.object({ a: z.int(), b: z.int() }).meta({ description: 'Trades of each' }),
    comparable: z.boolean().meta({ description: 'True for the same market, timeframe and date range' }),
    differences: z
      .array(z.object({ field: z.string(), a: z.string(), b: z.string() }))
      .meta({ description: 'Differences that prevent a comparison' }),
    metrics: z.record(z.string(), ComparedMetric),
    guardrails: z.array(Guardrail),
    recommendation: z.string(),
    warnings: z.array(z.string()).meta({ description: 'Differences that bias the comparison' }),
  })
  .meta({ id: 'VersionComparison' });
export type VersionComparison = z.infer<typeof VersionComparison>;
