import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ofType, synthesize } from '../support/stacks.ts';

const prod = synthesize('prod', { alarmEmail: 'desk@example.org' });
const alarms = ofType(prod, 'AWS::CloudWatch::Alarm').map(([, each]) => each.Properties);
const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

/** Anchors as GitHub makes them of headings. */
const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
  heading!
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-'),
);

describe('every alarm', () => {
  test('says what is lost and where to read on', () => {
    expect(alarms.length).toBeGreaterThan(10);
    for (const { AlarmName, AlarmDescription } of alarms) {
      const [, impact, anchor] =
        AlarmDescription.match(/^(.{40,}[.]) Runbook: docs\/runbook\.md#([a-z-]+)$/) ?? [];
      expect(impact, AlarmName).toBeDefined();
      expect(anchors, AlarmName).toContain(anchor);
      expect(AlarmName).toBe(`touchstone-prod-platform-${anchor}`);
    }
  });

  test('tells the topic, and when it is over too', () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toHaveLength(1);
      expect(OKActions).toEqual(AlarmActions);
    }
  });
});

test('every entry of the runbook says what to look at and what to do', () => {
  const entries = runbook.split(/^## /m).slice(1);
  const alarmed = entries.filter((entry) => alarms.some(({ AlarmName }) => AlarmName.endsWith(slug(entry))));
  expect(alarmed).toHaveLength(alarms.length);
  for (const entry of alarmed) {
    for (const part of ['**Means**', '**Look**', '**Do**']) expect(entry, slug(entry)).toContain(part);
  }
});

const slug = (entry: string) => entry.split('\n')[0]!.toLowerCase().replaceAll(' ', '-');

test('CloudWatch may publish although the policy of the topic was replaced', () => {
  const [, policy] = ofType(prod, 'AWS::SNS::TopicPolicy')[0]!;
  expect(JSON.stringify(policy.Properties)).toContain('cloudwatch.amazonaws.com');
  prod.platform.hasResourceProperties('AWS::SNS::Subscription', {
    Protocol: 'email',
    Endpoint: 'desk@example.org',
  });
});

test('what the audit trail lacks rings, whatever service logs it', () => {
  const filters = ofType(prod, 'AWS::Logs::MetricFilter')
    .map(([, { Properties }]) => Properties)
    // As test/http/audit.test.ts finds it in the log.
    .filter(({ FilterPattern }) => FilterPattern === '{ $.message = "*not in the audit trail" }');
  expect(filters.map(({ LogGroupName }) => LogGroupName.Ref)).toEqual([
    expect.stringMatching(/^BackendLog/),
    expect.stringMatching(/^StrategyServiceLog/),
    expect.stringMatching(/^DataCollectionTaskLog/),
  ]);
  const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith('-audit-gaps'))!;
  const counted = alarm.Metrics.flatMap(({ MetricStat }: any) => MetricStat?.Metric.MetricName ?? []);
  const { Metrics, Threshold } = alarm;
  expect(counted).toEqual(filters.map(({ MetricTransformations: [{ MetricName }] }) => MetricName));
  expect([Metrics[0].Expression, Threshold]).toEqual(['FILL(gaps0, 0) + FILL(gaps1, 0) + FILL(gaps2, 0)', 1]);
});

test.each([
  ['challenges-rolled-back', 'ChallengesRolledBack', 'challenges', 1],
  ['challenges-held', 'ChallengesHeld', 'challenges', 1],
  ['challenge-faults', 'ChallengeFaults', 'reconcile', 2],
])('%s rings at the first that is counted', (name, metric, service, periods) => {
  const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith(`-platform-${name}`))!;
  // As test/lambdas/reconcile.test.ts finds them published.
  expect(alarm).toMatchObject({
    ...{ Namespace: 'Touchstone', MetricName: metric, Statistic: 'Sum', Threshold: 1 },
    ...{ ComparisonOperator: 'GreaterThanOrEqualToThreshold', EvaluationPeriods: periods },
    Dimensions: [
      { Name: 'service', Value: service },
      { Name: 'stage', Value: 'production' },
    ],
  });
});
