import * as z from 'zod';
import { integerParameter, listParameter, stringParameter } from '../common/parameters.ts';
import { ALIAS_LIMITS, MLFLOW_LIMITS, REGISTRATION_LIMITS } from '../values/registry-limits.ts';

/**
 * Requests and responses of MLflow's REST API 2.0, as far as Touchstone serves it. Names, shapes and casing are MLflow's:
 * https://mlflow.org/docs/latest/rest-api.html. Times are milliseconds since 1970, numbers of versions are strings.
 */

/** Experiment of the jobs that were submitted without one. */
export const DEFAULT_EXPERIMENT = { id: '0', name: 'Default' } as const;

const { max_results, filter, order_by } = MLFLOW_LIMITS;

const tokens = {
  description: '`next_page_token` of the previous page, with the same filters',
};
const filterText =
  'Comparisons joined by AND, such as `metrics.sharpe_ratio > 1 AND params.strategy = "ema_crossover"`. Operators: =, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN';

/** Page of a list in a query. An empty parameter is one that is not given: the client sends all of them. */
const QUERY_PAGE = {
  filter: z.string().max(filter.max).optional().meta({ description: filterText }),
  max_results: integerParameter({ ...max_results, description: 'Maximum number of items on a page' }).default(
    max_results.default,
  ),
  order_by: listParameter({
    maxItems: order_by.max,
    maxLength: filter.max,
    description: 'Fields, each with ASC or DESC, such as `name DESC`',
  }).optional(),
  page_token: z.string().max(4096).optional().meta(tokens),
};

/** An integer, also in digits: protobuf, and so the client for Java, writes 64-bit integers as texts in JSON. */
function int64() {
  const isDigits = (value: unknown) => typeof value === 'string' && /^-?\d{1,15}$/.test(value);
  return z.preprocess((value) => (isDigits(value) ? Number(value) : value), z.int());
}

/** Page of a list in a body. */
const BODY_PAGE = {
  filter: z.string().optional().meta({ description: filterText, maxLength: filter.max }),
  max_results: int64().optional().meta({
    description: 'Maximum number of items on a page; a text of digits too',
    minimum: max_results.min,
    maximum: max_results.max,
  }),
  order_by: z
    .array(z.string())
    .optional()
    .meta({ description: 'Fields, each with ASC or DESC', maxItems: order_by.max }),
  page_token: z.string().optional().meta(tokens),
};

const modelName = stringParameter(100, 'Name of the model: that of its strategy');
const versionNumber = stringParameter(100, 'Number of the version');

export const MlflowModelsQuery = z.object(QUERY_PAGE);
export const MlflowModelQuery = z.object({ name: modelName });
export const MlflowAliasQuery = z.object({
  name: modelName,
  alias: stringParameter(100, '`champion`, `latest`, or one that users gave'),
});
export const MlflowVersionQuery = z.object({ name: modelName, version: versionNumber });

const stages = { description: 'Names of stages, in any case. Default: every stage' };
export const MlflowLatestVersionsRequest = z.looseObject({
  name: z.string(),
  stages: z.array(z.string()).optional().meta(stages),
});
export const MlflowLatestVersionsQuery = z.object({
  name: modelName,
  stages: listParameter({ maxItems: 100, ...stages }).optional(),
});

export const MlflowTransitionRequest = z
  .looseObject({
    name: z.string(),
    version: z.string(),
    stage: z.string().meta({
      description:
        '`Staging`, `Production` or `Archived`: from Archived to Production is a rollback, from Production to Archived a stop',
    }),
    archive_existing_versions: z.boolean().optional().meta({
      description:
        'A model has one version in Production, and the one before is archived: `false` is refused while there is another one. Has no effect on Staging. Default: true',
    }),
  })
  .meta({ id: 'MlflowTransitionRequest' });

const versionFields = { name: z.string(), version: z.string() };
const tagKey = z.string().meta({ description: 'Letters, digits, spaces and `_ - . / :`' });
const requestTags = z.array(z.looseObject({ key: z.string(), value: z.string().default('') })).optional();

export const MlflowAliasRequest = z
  .looseObject({ ...versionFields, alias: z.string().meta({ maxLength: ALIAS_LIMITS.alias }) })
  .meta({ id: 'MlflowAliasRequest' });
export const MlflowAliasDeletion = z
  .looseObject({ name: z.string(), alias: z.string() })
  .meta({ id: 'MlflowAliasDeletion' });
