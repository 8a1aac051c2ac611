import { describe, expect, it } from 'vitest';
import { OPERATIONS, operationsOf } from '#contract/operations/operations.ts';
import { ERRORS } from '#contract/values/errors.ts';
import {
  changesState,
  documentedErrors,
  type Operation,
  pathsOf,
  takesIdempotencyKey,
  WITHOUT_BODY,
} from '#contract/values/operation.ts';

const rows: readonly Operation[] = OPERATIONS;
const each = rows.map((operation) => [operation.id, operation] as const);
const variables = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

/** Operations that clients rely on, with their success statuses: this table must contain them. */
const STABLE = [
  'backend GET /api/v1/health 200',
  'backend POST /api/v1/backtests 201',
  'backend GET /api/v1/backtests 200',
  'backend GET /api/v1/backtests/{job_id} 200',
  'backend POST /api/v1/backtests/{job_id}/cancel 200',
  'backend GET /api/v1/backtests/{job_id}/equity 200',
  'backend GET /api/v1/backtests/{job_id}/report-data 200',
  'backend GET /api/v1/strategies 200',
  'backend GET /api/v1/strategies/{name} 200',
  'backend POST /api/v1/strategies/{name}/stage 200',
  'backend POST /api/v1/strategies/{name}/promote 200',
  'backend GET /api/v1/models/{model_name}/versions 200',
  'backend POST /api/v1/models/{model_name}/rollback 200',
  'strategy POST /api/v1/strategies/{name}/register 201',
  'backend GET /api/v1/data/symbols 200',
  'backend GET /api/v1/data/freshness 200',
  'backend GET /docs 200',
  'strategy GET /api/v1/health 200',
  'strategy GET /docs 200',
  'strategy POST /api/v1/models/{model_name}/challenges 201',
  'strategy POST /challenges/{challenge_id}/trades 200,201',
  'strategy GET /challenges/{challenge_id}/evaluate 200',
  'data_collection GET /api/v1/health 200',
  'data_collection GET /api/v1/ohlcv 200',
  'data_collection GET /api/v1/symbols 200',
  'data_collection GET /api/v1/status 200',
  'data_collection GET /api/v1/freshness 200',
  'data_collection GET /docs 200',
];

