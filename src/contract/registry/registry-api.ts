import * as z from 'zod';
import { BacktestResult, ResolvedBacktestConfig } from '../backtests/backtest.ts';
import { given } from '../common/null-fields.ts';
import { nextCursor, paginated } from '../common/page.ts';
import { booleanParameter, integerParameter, PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { LOOK_AHEAD_STATES } from '../config/look-ahead.ts';
import { ALIAS_LIMITS, MAX_NOTE_LENGTH, REGISTRATION_LIMITS } from '../values/registry-limits.ts';
import { MAX_ID_LENGTH, VERSION_PAGE_LIMITS } from '../values/request-limits.ts';
import { WaiveRequest } from './release-policy.ts';
import { Evidence, RegistryEvent, STAGES, Thresholds, Validation, Waiver } from './stored-registry.ts';

/** Requests and responses of the registry: stage transitions and reads. */

export const VersionReference = z.union([z.string(), z.int()]).meta({
  description: 'A version number, or an alias: `latest`, `champion`, or one that users gave',
});

/** A body that names a version as `version` or by a synonym. Without both it lacks `version`. */
function withVersion<T extends z.ZodRawShape>(synonym: string, shape: T) {
  return z
    .looseObject({ version: VersionReference.optional(), ...synonymOf(synonym), ...shape })
    .check(({ value, issues }) => {
      if (value.version !== undefined || (value as Record<string, unknown>)[synonym] !== undefined) return;
      issues.push({ code: 'invalid_type', expected: 'string', input: undefined, path: ['version'] });
    })
    .meta({
      anyOf: ['version', synonym].map((name) => given({ [name]: { type: ['string', 'integer'] } })),
      description: `Requires \`version\` or \`${synonym}\``,
    });
}

function synonymOf(name: string) {
  return { [name]: VersionReference.optional().meta({ description: 'Synonym of `version`' }) };
}

const comment = z
  .string()
  .optional()
  .meta({ description: 'Recorded in the history', maxLength: MAX_NOTE_LENGTH });
const expectedProduction = z.union([VersionReference, z.null()]).optional().meta({
  description: 'Reject with RES005 unless this version is in Production; null: no version is in Production',
});

/** The waiver of a registration. */
const waiveLookAhead = WaiveRequest.optional().meta({
  description:
    'Register a run with a found look-ahead bias: `checks` is `["look_ahead"]`, and `reason` says why. Recorded in the history and the catalog. Role admin',
});

/** Checks of the release policy that one transition may fail. */
export const waive = WaiveRequest.optional().meta({
  description:
    'Checks of the release policy that this transition may fail, and the reason. Recorded in the history. Role admin',
});

export const StageRequest = withVersion('model_version', {
  comment,
  validate_only: z
    .boolean()
    .optional()
    .meta({ description: 'Run the check list and change nothing', default: false }),
  skip_validation: z.boolean().optional().meta({
    description: 'Stage without the check list; the release policy still applies. Role admin',
    default: false,
  }),
  waive,
}).meta({ id: 'StageRequest', examples: [{ version: '1' }] });

export const PromoteRequest = withVersion('model_version', {
  comment,
  expected_production: expectedProduction,
  challenge_id: z.string().optional().meta({
    description: 'Challenge that the version has won, as the caller says',
    maxLength: MAX_ID_LENGTH,
  }),
  force: z.boolean().optional().meta({
    description: 'Promote regardless of the validation; stage and release policy still apply. Role admin',
    default: false,
  }),
  waive,
}).meta({ id: 'PromoteRequest', examples: [{ version: '1' }] });

export const RollbackRequest = z
  .looseObject({
    version: VersionReference.optional().meta({
      description:
        'The version to return to: a number, or an alias. Default: the one that was in Production last before the present one and was never rolled back or stopped; `expected_production` is required then',
    }),
    ...synonymOf('target_version'),
    reason: comment,
    expected_production: expectedProduction,
  })
  .meta({
    id: 'RollbackRequest',
    examples: [{ expected_production: '2', reason: 'Losses since the release' }],
    anyOf: [
      ...['version', 'target_version'].map((name) => given({ [name]: { type: ['string', 'integer'] } })),
      given({ expected_production: { type: ['string', 'integer', 'null'] } }),
    ],
    description: 'Requires `version`, `target_version` or `expected_production`',
  });

export const StopRequest = z
  .looseObject({
    reason: z.string().optional().meta({
      description: 'Why no version trades from now on. Recorded in the history and with the version',
      maxLength: MAX_NOTE_LENGTH,
    }),
    expected_production: expectedProduction,
  })
  .meta({
    id: 'StopRequest',
    // The use case reports a missing and a blank reason alike, as VAL004.
    required: ['reason'],
    examples: [{ reason: 'Losses since the release', expected_production: '1' }],
  });

const tags = z.array(z.string().meta({ maxLength: REGISTRATION_LIMITS.tag })).optional();

export const RegisterRequest = z
  .looseObject({
    backtest_run_id: z.string().meta({ description: '`job_id` of a completed backtest of the strategy' }),
    container_image_uri: z.string().meta({
      description: 'Image that runs the version',
      maxLength: REGISTRATION_LIMITS.container_image_uri,
    }),
    description: z.string().optional().meta({ maxLength: REGISTRATION_LIMITS.description }),
    skip_validation: z.boolean().optional().meta({
      description:
        'Register without comparing the thresholds; the version is marked `skipped`. It waives no look-ahead bias. Role admin',
      default: false,
    }),
    thresholds: z.looseObject(Thresholds.shape).optional().meta({
      description:
        'Required metrics of the backtest; equality passes. Without thresholds the version is marked `skipped`. Unknown ones are ignored and listed in the warnings',
    }),
    tags: tags.meta({ maxItems: REGISTRATION_LIMITS.tags }),
    waive: waiveLookAhead,
  })
  .meta({
    id: 'RegisterRequest',
    examples: [
      {
        backtest_run_id: 'bt-<id>',
        container_image_uri: 'registry.example/touchstone:1.0.0',
        description: 'First candidate',
        thresholds: { min_sharpe: 1, min_profit_factor: 1.2, max_drawdown: 20 },
      },
    ],
  });

export const LabelRequest = z
  .looseObject({
    aliases: z
      .array(z.string().meta({ maxLength: ALIAS_LIMITS.alias }))
      .optional()
      .meta({
        description:
          'Aliases of the version from now on; another version of the model loses them. Letters, digits, `_` and `-`, no number. `latest` and `champion` follow the versions and stages: they have no effect here',
        maxItems: ALIAS_LIMITS.aliases,
      }),
    tags: tags.meta({ description: 'Tags from now on', maxItems: REGISTRATION_LIMITS.tags }),
  })
  .meta({ id: 'LabelRequest', examples: [{ aliases: ['shadow'], tags: ['desk=fx'] }] });

/** A response with warnings about ignored keys of the body, such as a misspelled `expected_production`. */
function withWarnings<T extends z.ZodRawShape>(id: string, result: z.ZodObject<T>) {
  const warnings = z.array(z.string()).meta({ description: 'Ignored keys of the body, and other warnings' });
  return result.extend({ warnings }).meta({ id });
}

/** Warnings of the transition itself, before those on the body. */
interface Warned {
  /** Absent from responses that an earlier release stored under an Idempotency-Key. */
  readonly warnings?: readonly string[];
}

const stage = z.enum(STAGES);
const success = z
  .boolean()
  .meta({ description: 'False only for a check list (`validate_only`) that failed' });
const message = z.string();
const modelName = z.string();
const version = z.string();
const production = z.string().nullable();

const RegisterResult = z.object({
  success,
  message,
  version,
  model_name: modelName,
  stage,
  validation: Validation,
  content_hash: z.string(),
});
export type RegisterResult = z.infer<typeof RegisterResult> & Warned;
export const RegisterResponse = withWarnings('RegisterReply', RegisterResult);

const StageResult = z.object({
  success,
  message,
  previous_stage: stage,
  new_stage: stage,
  model_name: modelName,
  version,
  validation: Validation,
});
export type StageResult = z.infer<typeof StageResult> & Warned;
export const StageResponse = withWarnings('StageReply', StageResult);

const PromoteResult = z.object({
  success,
  message,
  archived_versions: z.array(z.string()),
  previous_stage: stage,
  new_stage: stage,
  model_name: modelName,
  version,
  previous_production: production,
  promoted_at: Timestamp.nullable(),
});
export type PromoteResult = z.infer<typeof PromoteResult> & Warned;
export const PromoteResponse = withWarnings('PromoteReply', PromoteResult);

const RollbackResult = z.object({
  success,
  message,
  previous_production: production.meta({ description: 'null when none was in Production' }),
  new_production: z.string(),
  model_name: modelName,
});
export type RollbackResult = z.infer<typeof RollbackResult> & Warned;
export const RollbackResponse = withWarnings('RollbackReply', RollbackResult);

const StopResult = z.object({
  success,
  message,
  model_name: modelName,
  previous_production: z.string().meta({ description: 'The version that was stopped' }),
  // A type of null alone is none that OpenAPI Generator can write.
  new_production: z.string().nullable().meta({ description: 'Always null' }),
});
export type StopResult = z.infer<typeof StopResult> & Warned;
export const StopResponse = withWarnings('StopReply', StopResult);

export const SameRun = z.object({ version: z.string(), reason: z.string().nullable() }).meta({
  id: 'SameRun',
  description: 'Another version of the same backtest that was rolled back or stopped',
});
export type SameRun = z.infer<typeof SameRun>;

const versionFields = {
  version,
  stage,
  created_at: Timestamp,
  updated_at: Timestamp,
  description: z.string(),
  backtest_run_id: z.string(),
  exchange: z.string().meta({ description: 'Exchange of the backtest; `sim` has simulated candles' }),
  container_image_uri: z.string(),
  image_digest: z.string().nullable(),
  metrics: BacktestResult,
  thresholds: Thresholds.nullable(),
  validation_status: z.string().meta({ description: '`pending`, `passed`, `failed` or `skipped`' }),
  look_ahead: z.enum(LOOK_AHEAD_STATES).meta({ description: 'Result of the look-ahead bias check' }),
  created_by: z.string(),
  staged_at: Timestamp.nullable(),
  promoted_at: Timestamp.nullable(),
  archived_at: Timestamp.nullable(),
  rolled_back: z.boolean(),
  rolled_back_reason: z.string().nullable(),
  stopped: z.boolean().meta({ description: 'A stop took it out of Production' }),
  stopped_reason: z.string().nullable(),
  same_run_as: SameRun.nullable(),
  aliases: z.array(z.string()).meta({ description: '`latest`, `champion`, and those that users gave' }),
  tags: z.array(z.string()),
  trials: z.int().meta({
    description:
      'Trials to find this configuration: of its hyperopt job, or of the owner of the backtest if they are more',
  }),
  evidence: Evidence.nullable().meta({ description: 'null: registered before it was kept' }),
  waivers: z.array(Waiver).meta({ description: 'Checks that admins waived, oldest first' }),
  candle_digest: z.string(),
  strategy_digest: z.string(),
  engine_version: z.string(),
  content_hash: z.string().meta({ description: 'sha-256 of what the version is made of: it never changes' }),
};

const ModelVersion = z.object(versionFields).meta({ id: 'ModelVersion' });
export type ModelVersion = z.infer<typeof ModelVersion>;

export const ModelVersionDetail = z
  .object({
    model_name: modelName,
    ...versionFields,
    config: ResolvedBacktestConfig,
    validation: Validation,
  })
  .meta({ id: 'ModelVersionDetail' });
export type ModelVersionDetail = z.infer<typeof ModelVersionDetail>;

export const ModelVersionList = z
  .object({
    model_name: modelName,
    versions: z.array(ModelVersion).meta({ description: 'Newest number first' }),
    count: z.int().meta({ description: 'Length of `versions`' }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'ModelVersionList' });

const ModelEvent = RegistryEvent.omit({ schema_version: true, model_name: true })
  .extend({ waiver: RegistryEvent.shape.waiver.removeDefault() })
  .meta({ id: 'ModelEvent' });
export const ModelHistory = paginated(ModelEvent).meta({ id: 'ModelHistory' });

export const ProductionAt = z
  .object({
    model_name: modelName,
    at: Timestamp,
    version: production.meta({ description: 'Version in Production at that time; null without one' }),
  })
  .meta({ id: 'ProductionAt' });
export type ProductionAt = z.infer<typeof ProductionAt>;

const ProductionPeriod = z
  .object({
    version: production.meta({ description: 'null: no version was in Production' }),
    from: Timestamp,
    to: Timestamp.meta({ description: 'Exclusive' }),
    action: RegistryEvent.shape.action.nullable().meta({
      description:
        'Change that began the period, also when that was before `from`; null before the first version in Production',
    }),
    actor: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'ProductionPeriod' });
export type ProductionPeriod = z.infer<typeof ProductionPeriod>;

export const ProductionPeriods = z
  .object({
    model_name: modelName,
    from: Timestamp,
    to: Timestamp.meta({ description: 'Exclusive; the time of the request when that is earlier' }),
    periods: z
      .array(ProductionPeriod)
      .meta({ description: 'From `from` to `to` without gaps, oldest first' }),
  })
  .meta({ id: 'ProductionPeriods' });
export type ProductionPeriods = z.infer<typeof ProductionPeriods>;

const NAME = 'Name of the strategy: a model is named as its strategy';
export const StrategyNameParams = z.object({ name: stringParameter(100, NAME) });
export const ModelParams = z.object({ model_name: stringParameter(100, NAME) });
export const ModelVersionParams = ModelParams.extend({
  version: stringParameter(
    100,
    'A version number, or an alias: `latest`, `champion`, or one that users gave',
  ),
});

export const VersionsQuery = z.object({
  include_archived: booleanParameter('Archived versions too').default(true),
  limit: integerParameter({
    ...VERSION_PAGE_LIMITS,
    description: 'Maximum number of versions on a page; a page is at most 5 MB',
  }).default(VERSION_PAGE_LIMITS.default),
  cursor: PAGE_FIELDS.cursor,
});

export const HistoryQuery = z.object({
  ...PAGE_FIELDS,
});

export const ProductionQuery = z.object({
  at: stringParameter(40, 'ISO 8601; without an offset it is UTC. Default now').optional(),
  from: stringParameter(
    40,
    'Instead of `at`: periods from this time. Default: creation of the model',
  ).optional(),
  to: stringParameter(40, 'Periods up to this time, exclusive. Default now').optional(),
});

const requirement = (description: string) => z.number().nullable().meta({ description });

/** What this platform requires of releases; null: not required. */
export const ReleaseRulesView = z
  .object({
    four_eyes: z
      .boolean()
      .meta({ description: 'The user who registered a version may not promote or approve it' }),
    validation_required: z
      .boolean()
      .meta({ description: 'Only versions whose validation passed enter Production' }),
    rollback_reason_required: z.boolean(),
    release_policy: z.object({
      min_trades: requirement('Trades of the backtest'),
      min_days: requirement('Days from the first traded candle to the end of the candles'),
      max_evidence_age_days: requirement('Days since the end of the candles'),
      min_sharpe: requirement('Sharpe ratio'),
      min_profit_factor: requirement('Profit factor'),
      max_drawdown: requirement('Percent'),
      min_deflated_sharpe: requirement('Deflated Sharpe ratio, 0 to 1'),
      look_ahead_certificate: z
        .boolean()
        .meta({ description: 'Only versions that are certified free of look-ahead bias enter Production' }),
    }),
  })
  .meta({ id: 'ReleaseRules' });
export type ReleaseRulesView = z.infer<typeof ReleaseRulesView>;
