import { describe, expect, it } from 'vitest';
import { createStrategyRegistry, StrategyDefinitionError } from '#engine/definitions/registry.ts';
import { defineStrategy, type StrategyDefinition } from '#engine/strategy.ts';

const sound = defineStrategy({
  name: 'sound',
  description: 'A sound strategy',
  timeframe: '1h',
  pairs: ['BTC/USDT:USDT'],
  stakeAmount: 100,
  parameters: {
    fast_period: { kind: 'integer', default: 10, min: 5, max: 20, description: 'Candles' },
    threshold: { kind: 'number', default: 0.5, min: 0, max: 1, description: 'Ratio' },
    mode: { kind: 'choice', default: 'calm', choices: ['calm', 'wild'], description: 'Temper' },
  },
  startupCandles: ({ fast_period }) => 5 * fast_period,
  indicators: () => ({}),
  signals: () => ({}),
  stoploss: -0.1,
});

const registry = createStrategyRegistry([sound]);

function problemsOf(changes: object): readonly string[] {
  try {
    createStrategyRegistry([{ ...sound, ...changes } as StrategyDefinition]);
  } catch (error) {
    expect(error).toBeInstanceOf(StrategyDefinitionError);
    return (error as StrategyDefinitionError).problems;
  }
  return [];
}

describe('strategy registry', () => {
  it('registry finds strategies by name and lists names in order', () => {
    const both = createStrategyRegistry([sound, { ...sound, name: 'other' }]);
    expect(both.names()).toEqual(['other', 'sound']);
    expect(both.get('sound')).toBe(sound);
    expect(both.get('unsound')).toBeUndefined();
    expect(both.get('constructor')).toBeUndefined();
  });

  it('registry rejects a name that is taken', () => {
    expect(() => createStrategyRegistry([sound, { ...sound }])).toThrow(
      'Strategy sound: another strategy has the same name.',
    );
  });

  it('registry error names the strategy and all its problems', () => {
    expect(() =>
      createStrategyRegistry([sound, { ...sound, name: 'loud', stoploss: 0.1, stakeAmount: 0 }]),
    ).toThrow('Strategy loud: stakeAmount must be a number above 0; stoploss must be above -1 and below 0.');
    expect(() => createStrategyRegistry([undefined as unknown as StrategyDefinition])).toThrow(
      'Strategy number 1: the file must export default defineStrategy({...}).',
    );
  });
});

