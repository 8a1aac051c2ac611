import { describe, expect, test } from 'vitest';
import { TRIALS_PREFIX } from '#contract/values/tables.ts';
import { actionsOf, statements, templatesOf } from '../support/stacks.ts';

/** Items of hyperopt jobs, and slots and waiting owners of their lane. */
const SERVICE_KEYS = {
  'ForAllValues:StringLike': {
    'dynamodb:LeadingKeys': ['ho-*', '#slots#hyperopt', '#owners#hyperopt', '#experiments#*'],
  },
};
/** Waiting owners, and the index entries of waiting hyperopt jobs. */
const POSITION_KEYS = {
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['#owners#hyperopt', 'hyperopt#*'] },
};
/** Items of backtests: a registration keeps the backtest behind the version. */
const BACKTEST_KEYS = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['bt-*', 'sg-*'] } };
/** Items of hyperopt jobs. */
const HYPEROPT_KEYS = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': 'ho-*' } };

describe.each([templatesOf('dev'), templatesOf('prod')])('hyperopt permissions of $config.stage', (stage) => {
  const all = statements(stage);

  test('hyperopt workers may access only hyperopt jobs and ledgers of trials, and read candles', () => {
    const own = all
      .filter(({ id }) => id.startsWith('HyperoptTaskDefinitionTaskRole'))
      .map(({ statement }) => statement);
    const jobs = own.filter(({ Resource }) => /Jobs/.test(JSON.stringify(Resource)));
    expect(jobs.map(({ Action, Condition }) => [Action, Condition])).toEqual([
      [['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'], HYPEROPT_KEYS],
      [
        ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
        { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': `${TRIALS_PREFIX}*` } },
      ],
    ]);
    // Index keys are job kinds and principals.
    expect(JSON.stringify(jobs[0]!.Resource)).not.toContain('/index/');
    const objects = own.filter((each) => actionsOf(each).some((action) => action.startsWith('s3:')));
    expect(objects.map(({ Action }) => Action)).toEqual(['s3:GetObject', 's3:ListBucket']);
    expect(JSON.stringify(objects)).not.toContain('Results');
  });

  test('strategy service may create hyperopt jobs, and only update backtests', () => {
    const writes = all.filter(
      ({ id, statement }) =>
        id.startsWith('StrategyServiceRole') &&
        /Jobs/.test(JSON.stringify(statement.Resource)) &&
        actionsOf(statement).some((action) => /Put|Update/.test(action)),
    );
    expect(writes.map(({ statement: { Action, Condition } }) => [Action, Condition])).toEqual([
      ['dynamodb:UpdateItem', BACKTEST_KEYS],
      [['dynamodb:PutItem', 'dynamodb:UpdateItem'], SERVICE_KEYS],
    ]);
  });

  test('streaming function may only read hyperopt jobs', () => {
    const own = all.filter(({ id }) => id.startsWith('StrategyEventsRole')).map(({ statement }) => statement);
    const others = own.filter((each) => actionsOf(each).some((action) => !/^(logs|xray):/.test(action)));
    expect(others.map(({ Action, Condition }) => [Action, Condition])).toEqual([
      [['dynamodb:GetItem', 'dynamodb:Query'], HYPEROPT_KEYS],
      ['dynamodb:Query', POSITION_KEYS],
    ]);
    expect(JSON.stringify(others[1]!.Resource)).toMatch(/Jobs.*index\/by-queue/);
    expect(JSON.stringify(others[0]!.Resource)).toMatch(/Jobs/);
    expect(JSON.stringify(others[0]!.Resource)).not.toContain('/index/');
  });
});
