/** Common variables of deployed functions. */
export const FUNCTION_ENVIRONMENT = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
  LOG_LEVEL: 'ERROR',
  POWERTOOLS_METRICS_DISABLED: 'true',
};

/** Slots of the job queue. */
export const SLOT_ENVIRONMENT = {
  MAX_RUNNING_BACKTESTS: '5',
  MAX_RUNNING_FAST: '5',
  MAX_RUNNING_HYPEROPTS: '5',
};

/** Variables of the backend. Its database port is closed: calls that are not mocked fail. */
export const BACKEND_ENVIRONMENT = {
  ...FUNCTION_ENVIRONMENT,
  ...SLOT_ENVIRONMENT,
  DYNAMODB_ENDPOINT: 'http://127.0.0.1:1',
  JOBS_TABLE: 'jobs',
  SERIES_TABLE: 'series',
  REGISTRY_TABLE: 'registry',
  RESULTS_BUCKET: 'results',
  CANDLES_BUCKET: 'candles',
  BACKTEST_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:backtest',
  DATA_PROXY_FUNCTION: 'data-proxy',
  WEBHOOK_QUEUE_URL: 'http://127.0.0.1:1/queue',
  EVENT_SOURCE: 'touchstone/test/a',
  FAST_LANE_SECONDS: '20',
};

/** Variables of challenge schedules in the strategy service. */
export const SCHEDULES = {
  SCHEDULE_GROUP: 'challenges',
  SCHEDULE_FUNCTION_ARN: 'arn:aws:lambda:us-east-1:123456789012:function:repair:live',
  SCHEDULE_ROLE_ARN: 'arn:aws:iam::123456789012:role/schedules',
};
