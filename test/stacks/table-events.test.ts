import { expect, test } from 'vitest';
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

test('a restored table, whose stream is unknown, has no events, and synthesis says so', () => {
  const stage = synthesize('prod', { restoredTables: { registry: 'restored-registry' } });
  const streams = ofType(stage, 'AWS::Lambda::EventSourceMapping').filter(([id]) =>
    id.startsWith('TableEvents'),
  );
  expect(streams).toHaveLength(2);
  expect(stage.warnings.join()).toContain('restored-registry');
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
