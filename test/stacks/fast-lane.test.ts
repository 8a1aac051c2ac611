import { describe, expect, test } from 'vitest';
import { actionsOf, ofType, type Synthesized, statements, templatesOf } from '../support/stacks.ts';
import { synthesize } from '../support/synthesize.ts';

const dev = templatesOf('dev');
const isolated = synthesize('dev', { network: 'isolated', fastLaneSeconds: 30 });

const functionOf = (stage: Synthesized, name: string) =>
  ofType(stage, 'AWS::Lambda::Function').find(([id]) => id.startsWith(`FastLane${name}Function`))![1]
    .Properties;

describe('functions of the fast lane', () => {
  test.each([
    // 1,769 MB have one vCPU.
    ['Backtest', 'fast-lane.backtest', 80, 1769],
    ['Collect', 'fast-lane.collect', 300, 1024],
  ])('%s has the handler %s, a limit of %i s and %i MB', (name, Handler, Timeout, MemorySize) => {
    expect(functionOf(dev, name)).toMatchObject({
      Handler,
      Timeout,
      MemorySize,
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
    });
  });

  test('backtest may take four times the longest estimate, and less than its state waits', () => {
    expect(functionOf(isolated, 'Backtest').Timeout).toBe(120);
    expect(4 * 200).toBeLessThan(905);
  });

  test('functions run the files of the task image', () => {
    const { Code } = functionOf(dev, 'Backtest');
    expect(functionOf(dev, 'Collect').Code).toEqual(Code);
  });

  test('isolated network contains the backtest function, and the collection reaches the exchanges', () => {
    expect(functionOf(dev, 'Backtest').VpcConfig).toBeUndefined();
    expect(JSON.stringify(functionOf(isolated, 'Backtest').VpcConfig)).toContain('IsolatedSubnet');
    expect(functionOf(isolated, 'Collect').VpcConfig).toBeUndefined();
  });
});

/** Statements of a role on tables and buckets, without their order. */
const accessOf = (stage: Synthesized, role: string) =>
  statements(stage)
    .filter(({ id }) => id.startsWith(role))
    .filter(({ statement }) => actionsOf(statement).some((action) => /^(dynamodb|s3):/.test(action)))
    .map(({ statement }) => JSON.stringify(statement))
    .sort();

test('backtest function has the data permissions of the backtest task', () => {
  const task = accessOf(dev, 'BacktestTaskDefinitionTaskRole');
  expect(task.length).toBeGreaterThan(2);
  expect(accessOf(dev, 'FastLaneBacktestRole')).toEqual(task);
});

test('collect function has the data permissions of the collect task, for backtests only', () => {
  const withoutKeys = (access: readonly string[]) =>
    access.map((each) => each.replace(/"dynamodb:LeadingKeys":(\[.*?\]|".*?")/, ''));
  const task = accessOf(dev, 'CollectTaskDefinitionTaskRole');
  const own = accessOf(dev, 'FastLaneCollectRole');
  expect(withoutKeys(own)).toEqual(withoutKeys(task));
  expect(task.join()).toContain('ho-*');
  expect(own.join()).not.toContain('ho-*');
});