describe('operations table', () => {
  it('only what finds its first creation again takes an Idempotency-Key', () => {
    const creating = rows.filter(({ method, success }) => method === 'POST' && 201 in success);
    const unrepeatable = creating.filter((row) => !takesIdempotencyKey(row)).map(({ id }) => id);
    // A secret, or the address for files, is returned once, so a repeat creates another one.
    expect(unrepeatable).toEqual(['createWebhook', 'createImport']);
  });

  it.each(STABLE)('operations table contains %s', (row) => {
    const known = rows.flatMap((operation) =>
      pathsOf(operation).map(
        (path) => `${operation.service} ${operation.method} ${path} ${Object.keys(operation.success).join()}`,
      ),
    );
    expect(known).toContain(row);
  });

  it('operation IDs are unique', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  it('operations table has each method of a path once per service', () => {
    const keys = rows.flatMap((operation) =>
      pathsOf(operation).map(
        (path) => `${operation.service} ${operation.method} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
      ),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('each path position has one variable name, because API Gateway rejects siblings that differ', () => {
    expect(differingSiblings(rows)).toEqual([]);
    const clash = { ...rows[0]!, path: '/api/v1/strategies/{config_name}' };
    expect(differingSiblings([...rows, clash])).toHaveLength(1);
  });

  it.each(each)('path of %s is well-formed and its variables equal its params', (_, { path, params }) => {
    expect(path).toMatch(/^(\/([a-z0-9.-]+|\{[a-z_]+\}))+$/);
    expect(Object.keys(params?.shape ?? {})).toEqual(variables(path));
  });

  it.each(each)('%s documents its success with a schema or a media type', (_, { success }) => {
    const responses = Object.entries(success);
    expect(responses.length).toBeGreaterThan(0);
    for (const [status, response] of responses) {
      expect(response.description).not.toBe('');
      if (status === '304') continue;
      expect(Number(status)).toBeGreaterThanOrEqual(200);
      expect(Number(status)).toBeLessThan(303);
      const described = response.schema !== undefined || response.contentType !== undefined;
      expect(described).toBe(!WITHOUT_BODY.includes(Number(status)));
    }
  });

  it.each(each)('%s names errors of the catalogue, each once', (_, operation) => {
    const errors = documentedErrors(operation);
    for (const { code, status } of errors) {
      expect(ERRORS).toHaveProperty(code);
      expect(status).toBeGreaterThanOrEqual(400);
    }
    expect(new Set(errors.map(({ code }) => code)).size).toBe(errors.length);
  });

  it.each(each)('%s takes a body only with POST, PUT or PATCH', (_, { method, body, path }) => {
    // MLflow's client names in the body what it deletes.
    if (path.startsWith('/api/2.0/') && method === 'DELETE') return;
    if (body) expect(['POST', 'PUT', 'PATCH']).toContain(method);
  });

  it.each(['backend', 'data_collection'] as const)(
    'public operations of %s are only health and documentation',
    (service) => {
      const open = operationsOf(service).filter(({ access }) => access === 'public');
      expect(open.map(({ path }) => path)).toEqual([
        '/api/v1/health',
        '/docs',
        '/docs/{asset}',
        '/openapi.json',
      ]);
    },
  );

  it('RES005 has status 400 only for cancel, equity and report of a backtest', () => {
    const fixed = rows.filter((row) =>
      documentedErrors(row).some(({ code, status }) => code === 'RES005' && status === 400),
    );
    expect(fixed.map(({ id }) => id)).toEqual(['cancelBacktest', 'getBacktestEquity', 'getBacktestReport']);
  });
});

/** Path prefixes of a service with two differently named variables. */
function differingSiblings(operations: readonly Operation[]): string[] {
  const names = new Map<string, Set<string>>();
  for (const { service, path } of operations) {
    const segments = path.split('/');
    for (const [index, segment] of segments.entries()) {
      if (!segment.startsWith('{')) continue;
      const parent = `${service} ${segments.slice(0, index).join('/')}`;
      names.set(parent, (names.get(parent) ?? new Set()).add(segment));
    }
  }
  return [...names].filter(([, siblings]) => siblings.size > 1).map(([parent]) => parent);
}

/** Least role of each operation that changes state. */
const CHANGES: Readonly<Record<string, Operation['access']>> = {
  submitBacktest: 'researcher',
  cancelBacktest: 'researcher',
  startCollection: 'researcher',
  cancelCollection: 'researcher',
  deleteSeries: 'admin',
  renameSeries: 'admin',
  copySeries: 'admin',
  undoImport: 'admin',
  createImport: 'admin',
  previewImport: 'admin',
  startImport: 'admin',
  cancelImport: 'admin',
  shareBacktest: 'researcher',
  shareModel: 'researcher',
  startHyperopt: 'researcher',
  cancelHyperopt: 'researcher',
  keepBacktest: 'researcher',
  updateBacktest: 'researcher',
  deleteBacktest: 'researcher',
  keepHyperopt: 'researcher',
  resumeHyperopt: 'researcher',
  shareHyperopt: 'researcher',
  registerStrategy: 'researcher',
  stageVersion: 'researcher',
  labelVersion: 'researcher',
  mlflowSetAlias: 'researcher',
  mlflowDeleteAlias: 'researcher',
  mlflowCreateVersion: 'researcher',
  mlflowSetVersionTag: 'researcher',
  mlflowDeleteVersionTag: 'researcher',
  mlflowTransitionStage: 'researcher',
  createChallenge: 'researcher',
  assignKey: 'researcher',
  logTrades: 'researcher',
  createSignals: 'researcher',
  deleteSignals: 'researcher',
  shareSignals: 'researcher',
  createWebhook: 'researcher',
  updateWebhook: 'researcher',
  deleteWebhook: 'researcher',
  rotateWebhookSecret: 'researcher',
  testWebhook: 'researcher',
  replayDelivery: 'researcher',
  replayWebhook: 'researcher',
  advanceChallenge: 'approver',
  holdChallenge: 'approver',
  resumeChallenge: 'approver',
  promoteChallenge: 'approver',
  rollBackChallenge: 'approver',
  // The use case requires the role of the transition.
  requestApproval: 'researcher',
  approveRequest: 'researcher',
  declineRequest: 'researcher',
  withdrawRequest: 'researcher',
  promoteVersion: 'approver',
  rollbackModel: 'approver',
  stopModel: 'approver',
  transferOwnership: 'admin',
};

it('roles: viewers read, researchers work, approvers decide what is in Production', () => {
  const changing = rows.filter(changesState);
  expect(Object.fromEntries(changing.map(({ id, access }) => [id, access]))).toEqual(CHANGES);
  const reading = rows.filter((row) => !changing.includes(row) && row.access !== 'public');
  expect(reading.filter(({ access }) => access !== 'viewer').map(({ id }) => id)).toEqual(['listAudit']);
});

it('every operation that changes state is audited', () => {
  const outside = rows.filter((row) => row.method !== 'GET' && !changesState(row));
  const reads = ['CreateModel', 'GetLatestVersions', 'SearchExperiments', 'SearchLoggedModels', 'SearchRuns'];
  expect(outside.map(({ id }) => id).sort()).toEqual(['callDataProxy', ...reads.map((id) => `mlflow${id}`)]);
  // All five proxy operations read. A function called directly by API Gateway would write no audit trail.
  expect(rows.filter((row) => row.integration && changesState(row))).toEqual([]);
  for (const row of rows.filter(changesState)) {
    expect(documentedErrors(row), row.id).toContainEqual({ code: 'SVC005', status: 503 });
    expect(row.access, row.id).not.toBe('public');
  }
});
