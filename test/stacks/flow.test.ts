import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allStates, BACKTEST_ASL, HYPEROPT_ASL, readDefinition } from '../support/run-asl.ts';
import { actionsOf, ofType, type Synthesized, statements, templatesOf } from '../support/stacks.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod');

const FLOWS = [
  { flow: 'backtest', id: /^BacktestFlow/, asl: BACKTEST_ASL },
  { flow: 'hyperopt', id: /^HyperoptFlow/, asl: HYPEROPT_ASL },
];

const machineOf = (stage: Synthesized, id: RegExp) =>
  ofType(stage, 'AWS::StepFunctions::StateMachine').find(([name]) => id.test(name))!;

describe.each(FLOWS)('$flow state machine', ({ flow, id, asl }) => {
  test('state machine is the file of local mode with a substitution for every name', () => {
    const { Properties } = machineOf(dev, id)[1];
    expect(Properties.DefinitionString).toBe(readFileSync(asl, 'utf8'));
    const names = Properties.DefinitionString.match(/(?<=\$\{)\w+(?=\})/g);
    expect(Object.keys(Properties.DefinitionSubstitutions).sort()).toEqual([...new Set(names)].sort());
  });

  test.each([dev, prod])(
    'state machine of $config.stage is logged and traced; its logs contain no inputs of users',
    (stage) => {
      const { Properties } = machineOf(stage, id)[1];
      expect(Properties.TracingConfiguration).toEqual({ Enabled: true });
      expect(Properties.LoggingConfiguration).toMatchObject({
        Level: 'ALL',
        IncludeExecutionData: false,
      });
      const [{ CloudWatchLogsLogGroup }] = Properties.LoggingConfiguration.Destinations;
      const log = stage.resources.get(CloudWatchLogsLogGroup.LogGroupArn['Fn::GetAtt'][0])!;
      expect(log.Properties).toMatchObject({
        LogGroupName: {
          'Fn::Join': [
            '',
            [`/aws/vendedlogs/states/touchstone-${stage.config.stage}-platform-${flow}-`, expect.anything()],
          ],
        },
        RetentionInDays: stage.config.logRetentionDays,
      });
    },
  );
});

test('alarms count existing states by the events of their type', () => {
  const counted = ofType(dev, 'AWS::Logs::MetricFilter').flatMap(([, { Properties }]) => {
    const flow = FLOWS.find(({ id }) => id.test(Properties.LogGroupName.Ref));
    return flow ? [[flow, Properties.FilterPattern as string] as const] : [];
  });
  expect(counted).toHaveLength(FLOWS.length);
  for (const [{ asl }, pattern] of counted) {
    const kinds = new Map(allStates(readDefinition(asl)).map(([name, { Type }]) => [name, Type]));
    const [, kind] = pattern.match(/\$\.type = "(\w+)StateEntered"/)!;
    const names = [...pattern.matchAll(/\$\.details\.name = "(\w+)"/g)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(kinds.get(name), name).toBe(kind);
  }
});

describe.each([dev, prod])('rules and roles of $config.stage', (stage) => {
  test('EventBridge queues the ends of executions and a tick every minute for the dispatcher', () => {
    const [backtests, hyperoptJobs] = FLOWS.map(({ id }) => ({ Ref: machineOf(stage, id)[0] }));
    const rules = ofType(stage, 'AWS::Events::Rule')
      .filter(([id]) => id.startsWith('Dispatcher'))
      .map(([, each]) => each.Properties);
    expect(rules.map((rule) => rule.EventPattern ?? rule.ScheduleExpression)).toEqual([
      {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: {
          stateMachineArn: [backtests, hyperoptJobs],
          status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'],
        },
      },
      'rate(1 minute)',
    ]);
    for (const { Targets } of rules) {
      expect(JSON.stringify(Targets[0].Arn)).toContain('DispatcherQueue');
    }
    const [source] = ofType(stage, 'AWS::Lambda::EventSourceMapping')
      .filter(([id]) => id.startsWith('Dispatcher'))
      .map(([, each]) => each.Properties);
    expect(source!).toMatchObject({
      MaximumBatchingWindowInSeconds: 1,
      ScalingConfig: { MaximumConcurrency: 2 },
      EventSourceArn: { 'Fn::GetAtt': [expect.stringMatching(/^DispatcherQueue/), 'Arn'] },
    });
    expect(JSON.stringify(source!.FunctionName)).toContain('DispatcherServiceLive');
  });

  test('EventBridge reports the start of a registered image, and of no other task', () => {
    const [rule] = ofType(stage, 'AWS::Events::Rule').filter(([id]) => id.startsWith('ImageRun'));
    const { EventPattern, Targets } = rule![1].Properties;
    expect(EventPattern).toMatchObject({
      source: ['aws.ecs'],
      'detail-type': ['ECS Task State Change'],
      detail: {
        group: [{ prefix: 'bt-' }, { prefix: 'va-' }],
        lastStatus: ['RUNNING'],
        clusterArn: [{ 'Fn::GetAtt': [expect.stringMatching(/^Cluster/), 'Arn'] }],
      },
    });
    expect(JSON.stringify(EventPattern.detail.taskDefinitionArn)).toMatch(
      /^\[\{"wildcard":.*ImageTaskDefinition\w*-image-\*:\*/,
    );
    expect(Targets.map(({ Arn }: any) => Arn.Ref)).toEqual([expect.stringMatching(/^ImageRunServiceLive/)]);
  });

  test.each([
    ['BackendRole', ['BacktestFlow']],
    ['StrategyServiceRole', ['HyperoptFlow']],
    ['RepairServiceRole', ['BacktestFlow', 'HyperoptFlow']],
    ['DispatcherServiceRole', ['BacktestFlow', 'HyperoptFlow']],
  ])(
    'role of %s may start, list, describe and stop executions of %j, and stop tasks of the cluster',
    (role, flows) => {
      const own = statements(stage)
        .filter(({ id }) => id.startsWith(role))
        .map(({ statement }) => statement);
      const machinesOf = (action: string) => {
        const allowed = own.filter((each) => actionsOf(each).includes(action));
        const named = JSON.stringify(allowed.map(({ Resource }) => Resource)).match(/\w+Flow(?=Machine)/g);
        return [...new Set(named)].sort();
      };
      for (const action of ['StartExecution', 'ListExecutions', 'StopExecution', 'DescribeExecution']) {
        expect(machinesOf(`states:${action}`), action).toEqual(flows);
      }
      const stops = own.filter((each) => actionsOf(each).includes('ecs:StopTask'));
      expect(JSON.stringify(stops.map(({ Resource }) => Resource))).toMatch(/:task\/.*Cluster.*\/\*/);
    },
  );

  test('no other role may access executions', () => {
    const roles = statements(stage)
      .filter(({ statement }) => actionsOf(statement).some((action) => action.startsWith('states:')))
      .map(({ id }) => id.replace(/DefaultPolicy[0-9A-F]{8}$/, ''));
    expect(new Set(roles)).toEqual(
      new Set(['BackendRole', 'StrategyServiceRole', 'RepairServiceRole', 'DispatcherServiceRole']),
    );
  });
});
