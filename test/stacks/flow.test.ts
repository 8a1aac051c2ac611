import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ofType, synthesize } from '../support/stacks.ts';
import { BACKTEST_ASL } from '../support/walk.ts';

const dev = synthesize('dev');
const prod = synthesize('prod');

describe.each([dev, prod])('the state machine of $config.stage', (stage) => {
  const [id, machine] = ofType(stage, 'AWS::StepFunctions::StateMachine')[0]!;
  const { Properties } = machine;

  test('is the file that also runs on one machine, with a value for every name in it', () => {
    expect(Properties.DefinitionString).toBe(readFileSync(BACKTEST_ASL, 'utf8'));
    const names = Properties.DefinitionString.match(/(?<=\$\{)\w+(?=\})/g);
    expect(Object.keys(Properties.DefinitionSubstitutions).sort()).toEqual([...new Set(names)].sort());
  });

  test('is logged and traced; inputs of production are not in the log', () => {
    expect(Properties.TracingConfiguration).toEqual({ Enabled: true });
    expect(Properties.LoggingConfiguration).toMatchObject({
      Level: 'ALL',
      IncludeExecutionData: stage.config.stage === 'dev',
    });
  });

  test('wakes reconcile when an execution ends badly, when a validation ends, and every five minutes', () => {
    const rules = ofType(stage, 'AWS::Events::Rule').map(([, each]) => each.Properties);
    expect(rules.map((rule) => rule.ScheduleExpression).filter(Boolean)).toEqual(['rate(5 minutes)']);
    expect(rules.map((rule) => rule.EventPattern).filter(Boolean)).toEqual([
      {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [{ Ref: id }], status: ['SUCCEEDED'], name: [{ prefix: 'va-' }] },
      },
      {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [{ Ref: id }], status: ['FAILED', 'TIMED_OUT', 'ABORTED'] },
      },
    ]);
    for (const { Targets } of rules) {
      expect(JSON.stringify(Targets[0].Arn)).toContain('ReconcileServiceLive');
    }
  });
});
