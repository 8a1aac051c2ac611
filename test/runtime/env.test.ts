import { describe, expect, it } from 'vitest';
import { BackendEnv, DataProxyEnv, LocalEnv } from '#contract/env.ts';
import { readEnv } from '#runtime/env.ts';

const BACKEND = {
  JOBS_TABLE: 'jobs',
  SERIES_TABLE: 'series',
  REGISTRY_TABLE: 'registry',
  RESULTS_BUCKET: 'results',
  CANDLES_BUCKET: 'candles',
  BACKTEST_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:backtest',
  DATA_PROXY_FUNCTION: 'data-proxy',
};

describe('readEnv', () => {
  it('fills in the defaults of the interface', () => {
    expect(readEnv(DataProxyEnv, {})).toEqual({
      ENVIRONMENT: 'development',
      LOG_LEVEL: 'INFO',
      MAX_RETRIES: 2,
      REQUEST_TIMEOUT: 30,
    });
    expect(readEnv(BackendEnv, BACKEND)).toMatchObject({
      ...BACKEND,
      BACKEND_IDP_REGION: 'us-east-1',
      DEFAULT_EXCHANGE: 'binanceusdm',
    });
    expect(readEnv(LocalEnv, {})).toMatchObject({ BACKEND_PORT: 8000, DATA_COLLECTION_PORT: 8002 });
  });

  it('reads numbers', () => {
    expect(readEnv(DataProxyEnv, { MAX_RETRIES: '0', REQUEST_TIMEOUT: '5' })).toMatchObject({
      MAX_RETRIES: 0,
      REQUEST_TIMEOUT: 5,
    });
  });

  it('names everything that is missing or malformed, at once and without its value', () => {
    const { JOBS_TABLE: _, RESULTS_BUCKET: __, ...rest } = BACKEND;
    const source = { ...rest, SERIES_TABLE: '', DYNAMODB_ENDPOINT: 'secret' };
    expect(() => readEnv(BackendEnv, source)).toThrow(
      /^The environment does not fit: (?=.*JOBS_TABLE is missing)(?=.*RESULTS_BUCKET is missing)(?=.*SERIES_TABLE is missing)(?=.*DYNAMODB_ENDPOINT is malformed)(?!.*secret)/,
    );
  });

  it.each(['x', '-1', '1.5', '11', ' '])('refuses MAX_RETRIES=%s', (value) => {
    expect(() => readEnv(DataProxyEnv, { MAX_RETRIES: value })).toThrow('MAX_RETRIES is malformed');
  });
});
