import { describe, expect, it } from 'vitest';
import {
  BackendEnv,
  DataCollectionEnv,
  DataProxyEnv,
  LocalEnv,
  StrategyEnv,
  StrategyEventsEnv,
} from '#contract/env/env.ts';
import { JobEventsEnv } from '#contract/env/job-events-env.ts';
import { readEnv } from '#runtime/env.ts';
import { SCHEDULES, SLOT_ENVIRONMENT } from '../support/lambda-environment.ts';

const BACKEND = {
  ...SLOT_ENVIRONMENT,
  JOBS_TABLE: 'jobs',
  SERIES_TABLE: 'series',
  REGISTRY_TABLE: 'registry',
  RESULTS_BUCKET: 'results',
  CANDLES_BUCKET: 'candles',
  BACKTEST_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:backtest',
  DATA_PROXY_FUNCTION: 'data-proxy',
  FAST_LANE_SECONDS: '20',
  WEBHOOK_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/123456789012/webhooks',
  EVENT_SOURCE: 'touchstone/test/a',
};

describe('readEnv', () => {
  it('readEnv applies the defaults of the contract', () => {
    expect(readEnv(DataProxyEnv, {})).toEqual({
      ENVIRONMENT: 'development',
      LOG_LEVEL: 'INFO',
      MAX_RETRIES: 2,
      REQUEST_TIMEOUT: 30,
    });
    expect(readEnv(BackendEnv, BACKEND)).toMatchObject({
      ...BACKEND,
      MAX_RUNNING_BACKTESTS: 5,
      MAX_RUNNING_FAST: 5,
      MAX_RUNNING_HYPEROPTS: 5,
      FAST_LANE_SECONDS: 20,
      BACKEND_IDP_REGION: 'us-east-1',
      DEFAULT_EXCHANGE: 'binanceusdm',
    });
    expect(readEnv(LocalEnv, {})).toMatchObject({ BACKEND_PORT: 8000, DATA_COLLECTION_PORT: 8002 });
  });

  it('readEnv parses numbers', () => {
    expect(readEnv(DataProxyEnv, { MAX_RETRIES: '0', REQUEST_TIMEOUT: '5' })).toMatchObject({
      MAX_RETRIES: 0,
      REQUEST_TIMEOUT: 5,
    });
  });

  it('readEnv lists every missing or malformed variable without its value', () => {
    const { JOBS_TABLE: _, RESULTS_BUCKET: __, ...rest } = BACKEND;
    const source = { ...rest, SERIES_TABLE: '', DYNAMODB_ENDPOINT: 'secret' };
    expect(() => readEnv(BackendEnv, source)).toThrow(
      /^The environment does not fit: (?=.*JOBS_TABLE is missing)(?=.*RESULTS_BUCKET is missing)(?=.*SERIES_TABLE is missing)(?=.*DYNAMODB_ENDPOINT is malformed)(?!.*secret)/,
    );
  });

  it.each(['x', '-1', '1.5', '11', ' '])('readEnv rejects MAX_RETRIES=%s', (value) => {
    expect(() => readEnv(DataProxyEnv, { MAX_RETRIES: value })).toThrow('MAX_RETRIES is malformed');
  });

  it.each([
    [{ MIN_FREE_DISK_MB: '1e3' }, 'MIN_FREE_DISK_MB is malformed: must be an integer'],
    [{ BACKEND_PORT: '65536' }, 'BACKEND_PORT is malformed: must be an integer from 0 to 65535'],
    [{ EXCHANGE_URL: 'ftp://relay' }, 'EXCHANGE_URL is malformed: must be a URL of http or https'],
    [{ LOG_LEVEL: 'info' }, 'LOG_LEVEL is malformed: must be one of DEBUG, INFO, WARN, ERROR'],
    [{ REQUIRE_FOUR_EYES: '1' }, 'REQUIRE_FOUR_EYES is malformed: must be one of true, false'],
    [{ POLICY_MIN_TRADES: '1.5' }, 'POLICY_MIN_TRADES is malformed: must be an integer from 1 to 1000000'],
    [
      { POLICY_MIN_DEFLATED_SHARPE: '1.1' },
      'POLICY_MIN_DEFLATED_SHARPE is malformed: must be a number from 0',
    ],
    [{ CHALLENGE_MIN_ASSIGNMENTS: 'min' }, 'CHALLENGE_MIN_ASSIGNMENTS is malformed: must be an integer'],
    [{ RETENTION_JOBS_DAYS: '0' }, 'RETENTION_JOBS_DAYS is malformed: must be a number of days from 1 to'],
  ])('readEnv says what a malformed variable must be: %j', (variables, problem) => {
    expect(() => readEnv(LocalEnv, variables)).toThrow(problem);
  });

  it('readEnv reads each kind of variable', () => {
    const variables = {
      EXCHANGE_URL: ' HTTP://relay:81 ',
      REQUIRE_FOUR_EYES: 'true',
      POLICY_MAX_DRAWDOWN: '-12.5',
      CHALLENGE_MIN_ASSIGNMENTS: 'min_trades',
      RETENTION_JOBS_DAYS: '90',
    };
    expect(readEnv(LocalEnv, variables)).toMatchObject({
      EXCHANGE_URL: 'HTTP://relay:81',
      REQUIRE_FOUR_EYES: true,
      POLICY_MAX_DRAWDOWN: -12.5,
      CHALLENGE_MIN_ASSIGNMENTS: 'min_trades',
      RETENTION_JOBS_DAYS: 90,
      LOG_LEVEL: 'WARN',
    });
    expect(readEnv(LocalEnv, { CHALLENGE_MIN_ASSIGNMENTS: '40' }).CHALLENGE_MIN_ASSIGNMENTS).toBe(40);
    expect(() => readEnv(DataProxyEnv, { SERVICE_TOKEN: 'fifteen letters' })).toThrow(
      'SERVICE_TOKEN is malformed: must have at least 16 characters',
    );
  });

  describe('settings of the identity provider', () => {
    const POOL = { BACKEND_IDP_USER_POOL_ID: 'us-east-1_AbC123', BACKEND_IDP_CLIENT_ID: 'client' };

    it('identity provider is optional in development', () => {
      expect(readEnv(BackendEnv, BACKEND).BACKEND_IDP_USER_POOL_ID).toBeUndefined();
    });

    it.each([
      [BackendEnv, 'BACKEND'],
      [StrategyEnv, 'STRATEGY'],
      [StrategyEventsEnv, 'STRATEGY'],
      [JobEventsEnv, 'BACKEND'],
      [DataCollectionEnv, 'DATA_COLLECTION'],
    ] as const)('production requires pool and client of each service', (schema, prefix) => {
      const source = {
        ...BACKEND,
        HYPEROPT_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:hyperopt',
        ...SCHEDULES,
        ENVIRONMENT: 'production',
      };
      expect(() => readEnv(schema, source)).toThrow(
        `${prefix}_IDP_USER_POOL_ID is missing, ${prefix}_IDP_CLIENT_ID is missing`,
      );
      const pool = { [`${prefix}_IDP_USER_POOL_ID`]: 'us-east-1_a', [`${prefix}_IDP_CLIENT_ID`]: 'client' };
      expect(readEnv(schema, { ...source, ...pool })).toMatchObject(pool);
    });

    it('machine clients are a list', () => {
      const env = readEnv(BackendEnv, { ...BACKEND, ...POOL, BACKEND_IDP_MACHINE_CLIENT_IDS: 'a,b' });
      expect(env.BACKEND_IDP_MACHINE_CLIENT_IDS).toEqual(['a', 'b']);
    });

    it.each([
      [{ BACKEND_IDP_USER_POOL_ID: POOL.BACKEND_IDP_USER_POOL_ID }, 'BACKEND_IDP_CLIENT_ID is missing'],
      [{ BACKEND_IDP_CLIENT_ID: 'client' }, 'BACKEND_IDP_USER_POOL_ID is missing'],
      [{ ...POOL, BACKEND_IDP_USER_POOL_ID: 'pool' }, 'BACKEND_IDP_USER_POOL_ID is malformed'],
      [{ ...POOL, BACKEND_IDP_USER_POOL_ID: 'eu-west-1_abc' }, 'BACKEND_IDP_REGION is missing'],
      [{ ...POOL, BACKEND_IDP_REGION: 'eu-west-1' }, 'BACKEND_IDP_REGION is malformed'],
    ])('readEnv rejects incomplete settings: %j', (variables, problem) => {
      expect(() => readEnv(BackendEnv, { ...BACKEND, ...variables })).toThrow(problem);
    });
  });
});
