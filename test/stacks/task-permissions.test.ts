import { describe, expect, test } from 'vitest';
import { arnOf, isAllowed } from '../support/iam.ts';
import { actionsOf, ofType, statements, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const stages = [templatesOf('dev'), templatesOf('prod')];

/** Roles of the platform's own tasks, with a job of their own and jobs of others. */
const TASKS = [
  {
    task: 'BacktestTask',
    own: ['bt-01J', 'va-01J'],
    others: ['ho-01J', '#slots#backtest', '#owners#backtest'],
  },
  { task: 'HyperoptTask', own: ['ho-01J'], others: ['bt-01J', 'va-01J', '#slots#hyperopt'] },
  { task: 'CollectTask', own: ['bt-01J', 'va-01J', 'ho-01J'], others: ['#slots#backtest'] },
];

describe.each(stages)('own tasks of $config.stage', (stage) => {
  test.each(TASKS)('$task changes only its own kind of job', ({ task, own, others }) => {
    const changes = (job: string) =>
      isAllowed(stage, new RegExp(`^${task}DefinitionTaskRole`), {
        action: 'dynamodb:UpdateItem',
        resource: arnOf('Jobs'),
        context: { 'dynamodb:LeadingKeys': [job] },
      });
    expect(own.filter(changes)).toEqual(own);
    expect(others.filter(changes)).toEqual([]);
  });

  test.each([
    ['BacktestTask', ['results/bt-01J/1/report.json.zst', 'results/va-01J/2/trades/0001.columns.zst']],
    ['HyperoptTask', []],
    ['CollectTask', []],
  ])('%s writes only results of its own kind of job', (task, own) => {
    const writes = (key: string) =>
      isAllowed(stage, new RegExp(`^${task}DefinitionTaskRole`), {
        action: 's3:PutObject',
        resource: arnOf('Results', key),
      });
    const others = ['results/ho-01J/1/report.json.zst', 'results', 'other/bt-01J', 'bt-01J'];
    expect([...own, ...others].filter(writes)).toEqual(own);
  });

  test('tasks that complete jobs count trials; none removes any', () => {
    const may = (task: string, action: string) =>
      isAllowed(stage, new RegExp(`^${task}`), {
        action: `dynamodb:${action}`,
        resource: arnOf('Jobs'),
        context: { 'dynamodb:LeadingKeys': ['#trials#ann'] },
      });
    const all = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchGetItem', 'Scan'];
    for (const role of [
      'BacktestTaskDefinitionTaskRole',
      'HyperoptTaskDefinitionTaskRole',
      'FastLaneBacktestRole',
      'ImageRunServiceRole',
    ]) {
      expect(
        all.filter((action) => may(role, action)),
        role,
      ).toEqual(['GetItem', 'Query', 'PutItem', 'UpdateItem']);
    }
    expect(all.filter((action) => may('CollectTaskDefinitionTaskRole', action))).toEqual([]);
  });

  test('a backtest reads neither jobs nor results', () => {
    const may = (action: string, resource: string) =>
      isAllowed(stage, /^BacktestTaskDefinitionTaskRole/, {
        action,
        resource,
        context: { 'dynamodb:LeadingKeys': ['bt-01J'] },
      });
    expect(may('dynamodb:GetItem', arnOf('Jobs'))).toBe(false);
    expect(may('s3:GetObject', arnOf('Results', 'results/bt-01J/1/report.json.zst'))).toBe(false);
    expect(may('s3:ListBucket', arnOf('Results'))).toBe(false);
    expect(may('s3:GetObject', arnOf('Results', 'signals/sg-01J'))).toBe(true);
    expect(may('s3:PutObject', arnOf('Results', 'signals/sg-01J'))).toBe(false);
    expect(may('s3:GetObject', arnOf('Candles', 'candles/sim/x.parquet'))).toBe(true);
  });
});

/** Session of the role of registered images, as ECS names it: the ID of the role, a colon and the ID of the task. */
const OWN = 'AROAEXAMPLE:0123456789abcdef0123456789abcdef';
const NEIGHBOUR = 'AROAEXAMPLE:fedcba9876543210fedcba9876543210';

describe.each(stages)('registered image of $config.stage', (stage) => {
  const may = (action: string, resource: string) =>
    isAllowed(stage, /^ImageTaskDefinitionTaskRole/, { action, resource, context: { 'aws:userid': OWN } });

  test('it reads candles and an input whose key it knows, and writes below its own prefix', () => {
    expect(may('s3:GetObject', arnOf('Candles', 'candles/sim/x.parquet'))).toBe(true);
    expect(may('s3:ListBucket', arnOf('Candles'))).toBe(true);
    expect(may('s3:GetObject', arnOf('Runs', `inputs/${'a'.repeat(32)}.json`))).toBe(true);
    expect(may('s3:PutObject', arnOf('Runs', `runs/${OWN}/outcome.json`))).toBe(true);
    expect(may('s3:PutObject', arnOf('Runs', `runs/${OWN}/results/bt-1/0/trades/0001.columns.zst`))).toBe(
      true,
    );
  });

  test.each([
    ['a neighbour’s outcome', 's3:PutObject', `runs/${NEIGHBOUR}/outcome.json`],
    ['a neighbour’s results', 's3:GetObject', `runs/${NEIGHBOUR}/results/bt-1/0/report.json.zst`],
    ['a prefix that begins as its own', 's3:PutObject', `runs/${OWN}x/outcome.json`],
    ['an input', 's3:PutObject', `inputs/${'a'.repeat(32)}.json`],
    ['deleting its own outcome', 's3:DeleteObject', `runs/${OWN}/outcome.json`],
  ])('it may not access %s', (_, action, key) => {
    expect(may(action, arnOf('Runs', key))).toBe(false);
  });

  test('it lists no inputs, reads and writes no results, and changes no candles', () => {
    expect(may('s3:ListBucket', arnOf('Runs'))).toBe(false);
    expect(may('s3:PutObject', arnOf('Candles', 'candles/sim/x.parquet'))).toBe(false);
    for (const action of ['s3:GetObject', 's3:PutObject']) {
      expect(may(action, arnOf('Results', 'results/bt-01J/1/report.json.zst')), action).toBe(false);
    }
    expect(may('s3:ListBucket', arnOf('Results'))).toBe(false);
  });

  test('it touches no table, not even its own job', () => {
    for (const action of [
      'GetItem',
      'Query',
      'Scan',
      'PutItem',
      'UpdateItem',
      'DeleteItem',
      'BatchGetItem',
    ]) {
      for (const table of ['Jobs', 'Registry', 'Series'] as const) {
        const context = { 'aws:userid': OWN, 'dynamodb:LeadingKeys': ['bt-01J'] };
        const request = { action: `dynamodb:${action}`, resource: arnOf(table), context };
        expect(isAllowed(stage, /^ImageTaskDefinitionTaskRole/, request), `${action} ${table}`).toBe(false);
      }
    }
  });

  test('its log makes no metrics, and no saved query reads it', () => {
    const ids = ofType(stage, 'AWS::Logs::LogGroup')
      .filter(([, { Properties }]) => Properties.LogGroupClass === 'INFREQUENT_ACCESS')
      .map(([each]) => each);
    expect(ids).toHaveLength(1);
    const [id] = ids;
    const [, definition] = ofType(stage, 'AWS::ECS::TaskDefinition').find(([each]) =>
      each.startsWith('ImageTaskDefinition'),
    )!;
    const [container] = definition.Properties.ContainerDefinitions;
    expect(container.LogConfiguration.Options['awslogs-group']).toEqual({ Ref: id });
    expect(JSON.stringify(ofType(stage, 'AWS::Logs::QueryDefinition'))).not.toContain(id);
  });

  test('it has only the listed actions', () => {
    const actions = statements(stage)
      .filter(({ id }) => id.startsWith('ImageTaskDefinitionTaskRole'))
      .flatMap(({ statement }) => actionsOf(statement));
    expect(new Set(actions)).toEqual(new Set(['s3:GetObject', 's3:ListBucket', 's3:PutObject']));
  });

  test('the function that records its runs writes backtests and their results, and no input of others', () => {
    const can = (action: string, resource: string, key = 'bt-01J') =>
      isAllowed(stage, /^ImageRunServiceRole/, {
        action,
        resource,
        context: { 'dynamodb:LeadingKeys': [key] },
      });
    expect(can('dynamodb:UpdateItem', arnOf('Jobs'))).toBe(true);
    expect(can('dynamodb:UpdateItem', arnOf('Jobs'), 'ho-01J')).toBe(false);
    expect(can('s3:GetObject', arnOf('Runs', `runs/${OWN}/outcome.json`))).toBe(true);
    expect(can('s3:PutObject', arnOf('Runs', `runs/${OWN}/outcome.json`))).toBe(false);
    expect(can('s3:PutObject', arnOf('Results', 'results/va-01J/1/report.json.zst'))).toBe(true);
    expect(can('s3:PutObject', arnOf('Results', 'results/ho-01J/1/report.json.zst'))).toBe(false);
    expect(can('ecs:RegisterTaskDefinition', '*')).toBe(false);
  });

  test('services read no more of a run than its progress', () => {
    const reads = (role: RegExp, key: string) =>
      isAllowed(stage, role, { action: 's3:GetObject', resource: arnOf('Runs', key) });
    expect(reads(/^BackendRole/, `runs/${OWN}/progress.json`)).toBe(true);
    expect(reads(/^BackendRole/, `runs/${OWN}/outcome.json`)).toBe(false);
    expect(reads(/^StrategyServiceRole/, `runs/${OWN}/progress.json`)).toBe(false);
    expect(reads(/^BacktestTaskDefinitionTaskRole/, `inputs/${'a'.repeat(32)}.json`)).toBe(false);
  });
});

test.each(stages)('endpoints of $config.stage serve this account only', (stage) => {
  const account = { Ref: 'AWS::AccountId' };
  const policies = ofType(stage, 'AWS::EC2::VPCEndpoint').map(([, { Properties }]) =>
    Properties.PolicyDocument.Statement.map(({ Action, Condition }: any) => [
      Action,
      Condition?.StringEquals,
    ]),
  );
  const principal = [['*', { 'aws:PrincipalAccount': account }]];
  expect(policies).toEqual([
    [
      ['*', { 'aws:ResourceAccount': account }],
      ['s3:GetObject', undefined],
    ],
    principal,
    ...(stage.config.network === 'isolated' ? [principal, principal, principal] : []),
  ]);
});

test('the data proxy has its own concurrent executions in production', () => {
  const reserved = stages.map((stage) => {
    const [, proxy] = ofType(stage, 'AWS::Lambda::Function').find(([id]) => id.startsWith('DataProxy'))!;
    return proxy.Properties.ReservedConcurrentExecutions;
  });
  expect(reserved).toEqual([undefined, 50]);
});

test('images of others run in an isolated network, and in a public one only if the stage allows it', () => {
  const rejects = (stage: (typeof stages)[number]) =>
    ofType(stage, 'AWS::Lambda::Function').flatMap(
      ([, { Properties }]) => Properties.Environment.Variables.REJECT_IMAGES ?? [],
    );
  // The backend, which starts jobs, and the function that prepares images.
  expect(stages.map(rejects)).toEqual([
    ['true', 'true'],
    ['false', 'false'],
  ]);
  const allowing = synthesize('dev', { allowForeignImages: true });
  expect(rejects(allowing)).toEqual(['false', 'false']);
  expect(allowing.warnings).toEqual([
    expect.stringContaining('registered images reaches the internet in dev'),
  ]);
});
