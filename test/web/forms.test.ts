import { describe, expect, test } from 'vitest';
import { changesBetween } from '../../web/src/forms/changes.ts';
import { curlOf } from '../../web/src/forms/curl.ts';
import { errorOfField, errorsWithoutField } from '../../web/src/forms/errors.ts';
import { numberError, parseNumber } from '../../web/src/forms/number.ts';
import { timeframesOf } from '../../web/src/forms/timeframes.ts';

/** What the dashboard's forms do without a browser. */

describe('errors of the API', () => {
  const fields = ['pairs', 'config.params', 'config.params.fast', 'date_range'];

  test('stand at the field itself or at the one that holds it', () => {
    const errors = { 'pairs.0': 'unknown pair', 'config.params.fast': 'too large' };
    expect(errorOfField(errors, 'pairs', fields)).toBe('unknown pair');
    expect(errorOfField(errors, 'config.params.fast', fields)).toBe('too large');
    expect(errorOfField(errors, 'config.params', fields)).toBeUndefined();
    expect(errorsWithoutField(errors, fields)).toEqual([]);
  });

  test('without a shown field are listed', () => {
    const errors = { pairs_more: 'a', 'date_range.start': 'b', config: 'c' };
    expect(errorsWithoutField(errors, fields)).toEqual([
      ['pairs_more', 'a'],
      ['config', 'c'],
    ]);
  });
});

test('the timeframe of a strategy can be chosen besides the common ones', () => {
  const common = ['1h', '4h'];
  expect(timeframesOf(common, '1h', undefined)).toEqual(common);
  expect(timeframesOf(common, '2h', undefined)).toEqual(['1h', '4h', '2h']);
  expect(timeframesOf(common, '1h', '2h')).toContain('2h');
  expect(timeframesOf(common, undefined, undefined)).toEqual(common);
});

test.each([
  ['', undefined, undefined],
  [' 5 ', 5, undefined],
  ['0,5', 0.5, 'Must be an integer'],
  ['−3', -3, 'Must be at least 0'],
  ['11', 11, 'Must be at most 10'],
  ['1e', Number.NaN, 'Not a number'],
  ['1,000,000', Number.NaN, 'Not a number'],
])('typed number %j', (text, number, error) => {
  expect(parseNumber(text)).toEqual(number);
  expect(numberError(text, { min: 0, max: 10, isInteger: true })).toBe(error);
});

test('changes name each leaf that differs, lists as a whole', () => {
  const from = { strategy: 'a', pairs: ['x'], config: { fast: 1, gone: true } };
  const to = { strategy: 'a', pairs: ['x', 'y'], config: { fast: 2, made: 0 } };
  expect(changesBetween(from, to)).toEqual([
    { path: 'pairs', from: ['x'], to: ['x', 'y'] },
    { path: 'config.fast', from: 1, to: 2 },
    { path: 'config.made', from: undefined, to: 0 },
    { path: 'config.gone', from: true, to: undefined },
  ]);
});

test('command quotes whatever is in the request and never holds a token', () => {
  const command = curlOf({
    method: 'POST',
    url: 'http://127.0.0.1:8000/services/strategy/api/v1/hyperopt',
    body: { experiment_name: `it's $(rm -rf ~) "quoted"` },
    needsToken: true,
  });
  expect(command).toBe(
    [
      `curl -X POST 'http://127.0.0.1:8000/services/strategy/api/v1/hyperopt'`,
      `-H "Authorization: Bearer $TOUCHSTONE_TOKEN"`,
      `-H 'Content-Type: application/json'`,
      String.raw`-d '{"experiment_name":"it'\''s $(rm -rf ~) \"quoted\""}'`,
    ].join(' \\\n  '),
  );
});
