import { describe, expect, test } from 'vitest';
import { arnOf, isAllowed } from '../support/iam.ts';
import { ofType, templatesOf } from '../support/stacks.ts';

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
    expect(may('s3:GetObject', arnOf('Candles', 'candles/sim/x.parquet'))).toBe(true);
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
