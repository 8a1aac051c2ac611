import { describe, expect, test } from 'vitest';
import { actionsOf, ofType, statements, templatesOf } from '../support/stacks.ts';

/** Schedules of the repair function, and the roles that may create them. */

describe.each([templatesOf('dev'), templatesOf('prod')])('schedules of $config.stage', (stage) => {
  const [[, group], ...groups] = ofType(stage, 'AWS::Scheduler::ScheduleGroup') as [
    ReturnType<typeof ofType>[number],
  ];
  const [[roleId, role]] = ofType(stage, 'AWS::IAM::Role').filter(([, { Properties }]) =>
    JSON.stringify(Properties.AssumeRolePolicyDocument).includes('scheduler.amazonaws.com'),
  ) as [ReturnType<typeof ofType>[number]];
  const repair = { Ref: expect.stringMatching(/^RepairServiceLive/) };
  const arnOf = (kind: string, name: string) => ({
    'Fn::Join': ['', expect.arrayContaining([expect.stringMatching(`:${kind}/${name}$`)])],
  });
  const own = (actions: string) =>
    statements(stage).filter(({ statement }) => actionsOf(statement).join() === actions);
  const name: string = group.Properties.Name;

  test('repair schedule fires every 5 minutes without retrying missed runs', () => {
    const schedules = ofType(stage, 'AWS::Scheduler::Schedule').map(([, { Properties }]) => Properties);
    expect(groups).toEqual([]);
    expect(schedules).toEqual([
      {
        Description: expect.any(String),
        GroupName: name,
        ScheduleExpression: 'rate(5 minutes)',
        FlexibleTimeWindow: { Mode: 'OFF' },
        Target: {
          Arn: repair,
          RoleArn: { 'Fn::GetAtt': [roleId, 'Arn'] },
          Input: '{}',
          RetryPolicy: { MaximumEventAgeInSeconds: 120, MaximumRetryAttempts: 2 },
        },
      },
    ]);
  });

  test('schedule role is limited to the group and to the repair function', () => {
    expect(role.Properties.AssumeRolePolicyDocument.Statement).toEqual([
      {
        Action: 'sts:AssumeRole',
        Effect: 'Allow',
        Principal: { Service: 'scheduler.amazonaws.com' },
        Condition: {
          StringEquals: {
            'aws:SourceAccount': { Ref: 'AWS::AccountId' },
            'aws:SourceArn': arnOf('schedule-group', name),
          },
        },
      },
    ]);
    const allowed = statements(stage).filter(({ id }) => id.startsWith('RepairSchedulesRole'));
    expect(allowed.map(({ statement }) => statement)).toEqual([
      { Action: 'lambda:InvokeFunction', Effect: 'Allow', Resource: repair },
    ]);
  });

  test('only the strategy service creates schedules, in the group and with the role', () => {
    expect(own('scheduler:CreateSchedule')).toEqual([
      {
        id: expect.stringMatching(/^StrategyServiceRole/),
        statement: {
          Action: 'scheduler:CreateSchedule',
          Effect: 'Allow',
          Resource: arnOf('schedule', `${name}/\\*`),
        },
      },
    ]);
    const passing = own('iam:PassRole').filter(({ statement }) =>
      JSON.stringify(statement.Condition).includes('scheduler.amazonaws.com'),
    );
    expect(passing.map(({ id, statement }) => [id.slice(0, 19), statement.Resource])).toEqual([
      ['StrategyServiceRole', { 'Fn::GetAtt': [roleId, 'Arn'] }],
    ]);
    const functions = ofType(stage, 'AWS::Lambda::Function').map(([, { Properties }]) => Properties);
    const configured = functions
      .map(({ Environment }) => Environment.Variables)
      .filter((all) => all.SCHEDULE_GROUP);
    expect(configured).toHaveLength(1);
    expect(configured[0]).toMatchObject({
      SCHEDULE_GROUP: name,
      SCHEDULE_FUNCTION_ARN: repair,
      SCHEDULE_ROLE_ARN: { 'Fn::GetAtt': [roleId, 'Arn'] },
    });
  });
});