export const MlflowTagRequest = z
  .looseObject({
    ...versionFields,
    key: tagKey,
    value: z
      .string()
      .optional()
      .meta({ description: `With the key and \`=\` up to ${REGISTRATION_LIMITS.tag} characters` }),
  })
  .meta({ id: 'MlflowTagRequest' });
export const MlflowTagDeletion = z
  .looseObject({ ...versionFields, key: tagKey })
  .meta({ id: 'MlflowTagDeletion' });

export const MlflowModelRequest = z
  .looseObject({
    name: z.string().meta({ description: 'Name of a strategy' }),
    tags: requestTags.meta({ description: 'Not stored: tag a version' }),
    description: z.string().optional().meta({ description: 'Not stored: describe a version' }),
  })
  .meta({ id: 'MlflowModelRequest' });

export const MlflowVersionRequest = z
  .looseObject({
    name: z.string().meta({ description: 'Name of a strategy' }),
    source: z.string().optional().meta({
      description: 'Artifacts of the backtest: `mlflow-artifacts:/bt-<id>` or `runs:/bt-<id>`',
    }),
    run_id: z.string().optional().meta({ description: 'The backtest. Default: that of the source' }),
    tags: requestTags.meta({
      description: '`touchstone.container_image_uri` is the image that runs the version, not a tag',
    }),
    description: z.string().optional().meta({ maxLength: REGISTRATION_LIMITS.description }),
  })
  .meta({ id: 'MlflowVersionRequest' });

const viewType = z.string().optional().meta({ description: '`DELETED_ONLY` finds none' });
export const MlflowExperimentsRequest = z.looseObject({ ...BODY_PAGE, view_type: viewType });
export const MlflowExperimentsQuery = z.object({ ...QUERY_PAGE, view_type: viewType });
export const MlflowExperimentQuery = z.object({
  experiment_id: stringParameter(300, 'ID of the experiment'),
});
export const MlflowExperimentNameQuery = z.object({
  experiment_name: stringParameter(200, 'Name of the experiment'),
});

export const MlflowRunsRequest = z.looseObject({
  ...BODY_PAGE,
  experiment_ids: z
    .array(z.string())
    .optional()
    .meta({ description: 'Experiments of the runs. Default: all of them' }),
  run_view_type: viewType,
});
export const MlflowRunQuery = z.object({
  run_id: stringParameter(100, 'ID of a backtest or hyperopt job, or of a trial: `<job>_<number>`'),
});
export const MlflowMetricQuery = MlflowRunQuery.extend({
  metric_key: stringParameter(250, 'Name of the metric'),
  page_token: z.string().max(4096).optional().meta(tokens),
});
export const MlflowArtifactsQuery = z.object({
  path: stringParameter(200, 'ID of a backtest, alone or with `/model` or `/<file>`').optional(),
});
export const MlflowArtifactParams = z.object({
  job_id: stringParameter(100, 'ID of a backtest'),
  file: stringParameter(100, 'Name of a file of the list'),
});

export const MlflowLoggedModelsRequest = z.looseObject({
  experiment_ids: z.array(z.string()).optional(),
  filter: z.string().optional(),
  page_token: z.string().optional(),
});

const milliseconds = z.int().meta({ description: 'Milliseconds since 1970' });

const KeyValue = z.object({ key: z.string(), value: z.string() });
export type KeyValue = z.infer<typeof KeyValue>;

export const MlflowVersion = z
  .object({
    name: z.string(),
    version: z.string(),
    creation_timestamp: milliseconds,
    last_updated_timestamp: milliseconds,
    user_id: z.string(),
    current_stage: z.string(),
    description: z.string(),
    source: z.string().meta({ description: 'Artifacts of the backtest' }),
    run_id: z.string().meta({ description: 'Backtest that was registered' }),
    status: z.enum(['READY']),
    tags: z.array(KeyValue),
    aliases: z.array(z.string()),
  })
  .meta({ id: 'MlflowModelVersion' });
export type MlflowVersion = z.infer<typeof MlflowVersion>;

export const MlflowModel = z
  .object({
    name: z.string(),
    creation_timestamp: milliseconds,
    last_updated_timestamp: milliseconds,
    user_id: z.string(),
    description: z.string(),
    latest_versions: z.array(MlflowVersion).meta({ description: 'Newest version of each stage' }),
    tags: z.array(KeyValue),
    aliases: z.array(z.object({ alias: z.string(), version: z.string() })),
  })
  .meta({ id: 'MlflowRegisteredModel' });
