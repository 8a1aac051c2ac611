import { expect, test } from 'vitest';
import { stageConfig } from '#lib/settings/config.ts';
import { actionsOf, ofType, statements, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const prod = templatesOf('prod');

test('a function reads the stream of every table and queues the records that it cannot handle', () => {
  const streams = ofType(prod, 'AWS::Lambda::EventSourceMapping').filter(([id]) =>
    id.startsWith('TableEvents'),
  );
  expect(streams.map(([id]) => /(jobs|registry|series)/.exec(id)?.[0]).sort()).toEqual([
    'jobs',
    'registry',
    'series',
  ]);
  for (const [, { Properties }] of streams) {
    expect(Properties).toMatchObject({
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 20,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [expect.stringContaining('LostRecords'), 'Arn'] } },
      },
    });
    expect(Properties.FilterCriteria.Filters.length).toBeGreaterThan(0);
  }
  for (const [id, { Properties }] of ofType(prod, 'AWS::DynamoDB::GlobalTable')) {
    expect(Properties.StreamSpecification, id).toEqual({ StreamViewType: 'NEW_AND_OLD_IMAGES' });
  }
});

test('the function may put events on the bus, and change nothing but the event log', () => {
  const own = statements(prod).filter(({ id }) => id.startsWith('TableEventsServiceRole'));
  const allowed = (action: string) =>
    own.map(({ statement }) => statement).filter((each) => actionsOf(each).includes(action));
  expect(JSON.stringify(allowed('events:PutEvents').map(({ Resource }) => Resource))).toContain(
    'TableEventsBus',
  );
  expect(allowed('dynamodb:PutItem').map(({ Condition }) => Condition)).toEqual([
    { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': '#events' } },
  ]);
});

const streamOf = (table: string) =>
  `arn:aws:dynamodb:eu-central-1:111122223333:table/${table}/stream/2026-11-23T04:00:00.000`;
const restored = {
  restoredTables: { jobs: 'jobs-2', registry: 'registry-2' },
  restoredStreams: { jobs: streamOf('jobs-2'), registry: streamOf('registry-2') },
};
const mappings = (stage: typeof prod) =>
  ofType(stage, 'AWS::Lambda::EventSourceMapping').filter(([id]) => id.startsWith('TableEvents'));
const alarmOf = (stage: typeof prod, name: string) =>
  ofType(stage, 'AWS::CloudWatch::Alarm').find(([, { Properties }]) => Properties.AlarmName.endsWith(name));

test('the function reads the streams of restored tables in place of those of the data stack', () => {
  const stage = synthesize('prod', restored);
  const [jobs, registry, series] = mappings(stage).map(([, each]) => each.Properties.EventSourceArn);
  expect([jobs, registry]).toEqual([streamOf('jobs-2'), streamOf('registry-2')]);
  // That of the data stack.
  expect(series).toHaveProperty('Fn::GetStackOutput');
  const allowed = statements(stage)
    .filter(
      ({ id, statement }) =>
        id.startsWith('TableEvents') && actionsOf(statement).includes('dynamodb:GetRecords'),
    )
    .map(({ statement }) => statement.Resource);
  expect(JSON.stringify(allowed)).toContain(streamOf('registry-2'));
  expect(stage.warnings.join()).not.toContain('-2');
  expect(alarmOf(stage, '-events-missing')).toBeUndefined();
});

test('a restored table whose stream is unknown has no events: an alarm fires when it is written, and synthesis says so', () => {
  const stage = synthesize('prod', { restoredTables: { registry: 'restored-registry' } });
  expect(mappings(stage)).toHaveLength(2);
  expect(stage.warnings.join()).toMatch(/restored-registry .*become no events.*restore-drill/);
  const [, { Properties }] = alarmOf(stage, '-events-missing')!;
  const metrics = Properties.Metrics.flatMap(({ MetricStat }: any) => MetricStat?.Metric ?? []);
  expect(metrics).toMatchObject([
    {
      MetricName: 'ConsumedWriteCapacityUnits',
      Dimensions: [{ Name: 'TableName', Value: 'restored-registry' }],
    },
  ]);
  expect(Properties).toMatchObject({ Threshold: 1, ComparisonOperator: 'GreaterThanOrEqualToThreshold' });
});

test('an alarm fires when no event is derived although the canary runs', () => {
  const [, { Properties }] = alarmOf(prod, '-events-stopped')!;
  const { Namespace, MetricName, Dimensions } = Properties;
  expect([Namespace, MetricName]).toEqual(['AWS/Lambda', 'Invocations']);
  expect(Dimensions[0].Value.Ref).toMatch(/^TableEventsServiceFunction/);
  expect(Properties).toMatchObject({
    Period: 900,
    Statistic: 'Sum',
    Threshold: 1,
    ComparisonOperator: 'LessThanThreshold',
    TreatMissingData: 'breaching',
  });
  expect(alarmOf(synthesize('prod', { canary: false }), '-events-stopped')).toBeUndefined();
});

test.each([
  [
    { restoredTables: { jobs: 'jobs-3' }, restoredStreams: { jobs: streamOf('jobs-2') } },
    /is no stream of jobs-3/,
  ],
  [{ restoredStreams: { jobs: streamOf('jobs-2') } }, /restoredStreams\.jobs .*does not use: remove it/],
])('stream of another table is rejected: %j', (changes, message) => {
  expect(() => stageConfig('prod', changes)).toThrow(message);
  expect(stageConfig('prod', restored)).toMatchObject(restored);
});

test('events name stage, account, region and stack as their source, in the function and in the backend', () => {
  const sourceOf = (stage: ReturnType<typeof templatesOf>, prefix: string) => {
    const [service] = ofType(stage, 'AWS::Lambda::Function').filter(([id]) => id.startsWith(prefix));
    return JSON.stringify(service![1].Properties.Environment.Variables.EVENT_SOURCE);
  };
  const source = sourceOf(prod, 'TableEventsService');
  expect(source).toMatch(/touchstone\/prod\/.*touchstone-prod-platform/);
  expect(source).toContain('AWS::AccountId');
  expect(source).toContain('AWS::Region');
  expect(sourceOf(prod, 'Backend')).toBe(source);
});

test('events of restored tables have a source of their own: their numbers begin again', () => {
  const sourceOf = (stage: ReturnType<typeof templatesOf>) => {
    const [service] = ofType(stage, 'AWS::Lambda::Function').filter(([id]) =>
      id.startsWith('TableEventsService'),
    );
    return JSON.stringify(service![1].Properties.Environment.Variables.EVENT_SOURCE);
  };
  expect(sourceOf(synthesize('prod', restored))).toContain(`/${restored.restoredTables.jobs}`);
});
