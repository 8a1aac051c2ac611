import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { resultsPrefix } from '#adapters/objects/result-store.ts';
import type { StageConfig } from '#lib/settings/config.ts';
import { ofType, type Resource, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const prod = synthesize('prod', { alarmEmail: 'desk@example.org' });
const all = ofType(prod, 'AWS::CloudWatch::Alarm').map(([, each]) => each.Properties);
/** Brakes stop deployments and notify no user: test/stacks/traffic-shift.test.ts. */
const isBrake = ({ AlarmName }: Resource['Properties']) => AlarmName.endsWith('-brake');
const alarms = all.filter((each) => !isBrake(each));
/** The stage's own topics by their use. */
const topics = Object.fromEntries(
  ofType(prod, 'AWS::SNS::Topic').map(([id]) => [id.includes('Ticket') ? 'ticket' : 'page', id]),
);
const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

/** Anchors that GitHub derives from headings. */
const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
  heading!
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-'),
);

test('dev has a dashboard and no alarms', () => {
  expect(ofType(templatesOf('dev'), 'AWS::CloudWatch::Alarm')).toEqual([]);
  const [[, { Properties }], ...others] = ofType(templatesOf('dev'), 'AWS::CloudWatch::Dashboard') as any;
  expect(others).toEqual([]);
  // What alarms elsewhere would report.
  for (const title of ['Data collection: minutes of tasks', 'Runs of repair in 15 minutes']) {
    expect(JSON.stringify(Properties.DashboardBody)).toContain(title);
  }
  expect(JSON.stringify(Properties.DashboardBody)).not.toContain('SERVICE_QUOTA');
});

test('data collection alarm reads a metric that ECS sends without Container Insights', () => {
  const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith('-data-collection-down'))!;
  // A missing sample means that no task runs.
  expect(alarm).toMatchObject({
    Namespace: 'AWS/ECS',
    MetricName: 'CPUUtilization',
    Statistic: 'SampleCount',
    Threshold: 1,
    ComparisonOperator: 'LessThanThreshold',
    EvaluationPeriods: 2,
    TreatMissingData: 'breaching',
  });
});

