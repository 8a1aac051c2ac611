import { expect, test } from 'vitest';
import { actionsOf, ofType, statements, templatesOf } from '../support/stacks.ts';

const prod = templatesOf('prod');
const own = statements(prod).filter(({ id }) => id.startsWith('WebhooksServiceRole'));

test('all events of the bus go to a queue, whose function sets aside what fails 20 times', () => {
  const [rule] = ofType(prod, 'AWS::Events::Rule').filter(([id]) => id.startsWith('Webhooks'));
  expect(rule![1].Properties).toMatchObject({
    EventBusName: { Ref: expect.stringContaining('TableEventsBus') },
    EventPattern: { source: ['touchstone'] },
    Targets: [{ Arn: { 'Fn::GetAtt': [expect.stringContaining('WebhooksQueue'), 'Arn'] } }],
  });
  const [queue] = ofType(prod, 'AWS::SQS::Queue').filter(([id]) => id.startsWith('WebhooksQueue'));
  expect(queue![1].Properties).toMatchObject({
    SqsManagedSseEnabled: true,
    RedrivePolicy: {
      deadLetterTargetArn: { 'Fn::GetAtt': [expect.stringContaining('LostMessages'), 'Arn'] },
      maxReceiveCount: 20,
    },
  });
  const [source] = ofType(prod, 'AWS::Lambda::EventSourceMapping').filter(([id]) =>
    id.startsWith('Webhooks'),
  );
  expect(source![1].Properties).toMatchObject({ BatchSize: 10, ScalingConfig: { MaximumConcurrency: 20 } });
});

test('the function is outside any network, and changes webhooks and their deliveries only', () => {
  const [service] = ofType(prod, 'AWS::Lambda::Function').filter(([id]) => id.startsWith('WebhooksService'));
  expect(service![1].Properties).not.toHaveProperty('VpcConfig');
  const keys = (action: string) =>
    own
      .map(({ statement }) => statement)
      .filter((each) => each.Effect === 'Allow' && actionsOf(each).includes(`dynamodb:${action}`))
      .flatMap(({ Condition }) => (Condition as any)['ForAllValues:StringLike']['dynamodb:LeadingKeys']);
  expect(keys('UpdateItem')).toEqual(['#webhooks']);
  expect(keys('PutItem')).toEqual(['#deliveries#*', '#pending#*']);
  expect(keys('DeleteItem')).toEqual(['#pending#*']);
  expect(keys('Query')).toEqual(['#webhooks', '#pending#*']);
  expect(keys('GetItem')).not.toContain('*');
});

test('the backend wakes webhooks by messages of the queue', () => {
  const sends = statements(prod).filter(({ statement }) => actionsOf(statement).includes('sqs:SendMessage'));
  const roles = sends
    .filter(({ statement }) => JSON.stringify(statement.Resource).includes('WebhooksQueue'))
    .map(({ id }) => id);
  expect(roles.some((id) => id.startsWith('BackendRole'))).toBe(true);
  const [backend] = ofType(prod, 'AWS::Lambda::Function').filter(([id]) => id.startsWith('BackendFunction'));
  expect(backend![1].Properties).toMatchObject({
    Environment: { Variables: { WEBHOOK_QUEUE_URL: { Ref: expect.stringContaining('WebhooksQueue') } } },
  });
});