describe('strategy definitions', () => {
  it.each<[string, object, string]>([
    ['a name with capitals', { name: 'Loud' }, 'name must match'],
    ['a name that is too long', { name: `a${'b'.repeat(64)}` }, 'name must match'],
    ['no description', { description: ' ' }, 'description must be a string'],
    [
      'an unknown timeframe',
      { timeframe: '7h' },
      'timeframe must be one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w',
    ],
    ['no pairs', { pairs: [] }, 'pairs must be different symbols'],
    ['a spot pair', { pairs: ['BTC/USDT'] }, 'pairs must be different symbols'],
    ['a repeated pair', { pairs: ['BTC/USDT:USDT', 'BTC/USDT:USDT'] }, 'pairs must be different symbols'],
    ['a stake that is a string', { stakeAmount: '100' }, 'stakeAmount must be a number above 0'],
    [
      'an informative timeframe equal to its own',
      { informativeTimeframes: ['1h'] },
      'not a timeframe longer than 1h',
    ],
    [
      'an unknown informative timeframe',
      { informativeTimeframes: ['1M'] },
      'informativeTimeframes: 1M is not',
    ],
    [
      'an informative timeframe that its own does not divide',
      { timeframe: '3d', informativeTimeframes: ['1w'] },
      'informativeTimeframes: 1w is not a multiple of 3d',
    ],
    ['a stop loss of 0', { stoploss: 0 }, 'stoploss must be above -1 and below 0'],
    ['a stop loss of -1', { stoploss: -1 }, 'stoploss must be above -1 and below 0'],
    ['a stop loss that is not a number', { stoploss: Number.NaN }, 'stoploss must be above -1 and below 0'],
    [
      'a ROI key that is not a time',
      { minimalRoi: { soon: 0.1 } },
      'minimalRoi: the key soon is not a number of minutes',
    ],
    ['a ROI key below 0', { minimalRoi: { '-5': 0.1 } }, 'minimalRoi: the key -5'],
    ['a ROI below -1', { minimalRoi: { 0: -2 } }, 'minimalRoi.0 must be a ratio from -1'],
    [
      'a trailing distance of 0',
      { trailing: { positive: 0 } },
      'trailing.positive must be above 0 and below 1',
    ],
    ['a trailing stop that is null', { trailing: null }, 'trailing must be an object'],
    ['a trailing stop that is a number', { trailing: 0.02 }, 'trailing must be an object'],
    [
      'a misspelled key of the trailing stop',
      { trailing: { positve: 0.02 } },
      'trailing.positve is not known; did you mean trailing.positive?',
    ],
    [
      'a flag of the trailing stop that is a string',
      { trailing: { offset: 0.02, only_offset_is_reached: 'no' } },
      'trailing.only_offset_is_reached must be true or false',
    ],
    ['a ROI that is a number', { minimalRoi: 0.04 }, 'minimalRoi must be an object of minutes and ratios'],
    ['a ROI that is a list', { minimalRoi: [0.04] }, 'minimalRoi must be an object of minutes and ratios'],
    ['a ROI that is null', { minimalRoi: null }, 'minimalRoi must be an object of minutes and ratios'],
    [
      'informative timeframes that are null',
      { informativeTimeframes: null },
      'informativeTimeframes must be an array of timeframes',
    ],
    [
      'a timeframe in place of a list',
      { informativeTimeframes: '4h' },
      'informativeTimeframes must be an array of timeframes',
    ],
    [
      'a timeout of centuries',
      { unfilledTimeoutMinutes: 1e12 },
      'unfilledTimeoutMinutes must be a number above 0, at most 525600',
    ],
    ['a trailing offset below 0', { trailing: { offset: -0.1 } }, 'trailing.offset must be a ratio from 0'],
    ['a missing offset', { trailing: { only_offset_is_reached: true } }, 'trailing.offset is required'],
    [
      'an offset inside the distance',
      { trailing: { positive: 0.03, offset: 0.02 } },
      'trailing.offset must be above',
    ],
    ['a leverage below 1', { leverage: 0.5 }, 'leverage must be a number from 1 to 125'],
    ['a flag that is a string', { canShort: 'yes' }, 'canShort must be true or false'],
    ['a timeout of 0', { unfilledTimeoutMinutes: 0 }, 'unfilledTimeoutMinutes must be a number above 0'],
    ['an offset of null', { exitProfitOffset: null }, 'exitProfitOffset must be a number'],
    ['no signals', { signals: undefined }, 'signals must be a function'],
    [
      'startupCandles that is a string',
      { startupCandles: '50' as never },
      'startupCandles must be an integer',
    ],
    [
      'a fraction of startup candles',
      { startupCandles: () => 0.5 },
      'it returned 0.5, which is not an integer',
    ],
    ['the name of given signals', { name: 'signals' }, 'name signals is reserved for uploaded signals'],
    ['a misspelled key', { stopLoss: -0.1 }, 'stopLoss is not known; did you mean stoploss?'],
    [
      'a misspelled callback',
      { callbacks: { customExits: () => null } },
      'did you mean callbacks.customExit?',
    ],
    [
      'a callback that is a number',
      { callbacks: { customExit: 1 } },
      'callbacks.customExit must be a function',
    ],
    ['mlFeatures that is an object', { mlFeatures: {} }, 'mlFeatures must be a function'],
    ['mlLabel that is a number', { mlLabel: 12 }, 'mlLabel must be a function'],
    ['mlEngine that is true', { mlEngine: true }, 'mlEngine must be an object'],
    [
      'a misspelled setting of models',
      { mlEngine: { learning_rates: 0.1 } },
      'mlEngine.learning_rates is not known; did you mean learning_rate?',
    ],
    [
      'an entry_threshold of its own',
      { mlEngine: { entry_threshold: 0.6 } },
      'mlEngine.entry_threshold is not known',
    ],
    ['an unknown model', { mlEngine: { model_type: 'svm' } }, 'mlEngine.model_type must be one of depthwise'],
    [
      'no training',
      { mlEngine: { train_period_days: 0.5 } },
      'mlEngine.train_period_days must be an integer',
    ],
    ['no trees', { mlEngine: { n_estimators: 0 } }, 'mlEngine.n_estimators: must be an integer from 1'],
    ['no parameters', { parameters: undefined }, 'parameters must be an object'],
  ])('registry rejects %s', (_case, changes, problem) => {
    const problems = problemsOf(changes);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  it.each<[string, object, string]>([
    [
      'a default above the range',
      { kind: 'number', default: 3, min: 0, max: 2 },
      'default 3 is outside its range 0 to 2',
    ],
    ['an empty range', { kind: 'number', default: 1, min: 2, max: 0 }, 'min 2 is above max 0'],
    ['a broken integer', { kind: 'integer', default: 1.5, min: 1, max: 2 }, 'must be of kind integer'],
    [
      'an endless range',
      { kind: 'number', default: 1, min: 0, max: Number.POSITIVE_INFINITY },
      'of kind number',
    ],
    [
      'an unknown kind',
      { kind: 'float', default: 1, min: 0, max: 2 },
      'kind must be integer, number or choice',
    ],
    ['an empty list of choices', { kind: 'choice', default: 1, choices: [] }, 'choices must not be empty'],
    ['a repeated choice', { kind: 'choice', default: 1, choices: [1, 1] }, 'choices must differ'],
    ['a default outside the choices', { kind: 'choice', default: 3, choices: [1, 2] }, 'one of the choices'],
    [
      'no description',
      { kind: 'choice', default: 1, choices: [1], description: '' },
      'description must be a string',
    ],
  ])('registry rejects a parameter with %s', (_case, parameter, problem) => {
    const problems = problemsOf({ parameters: { x: { description: 'x', ...parameter } } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^parameters\.x: /);
    expect(problems[0]).toContain(problem);
  });

  it('registry rejects a parameter name with spaces', () => {
    const parameter = { kind: 'number', default: 1, min: 0, max: 2, description: 'x' };
    expect(problemsOf({ parameters: { 'two words': parameter } })[0]).toContain('the name must match');
  });
});

describe('resolveParams', () => {
  const defaults = { fast_period: 10, threshold: 0.5, mode: 'calm' };

  it('resolveParams returns defaults and valid overrides', () => {
    expect(registry.resolveParams(sound, {})).toEqual({ values: defaults, problems: [] });
    const overrides = { fast_period: 20, threshold: 1, mode: 'wild' };
    expect(registry.resolveParams(sound, overrides)).toEqual({ values: overrides, problems: [] });
  });

  it.each<[object, string]>([
    [{ fast_period: 4 }, 'fast_period: must be an integer from 5 to 20'],
    [{ fast_period: 21 }, 'fast_period: must be an integer from 5 to 20'],
    [{ fast_period: 10.5 }, 'fast_period: must be an integer from 5 to 20'],
    [{ fast_period: '10' }, 'fast_period: must be an integer from 5 to 20'],
    [{ threshold: Number.NaN }, 'threshold: must be a number from 0 to 1'],
    [{ threshold: null }, 'threshold: must be a number from 0 to 1'],
    [{ mode: 'Calm' }, 'mode: must be one of "calm", "wild"'],
    [{ fastPeriod: 10 }, 'fastPeriod: unknown parameter; did you mean fast_period?'],
    [{ unrelated: 1 }, 'unrelated: unknown parameter; known are fast_period, threshold, mode'],
    [{ toString: 1 }, 'toString: unknown parameter; known are fast_period, threshold, mode'],
  ])('resolveParams rejects %j and keeps the default', (overrides, message) => {
    const { values, problems } = registry.resolveParams(sound, overrides as Record<string, unknown>);
    expect(problems).toEqual([{ parameter: Object.keys(overrides)[0], message }]);
    expect(values).toEqual(defaults);
  });

  it('resolveParams reports every problem and keeps valid values', () => {
    const { values, problems } = registry.resolveParams(sound, { fast_period: 0, threshold: 0.9, speed: 1 });
    expect(problems.map(({ parameter }) => parameter)).toEqual(['fast_period', 'speed']);
    expect(values).toEqual({ ...defaults, threshold: 0.9 });
  });

  it('resolveParams rejects every parameter of a strategy without parameters', () => {
    const bare = { ...sound, parameters: {} };
    expect(registry.resolveParams(bare, { x: 1 }).problems[0]!.message).toBe(
      'x: unknown parameter; the strategy has none',
    );
  });
});