describe('alarms', () => {
  test('alarm states its user impact and links its runbook entry', () => {
    expect(alarms.length).toBeGreaterThan(10);
    for (const { AlarmName, AlarmDescription } of alarms) {
      const [, impact, anchor] =
        AlarmDescription.match(/^(.{40,}[.]) Runbook: docs\/runbook\.md#([a-z-]+)$/) ?? [];
      expect(impact, AlarmName).toBeDefined();
      expect(anchors, AlarmName).toContain(anchor);
      expect(AlarmName).toBe(`touchstone-prod-platform-${anchor}`);
    }
  });

  test('brake links the runbook entry of stopped deployments and sends no notification', () => {
    const brakes = all.filter(isBrake);
    expect(brakes).toHaveLength(6);
    for (const { AlarmDescription, AlarmActions } of brakes) {
      expect(AlarmDescription).toMatch(/^.{40,}[.] Runbook: docs\/runbook\.md#deployment-stopped$/);
      expect(AlarmActions).toBeUndefined();
    }
    expect(anchors).toContain('deployment-stopped');
  });

  test('alarm notifies one of two topics, page or ticket, when it fires and when it ends', () => {
    expect(Object.keys(topics).sort()).toEqual(['page', 'ticket']);
    for (const { AlarmName, AlarmActions, OKActions } of alarms) {
      expect(AlarmActions, AlarmName).toHaveLength(1);
      expect(Object.values(topics), AlarmName).toContain(AlarmActions[0].Ref);
      expect(OKActions, AlarmName).toEqual(AlarmActions);
    }
  });

  test('runbook lists exactly the alarms that page', () => {
    const [, list] = /^## Page or ticket\n([\s\S]*?)^## /m.exec(runbook)!;
    const listed = [...list!.matchAll(/\]\(#([a-z-]+)\)/g)].map(([, anchor]) => anchor);
    const paging = alarms.filter(({ AlarmActions }) => AlarmActions[0].Ref === topics.page);
    expect(paging.length).toBeLessThan(alarms.length / 2);
    const names = paging.map(({ AlarmName }) => AlarmName.replace('touchstone-prod-platform-', ''));
    expect(listed.toSorted()).toEqual(names.toSorted());
  });
});

describe('receivers of pages and tickets', () => {
  const desk = 'arn:aws:sns:eu-central-1:111122223333:desk';
  const later = 'arn:aws:sns:eu-central-1:111122223333:later';

  test.each<[string, Partial<StageConfig>, { page: string; ticket: string }]>([
    ['one address', { alarmEmail: 'a@b.example' }, { page: 'a@b.example', ticket: 'a@b.example' }],
    ['one topic', { alarmTopicArn: desk }, { page: desk, ticket: desk }],
    [
      'two addresses',
      { alarmEmail: 'a@b.example', ticketEmail: 'c@d.example' },
      { page: 'a@b.example', ticket: 'c@d.example' },
    ],
    ['two topics', { alarmTopicArn: desk, ticketTopicArn: later }, { page: desk, ticket: later }],
    [
      'an address and a topic of tickets',
      { alarmEmail: 'a@b.example', ticketTopicArn: later },
      { page: 'a@b.example', ticket: later },
    ],
    [
      'a topic and an address of tickets',
      { alarmTopicArn: desk, ticketEmail: 'c@d.example' },
      { page: desk, ticket: 'c@d.example' },
    ],
  ])('stage with %s', (_, receivers, expected) => {
    const stage = synthesize('test', receivers);
    const addresses = ofType(stage, 'AWS::SNS::Subscription').map(([, each]) => each.Properties);
    /** Address or existing topic of an alarm's action. */
    const receiverOf = (name: string): string => {
      const [, alarm] = ofType(stage, 'AWS::CloudWatch::Alarm').find(([, { Properties }]) =>
        Properties.AlarmName.endsWith(name),
      )!;
      const [action] = alarm.Properties.AlarmActions;
      return action.Ref ? addresses.find(({ TopicArn }) => TopicArn.Ref === action.Ref)!.Endpoint : action;
    };
    expect({ page: receiverOf('-backend-errors'), ticket: receiverOf('-backend-latency') }).toEqual(expected);
    expect(addresses).toHaveLength(Object.values(expected).filter((each) => each.includes('@')).length);
  });
});

test('runbook entry of each alarm has impact, diagnosis and action', () => {
  const entries = runbook.split(/^## /m).slice(1);
  const alarmed = entries.filter((entry) => alarms.some(({ AlarmName }) => AlarmName.endsWith(slug(entry))));
  expect(alarmed).toHaveLength(alarms.length);
  for (const entry of alarmed) {
    for (const part of ['**Impact**', '**Look at**', '**Do**']) expect(entry, slug(entry)).toContain(part);
  }
});

test('runbook switches Contributor Insights on where it names it, and off again', () => {
  const entries = runbook.split(/^## /m).filter((entry) => entry.includes('Contributor Insights'));
  expect(entries.map(slug)).toEqual(['table-throttles']);
  for (const action of ['ENABLE', 'DISABLE']) {
    expect(entries[0]).toContain(`--contributor-insights-action ${action}`);
  }
  // It is off where nobody switched it on.
  expect(JSON.stringify([...prod.resources.values()])).not.toContain('ContributorInsights');
});

const slug = (entry: string) => entry.split('\n')[0]!.toLowerCase().replaceAll(' ', '-');

test('APIs publish no metrics per method', () => {
  for (const stage of ['dev', 'prod'] as const) {
    const stages = ofType(templatesOf(stage), 'AWS::ApiGateway::Stage');
    expect(stages).toHaveLength(3);
    for (const [, { Properties }] of stages) {
      for (const settings of Properties.MethodSettings) expect(settings.MetricsEnabled ?? false).toBe(false);
    }
  }
});

test('CloudWatch and AWS Budgets may publish to both topics, EventBridge to that of tickets', () => {
  const policies = ofType(prod, 'AWS::SNS::TopicPolicy').map(([, { Properties }]) => Properties);
  expect(policies.map(({ Topics }) => Topics[0].Ref).sort()).toEqual(Object.values(topics).sort());
  for (const { Topics, PolicyDocument } of policies) {
    const allowed = PolicyDocument.Statement.filter(({ Effect }: any) => Effect === 'Allow');
    expect(allowed[0]).toMatchObject({
      Action: 'sns:Publish',
      Principal: { Service: ['budgets.amazonaws.com', 'cloudwatch.amazonaws.com'] },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
    const others = allowed.slice(1).map(({ Principal }: any) => Principal.Service);
    expect(others).toEqual(Topics[0].Ref === topics.ticket ? ['events.amazonaws.com'] : []);
  }
  for (const id of Object.values(topics)) {
    prod.platform.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'desk@example.org',
      TopicArn: { Ref: id },
    });
  }
});

test('budget notifies the topic of tickets at 80 % and when the forecast exceeds it', () => {
  const [[, { Properties }], ...others] = ofType(prod, 'AWS::Budgets::Budget') as [[string, Resource]];
  expect(others).toEqual([]);
  expect(Properties.Budget).toEqual({
    BudgetType: 'COST',
    TimeUnit: 'MONTHLY',
    BudgetLimit: { Amount: 500, Unit: 'USD' },
  });
  const topic = { Ref: topics.ticket };
  expect(
    Properties.NotificationsWithSubscribers.map(({ Notification, Subscribers }: any) => [
      Notification.NotificationType,
      Notification.Threshold,
      Subscribers,
    ]),
  ).toEqual([
    ['ACTUAL', 80, [{ SubscriptionType: 'SNS', Address: topic }]],
    ['FORECASTED', 100, [{ SubscriptionType: 'SNS', Address: topic }]],
  ]);
});

test('existing topic receives the alarms and the budget in place of an own one', () => {
  const alarmTopicArn = 'arn:aws:sns:eu-central-1:111122223333:desk';
  const stage = synthesize('test', { alarmTopicArn, monthlyBudgetUsd: 20 });
  expect(ofType(stage, 'AWS::SNS::Topic')).toEqual([]);
  for (const [, { Properties }] of ofType(stage, 'AWS::CloudWatch::Alarm')) {
    if (!isBrake(Properties)) expect(Properties.AlarmActions).toEqual([alarmTopicArn]);
  }
  const [[, budget]] = ofType(stage, 'AWS::Budgets::Budget') as [[string, Resource]];
  expect(budget.Properties.NotificationsWithSubscribers[0].Subscribers[0].Address).toBe(alarmTopicArn);
});

describe('canary', () => {
  const named = (name: string) => alarms.find(({ AlarmName }) => AlarmName.endsWith(`-platform-${name}`))!;
  const functionOf = (prefix: string) =>
    ofType(prod, 'AWS::Lambda::Function').find(([id]) => id.startsWith(prefix))![1].Properties;

  test('function runs at multiples of five minutes, with the token that the backend accepts', () => {
    const { CANARY_TOKEN, BACKEND_URL } = functionOf('CanaryServiceFunction').Environment.Variables;
    const accepted = functionOf('BackendFunction').Environment.Variables;
    expect(accepted.CANARY_TOKEN).toEqual(CANARY_TOKEN);
    // Each slot of the rotation sends one of them, and the backend accepts both in each slot.
    const [condition, second, first] = CANARY_TOKEN['Fn::If'];
    expect(accepted.CANARY_TOKEN_2).toEqual({ 'Fn::If': [condition, first, second] });
    for (const token of [first, second]) expect(JSON.stringify(token)).toContain('resolve:secretsmanager');
    expect(first).not.toEqual(second);
    expect(JSON.stringify(BACKEND_URL)).toContain('execute-api');
    const rules = ofType(prod, 'AWS::Events::Rule').filter(([id]) => id.startsWith('Canary'));
    expect(rules.map(([, { Properties }]) => Properties.ScheduleExpression)).toEqual(['cron(0/5 * * * ? *)']);
  });

  test('rotation gives the backend the new token before the canary', () => {
    const isOf =
      (prefix: string) =>
      ([id]: [string, Resource]) =>
        id.startsWith(prefix);
    const [id, canary] = ofType(prod, 'AWS::Lambda::Function').find(isOf('CanaryServiceFunction'))!;
    const [live] = ofType(prod, 'AWS::Lambda::Alias').find(isOf('BackendLive'))!;
    expect(canary.DependsOn).toContain(live);
    const versions = ofType(prod, 'AWS::Lambda::Version').map(([, { Properties }]) => Properties);
    const [backend] = ofType(prod, 'AWS::Lambda::Function').find(isOf('BackendFunction'))!;
    for (const each of [id, backend]) {
      const { Description } = versions.find(({ FunctionName }) => FunctionName.Ref === each)!;
      expect(JSON.stringify(Description), each).toContain('{"Ref":"ServiceTokenSlot"}');
    }
  });

  test('first run finds the files of the dashboard', () => {
    const [id, canary] = ofType(prod, 'AWS::Lambda::Function').find(([each]) =>
      each.startsWith('CanaryServiceFunction'),
    )!;
    const [[upload]] = ofType(prod, 'Custom::DashboardFiles') as [[string, Resource]];
    expect(canary.DependsOn, id).toContain(upload);
  });

  test('failure fires at the first failed run, and a canary that stopped for the lack of data', () => {
    const metric = { Namespace: 'Touchstone', MetricName: 'CanarySuccess', Threshold: 1 };
    expect(named('canary-failing')).toMatchObject({
      ...metric,
      ComparisonOperator: 'LessThanThreshold',
      Statistic: 'Minimum',
      Period: 300,
      DatapointsToAlarm: 1,
      EvaluationPeriods: 2,
      TreatMissingData: 'notBreaching',
    });
    expect(named('canary-stopped')).toMatchObject({
      ...metric,
      ComparisonOperator: 'LessThanThreshold',
      Statistic: 'SampleCount',
      Period: 900,
      TreatMissingData: 'breaching',
    });
  });

  test('results of the canary expire after a day, and dev has no canary', () => {
    const rules = ofType(prod, 'AWS::S3::Bucket').flatMap(
      ([, { Properties }]) => Properties.LifecycleConfiguration?.Rules ?? [],
    );
    const prefix = resultsPrefix('bt-CANARY');
    expect(rules.filter(({ Prefix }) => Prefix === prefix)).toMatchObject([{ ExpirationInDays: 1 }]);
    expect(JSON.stringify([...templatesOf('dev').resources])).not.toMatch(/CanaryService|CANARY/);
  });
});

describe('sparse traffic that fails entirely fires', () => {
  const named = (name: string) => alarms.find(({ AlarmName }) => AlarmName.endsWith(`-platform-${name}`))!;

  test.each([
    'backend-errors',
    'strategy-errors',
    'proxy-errors',
    'backend-latency',
    'backend-function-slow',
  ])('alarm %s fires at three periods within an hour, also when those between have no data', (name) => {
    const alarm = named(name);
    const [{ Period } = alarm] = (alarm.Metrics ?? []).flatMap(({ MetricStat }: any) => MetricStat ?? []);
    expect({ ...alarm, Period }).toMatchObject({
      DatapointsToAlarm: 3,
      EvaluationPeriods: 12,
      Period: 300,
      TreatMissingData: 'notBreaching',
    });
  });

  test('function alarms count crashes and throttles over an hour', () => {
    const faults = alarms.filter(({ AlarmName }) => AlarmName.endsWith('-function-faults'));
    expect(faults.length).toBeGreaterThan(5);
    for (const { Metrics, Threshold, EvaluationPeriods } of faults) {
      expect({ Threshold, EvaluationPeriods }).toEqual({ Threshold: 2, EvaluationPeriods: 1 });
      const stats = Metrics.flatMap(({ MetricStat }: any) => MetricStat ?? []);
      expect(stats).toMatchObject([
        { Period: 3600, Stat: 'Sum' },
        { Period: 3600, Stat: 'Sum' },
      ]);
    }
  });

  test('each sum of several metrics fills the ones without data', () => {
    const sums = alarms.flatMap(({ AlarmName, Metrics = [] }) =>
      Metrics.flatMap(({ Expression }: any) =>
        Expression?.includes(' + ') ? [[AlarmName, Expression]] : [],
      ),
    );
    expect(sums.length).toBeGreaterThan(8);
    for (const [name, expression] of sums) {
      const bare = expression.replaceAll(/FILL\(\w+, 0\)/g, '').replaceAll(/[ +]/g, '');
      expect(bare, name).toBe('');
    }
  });

  test('proxy alarm counts failures of data collection, not of callers', () => {
    const metrics = named('proxy-errors').Metrics.map(({ MetricStat }: any) => MetricStat?.Metric.MetricName);
    expect(metrics.sort()).toEqual(['ProxyRequests', 'ProxyUpstreamErrors', undefined]);
  });
});

test.each([
  ['fargate-quota', { Service: 'Fargate', Resource: 'vCPU', Class: 'Standard/OnDemand' }],
  ['fargate-spot-quota', { Service: 'Fargate', Resource: 'vCPU', Class: 'Standard/Spot' }],
  ['function-quota', { Service: 'Lambda', Resource: 'ConcurrentExecutions', Class: 'None' }],
])('alarm %s compares the use that AWS publishes with the quota of the account', (name, dimensions) => {
  const { Metrics, Threshold } = alarms.find(({ AlarmName }) => AlarmName.endsWith(`-platform-${name}`))!;
  expect(Threshold).toBe(80);
  const [expression, used] = Metrics;
  expect(expression.Expression).toBe(`100 * ${used.Id} / SERVICE_QUOTA(${used.Id})`);
  const { Namespace, MetricName, Dimensions } = used.MetricStat.Metric;
  expect([Namespace, MetricName]).toEqual(['AWS/Usage', 'ResourceCount']);
  expect(Object.fromEntries(Dimensions.map(({ Name, Value }: any) => [Name, Value]))).toEqual({
    ...dimensions,
    Type: 'Resource',
  });
});

test('audit alarm fires when any service logs a failed audit write', () => {
  const filters = ofType(prod, 'AWS::Logs::MetricFilter')
    .map(([, { Properties }]) => Properties)
    // Log message as in test/http/audit.test.ts.
    .filter(({ FilterPattern }) => FilterPattern === '{ $.message = "*not in the audit trail" }');
  expect(filters.map(({ LogGroupName }) => LogGroupName.Ref)).toEqual([
    expect.stringMatching(/^DataCollectionTaskLog/),
    expect.stringMatching(/^StrategyServiceLog/),
    expect.stringMatching(/^BackendLog/),
  ]);
  const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith('-audit-write-failures'))!;
  const { Namespace, MetricName } = alarm;
  expect(alarm).toMatchObject({ Statistic: 'Sum', Threshold: 1, EvaluationPeriods: 1 });
  for (const { MetricTransformations } of filters) {
    expect(MetricTransformations).toMatchObject([
      { MetricNamespace: Namespace, MetricName, MetricValue: '1' },
    ]);
  }
});

test.each([
  ['challenges-rolled-back', 'ChallengesRolledBack', 'challenges', 1],
  ['challenges-held', 'ChallengesHeld', 'challenges', 1],
  ['challenge-processing-errors', 'ChallengeProcessingErrors', 'repair', 2],
])('alarm %s fires at the first count', (name, metric, service, periods) => {
  const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith(`-platform-${name}`))!;
  // Metrics as in test/lambdas/repair.test.ts.
  expect(alarm).toMatchObject({
    Namespace: 'Touchstone',
    MetricName: metric,
    Statistic: 'Sum',
    Threshold: 1,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    EvaluationPeriods: periods,
    Dimensions: [
      { Name: 'service', Value: service },
      { Name: 'stage', Value: 'production' },
    ],
  });
});

test('dashboard shows every alarmed service, with user-facing symptoms first', () => {
  const [[, { Properties }]] = ofType(prod, 'AWS::CloudWatch::Dashboard') as [[string, Resource]];
  const parts: unknown[] = Properties.DashboardBody['Fn::Join'][1];
  const body = JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'reference')).join(''));
  const titles: string[] = body.widgets.map(({ properties }: any) => properties.title);
  expect(new Set(titles).size).toBe(titles.length);
  const sections = [/requests$/, /executions$/, /^Challenges/, /^Proxy/, /^Function errors$/, /^Tables/];
  const firsts = sections.map((section) => titles.findIndex((title) => section.test(title)));
  expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
  expect(firsts[0]).toBe(0);
  const durations = body.widgets.find(({ properties }: any) => properties.title === 'Function durations, ms');
  expect(durations.properties.metrics).toHaveLength(14);
});