export type MlflowModel = z.infer<typeof MlflowModel>;

export const MlflowExperiment = z
  .object({
    experiment_id: z.string(),
    name: z.string(),
    artifact_location: z.string(),
    lifecycle_stage: z.enum(['active']),
    last_update_time: milliseconds.meta({ description: 'Submission of its newest job; 0: unknown' }),
    tags: z.array(KeyValue),
  })
  .meta({ id: 'MlflowExperiment' });
export type MlflowExperiment = z.infer<typeof MlflowExperiment>;

const RUN_STATUSES = ['SCHEDULED', 'RUNNING', 'FINISHED', 'FAILED', 'KILLED'] as const;
export type MlflowRunStatus = (typeof RUN_STATUSES)[number];

const MlflowMetric = z
  .object({ key: z.string(), value: z.number(), timestamp: milliseconds, step: z.int() })
  .meta({ id: 'MlflowMetric' });
export type MlflowMetric = z.infer<typeof MlflowMetric>;

export const MlflowRun = z
  .object({
    info: z.object({
      run_id: z.string(),
      run_uuid: z.string().meta({ description: 'Same as `run_id`' }),
      run_name: z.string(),
      experiment_id: z.string(),
      user_id: z.string(),
      status: z.enum(RUN_STATUSES),
      start_time: milliseconds,
      end_time: milliseconds.meta({ description: '0 until the run ends' }),
      artifact_uri: z.string(),
      lifecycle_stage: z.enum(['active']),
    }),
    data: z.object({
      metrics: z.array(MlflowMetric),
      params: z.array(KeyValue),
      tags: z.array(KeyValue),
    }),
  })
  .meta({ id: 'MlflowRun' });
export type MlflowRun = z.infer<typeof MlflowRun>;

const page = { next_page_token: z.string().meta({ description: 'Empty at the end' }) };

export const MlflowModelList = z
  .object({ registered_models: z.array(MlflowModel), ...page })
  .meta({ id: 'MlflowModelList' });
export const MlflowModelAnswer = z
  .object({ registered_model: MlflowModel })
  .meta({ id: 'MlflowModelAnswer' });
export const MlflowVersionList = z
  .object({ model_versions: z.array(MlflowVersion) })
  .meta({ id: 'MlflowVersionList' });
export const MlflowVersionPage = MlflowVersionList.extend(page).meta({ id: 'MlflowVersionPage' });
export const MlflowVersionAnswer = z
  .object({ model_version: MlflowVersion })
  .meta({ id: 'MlflowVersionAnswer' });
export const MlflowNothing = z.object({}).meta({ id: 'MlflowNothing' });
export const MlflowUri = z.object({ artifact_uri: z.string() }).meta({ id: 'MlflowUri' });
export const MlflowExperimentList = z
  .object({ experiments: z.array(MlflowExperiment), ...page })
  .meta({ id: 'MlflowExperimentList' });
export const MlflowExperimentAnswer = z
  .object({ experiment: MlflowExperiment })
  .meta({ id: 'MlflowExperimentAnswer' });
export const MlflowRunList = z.object({ runs: z.array(MlflowRun), ...page }).meta({ id: 'MlflowRunList' });
export const MlflowLoggedModelList = z
  .object({ models: z.array(z.looseObject({})).meta({ description: 'Empty' }), ...page })
  .meta({ id: 'MlflowLoggedModelList' });
export const MlflowRunAnswer = z.object({ run: MlflowRun }).meta({ id: 'MlflowRunAnswer' });
export const MlflowMetricList = z
  .object({ metrics: z.array(MlflowMetric), ...page })
  .meta({ id: 'MlflowMetricList' });
export const MlflowFileList = z
  .object({
    root_uri: z.string(),
    files: z.array(
      z.object({
        path: z.string().meta({ description: 'Relative to the path of the request' }),
        is_dir: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'MlflowFileList' });

/** Error body of every path below the prefix of MLflow. */
export const MlflowError = z
  .object({
    error_code: z.string().meta({ description: 'Such as RESOURCE_DOES_NOT_EXIST, INVALID_PARAMETER_VALUE' }),
    message: z.string(),
  })
  .meta({ id: 'MlflowError' });
export type MlflowError = z.infer<typeof MlflowError>;
