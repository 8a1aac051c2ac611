import { ACCOUNT_LIMITS } from '#contract/values/account-limits.ts';
import { BACKTEST_LIMITS } from '#contract/values/backtest-limits.ts';
import { MAX_SYMBOL_LENGTH } from '#contract/values/market-data-limits.ts';
import { ML_ENGINE_LIMITS, MODEL_ALIASES, MODEL_KINDS } from '#contract/values/model-limits.ts';
import { nearestName } from '#contract/values/nearest-name.ts';
import { SIGNALS_STRATEGY } from '#contract/values/signals-limits.ts';
import { SYMBOLS } from '#contract/values/trading-modes.ts';
import { classifierSettingProblems, modelKindOf } from '../ml/settings.ts';
import { mlEngineOf } from '../ml/windows.ts';
import { parseStartup } from '../startup.ts';
import {
  CALLBACK_NAMES,
  type MlEngineOverrides,
  type Parameter,
  type StrategyCallbacks,
  type StrategyDefinition,
  type TrailingStop,
} from '../strategy.ts';
import { ALL_TIMEFRAMES, isTimeframe } from '../timeframe.ts';
import { orderOptionProblems } from './account-options.ts';
import { informativeProblems } from './informative-problems.ts';
import { defaultParameters } from './parameters.ts';
import { plotProblems } from './plot-problems.ts';
import { protectionProblems } from './protection-problems.ts';

/** Names of strategies, the values of `config.strategy`. */
/** Names that a strategy can have. */
export const STRATEGY_NAME = /^[a-z][a-z0-9_]{0,63}$/;
const PARAMETER_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const { leverage: LEVERAGE } = BACKTEST_LIMITS;
const { max: MINUTES } = ACCOUNT_LIMITS.unfilled_timeout;

/** Keys of a definition. As a record, so that the compiler requires every key of the type. */
const DEFINITION_KEYS: Readonly<Record<keyof StrategyDefinition, true>> = {
  name: true,
  description: true,
  timeframe: true,
  timeframes: true,
  pairs: true,
  stakeAmount: true,
  parameters: true,
  startupCandles: true,
  informativeTimeframes: true,
  informative: true,
  indicators: true,
  signals: true,
  mlFeatures: true,
  mlLabel: true,
  mlEngine: true,
  canShort: true,
  stoploss: true,
  trailing: true,
  minimalRoi: true,
  protections: true,
  leverage: true,
  useExitSignal: true,
  exitProfitOnly: true,
  exitProfitOffset: true,
  ignoreRoiIfEntrySignal: true,
  unfilledTimeoutMinutes: true,
  unfilledTimeout: true,
  orderTypes: true,
  ignoreEntryAfterCandles: true,
  maxAdjustments: true,
  plot: true,
  callbacks: true,
};

/**
 * Problems of a definition, one sentence each that begins with the field; empty when it is valid.
 * A strategy file runs without a type check, so the value may have any type.
 */
export function definitionProblems(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) {
    return ['the file must export default defineStrategy({...})'];
  }
  const definition = value as StrategyDefinition;
  const problems = [
    ...unknownKeys(definition, Object.keys(DEFINITION_KEYS), ''),
    ...dataProblems(definition),
    ...functionProblems(definition),
  ];
  return problems.length > 0 ? problems : startupProblems(definition);
}

/** {@link definitionProblems} of the declared data, for a definition whose functions are in another process. */
export function dataProblems(definition: DeclaredData): string[] {
  return [
    ...identityProblems(definition),
    ...informativeProblems(definition),
    ...parameterProblems(definition.parameters),
    ...exitProblems(definition),
    ...optionProblems(definition),
    ...orderOptionProblems(definition),
    ...mlProblems(definition),
    ...plotProblems(definition),
  ];
}

type DeclaredData = Omit<StrategyDefinition, 'startupCandles' | 'indicators' | 'signals' | 'callbacks'>;

function identityProblems(definition: DeclaredData): string[] {
  const { name, description, timeframe, timeframes = [], pairs, stakeAmount } = definition;
  const problems: string[] = [];
  if (typeof name !== 'string' || !STRATEGY_NAME.test(name)) {
    problems.push(`name must match ${STRATEGY_NAME.source}`);
  }
  if (name === SIGNALS_STRATEGY) problems.push(`name ${name} is reserved for uploaded signals`);
  if (!isNonEmptyString(description)) problems.push('description must be a string');
  if (!isTimeframe(String(timeframe))) problems.push(`timeframe must be one of ${ALL_TIMEFRAMES.join(', ')}`);
  if (!Array.isArray(timeframes) || !timeframes.every((each) => isTimeframe(String(each))))
    problems.push(`timeframes must be a list of ${ALL_TIMEFRAMES.join(', ')}`);
  if (!isPairList(pairs)) problems.push('pairs must be different symbols of the form BASE/QUOTE:SETTLE');
  if (!(isNumber(stakeAmount) && stakeAmount > 0)) problems.push('stakeAmount must be a number above 0');
  return problems;
}

function parameterProblems(parameters: unknown): string[] {
  if (typeof parameters !== 'object' || parameters === null) return ['parameters must be an object'];
  return Object.entries(parameters).flatMap(([name, parameter]) => {
    const problem = PARAMETER_NAME.test(name)
      ? parameterProblem(parameter)
      : `the name must match ${PARAMETER_NAME.source}`;
    return problem ? [`parameters.${name}: ${problem}`] : [];
  });
}

function parameterProblem(parameter: Parameter): string | undefined {
  if (!isNonEmptyString(parameter?.description)) return 'description must be a string';
  if (parameter.kind === 'choice') {
    const { choices } = parameter;
    if (!Array.isArray(choices) || choices.length === 0) return 'choices must not be empty';
    if (!choices.every(isChoice)) return 'choices must be strings, numbers, true or false';
    if (new Set(choices).size !== choices.length) return 'choices must differ';
    return choices.includes(parameter.default) ? undefined : 'default must be one of the choices';
  }
  if (parameter.kind !== 'integer' && parameter.kind !== 'number') {
    return 'kind must be integer, number or choice';
  }
  const { min, max, default: value } = parameter;
  const isKind = parameter.kind === 'integer' ? Number.isInteger : Number.isFinite;
  if (![min, max, value].every(isKind)) return `min, max and default must be of kind ${parameter.kind}`;
  if (min > max) return `min ${min} is above max ${max}`;
  return value >= min && value <= max ? undefined : `default ${value} is outside its range ${min} to ${max}`;
}

function functionProblems(definition: StrategyDefinition): string[] {
  const problems: string[] = [];
  for (const name of ['indicators', 'signals'] as const) {
    if (typeof definition[name] !== 'function') problems.push(`${name} must be a function`);
  }
  const { callbacks } = definition;
  if (callbacks === undefined) return problems;
  if (typeof callbacks !== 'object' || callbacks === null)
    return [...problems, 'callbacks must be an object'];
  problems.push(...unknownKeys(callbacks, CALLBACK_NAMES, 'callbacks.'));
  for (const [name, callback] of Object.entries(callbacks)) {
    if (typeof callback !== 'function') problems.push(`callbacks.${name} must be a function`);
  }
  return problems;
}

function exitProblems({ stoploss, trailing, minimalRoi, protections = [] }: DeclaredData): string[] {
  const problems: string[] = [];
  if (!(isNumber(stoploss) && stoploss > -1 && stoploss < 0)) {
    problems.push('stoploss must be above -1 and below 0');
  }
  if (trailing !== undefined) problems.push(...trailingProblems(trailing));
  problems.push(
    ...protectionProblems(protections).map(({ field, problem }) => `protections${field} ${problem}`),
  );
  if (minimalRoi === undefined) return problems;
  if (!isRecord(minimalRoi)) return [...problems, 'minimalRoi must be an object of minutes and ratios'];
  for (const [minutes, ratio] of Object.entries(minimalRoi)) {
    if (!/^\d{1,9}$/.test(minutes))
      problems.push(`minimalRoi: the key ${minutes} is not a number of minutes`);
    if (!(isNumber(ratio) && ratio >= -1)) problems.push(`minimalRoi.${minutes} must be a ratio from -1`);
  }
  return problems;
}

/** Keys of a trailing stop; as a record, so that the compiler requires every key of the type. */
const TRAILING_KEYS: Readonly<Record<keyof TrailingStop, true>> = {
  positive: true,
  offset: true,
  only_offset_is_reached: true,
};

function trailingProblems(trailing: TrailingStop): string[] {
  if (!isRecord(trailing)) return ['trailing must be an object'];
  const { positive, offset = 0, only_offset_is_reached: onlyOffset = false } = trailing;
  const problems = unknownKeys(trailing, Object.keys(TRAILING_KEYS), 'trailing.');
  if (typeof onlyOffset !== 'boolean') problems.push('trailing.only_offset_is_reached must be true or false');
  if (positive !== undefined && !(isNumber(positive) && positive > 0 && positive < 1)) {
    problems.push('trailing.positive must be above 0 and below 1');
  }
  if (!(isNumber(offset) && offset >= 0)) problems.push('trailing.offset must be a ratio from 0');
  if (onlyOffset && offset === 0) {
    problems.push('trailing.offset is required with only_offset_is_reached');
  }
  if (positive !== undefined && offset > 0 && offset <= positive) {
    problems.push('trailing.offset must be above trailing.positive');
  }
  return problems;
}

function optionProblems(definition: DeclaredData): string[] {
  const { leverage = 1, exitProfitOffset = 0, unfilledTimeoutMinutes = 1, maxAdjustments = 0 } = definition;
  const problems: string[] = [];
  if (!(isNumber(leverage) && leverage >= LEVERAGE.min && leverage <= LEVERAGE.max)) {
    problems.push(`leverage must be a number from ${LEVERAGE.min} to ${LEVERAGE.max}`);
  }
  if (!isNumber(exitProfitOffset)) problems.push('exitProfitOffset must be a number');
  if (
    !(isNumber(unfilledTimeoutMinutes) && unfilledTimeoutMinutes > 0 && unfilledTimeoutMinutes <= MINUTES)
  ) {
    problems.push(`unfilledTimeoutMinutes must be a number above 0, at most ${MINUTES}`);
  }
  if (!(isNumber(maxAdjustments) && Number.isInteger(maxAdjustments) && maxAdjustments >= 0)) {
    problems.push('maxAdjustments must be an integer from 0');
  }
  for (const name of ['canShort', 'useExitSignal', 'exitProfitOnly', 'ignoreRoiIfEntrySignal'] as const) {
    const flag = definition[name];
    if (flag !== undefined && typeof flag !== 'boolean') problems.push(`${name} must be true or false`);
  }
  return problems;
}

function startupProblems(definition: StrategyDefinition): string[] {
  const { startupCandles: declared, parameters, timeframe } = definition;
  const value: unknown =
    typeof declared === 'function' ? declared.call(definition, defaultParameters(parameters)) : declared;
  const startup = parseStartup(value, timeframe);
  if (typeof startup !== 'string') return [];
  return [
    `startupCandles must be an integer number of candles, or such numbers by timeframe; it ${typeof declared === 'function' ? 'returned' : 'is'} ${startup}`,
  ];
}

function unknownKeys(value: object, known: readonly string[], path: string): string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const nearest = nearestName(key, known);
      return `${path}${key} is not known${nearest ? `; did you mean ${path}${nearest}?` : ''}`;
    });
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function isChoice(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || isNumber(value);
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function isPairList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (pair) =>
        typeof pair === 'string' && pair.length <= MAX_SYMBOL_LENGTH && SYMBOLS.futures.pattern.test(pair),
    ) &&
    new Set(value).size === value.length
  );
}

/** Without the gate: strategies with ML settings of their own read the predictions themselves. */
const ML_SETTING_NAMES = Object.keys(mlEngineOf({})).filter(
  (name) => name !== 'enabled' && name !== 'entry_threshold',
);

/** Problems of the ML fields of a definition, one sentence each that begins with the field. */
function mlProblems(definition: Pick<StrategyDefinition, 'mlFeatures' | 'mlLabel' | 'mlEngine'>): string[] {
  const { mlEngine } = definition;
  const problems: string[] = [];
  for (const name of ['mlFeatures', 'mlLabel'] as const) {
    const given = definition[name];
    if (given !== undefined && typeof given !== 'function') problems.push(`${name} must be a function`);
  }
  if (mlEngine === undefined) return problems;
  if (typeof mlEngine !== 'object' || mlEngine === null) return [...problems, 'mlEngine must be an object'];
  return [...problems, ...settingProblems(mlEngine).map((problem) => `mlEngine.${problem}`)];
}

function settingProblems(settings: MlEngineOverrides): string[] {
  const unknown = Object.keys(settings).filter((key) => !ML_SETTING_NAMES.includes(key));
  if (unknown.length > 0) {
    return unknown.map((key) => {
      const nearest = nearestName(key, ML_SETTING_NAMES);
      return `${key} is not known${nearest ? `; did you mean ${nearest}?` : ''}`;
    });
  }
  const { enabled: _, model_type, entry_threshold, ...resolved } = mlEngineOf({}, settings);
  const kind = typeof model_type === 'string' ? modelKindOf(model_type) : undefined;
  const { train_period_days, backtest_period_days, ...classifier } = resolved;
  const periods = Object.entries({ train_period_days, backtest_period_days } as const);
  return [
    ...(kind
      ? []
      : [`model_type must be one of ${[...MODEL_KINDS, ...Object.keys(MODEL_ALIASES)].join(', ')}`]),
    ...periods.flatMap(([name, days]) => {
      const { min, max } = ML_ENGINE_LIMITS[name as keyof typeof ML_ENGINE_LIMITS];
      const isValid = Number.isInteger(days) && days >= min && days <= max;
      return isValid ? [] : [`${name} must be an integer from ${min} to ${max} (days)`];
    }),
    ...classifierSettingProblems({ ...classifier, kind: kind ?? MODEL_KINDS[0], seed: 0 }).map(
      ({ message }) => message,
    ),
  ];
}

type FunctionField = 'startupCandles' | 'indicators' | 'signals' | 'mlFeatures' | 'mlLabel' | 'callbacks';

/** Strategy definition without its functions: plain data, and flags for the optional functions. */
export interface DefinitionData extends Omit<StrategyDefinition, FunctionField> {
  /** Names of the callbacks that the definition has, sorted. */
  readonly callbacks: readonly (keyof StrategyCallbacks)[];
  /** True if the definition has `mlFeatures`; otherwise the default features apply. */
  readonly ownFeatures: boolean;
  /** True if the definition has `mlLabel`; otherwise the default label applies. */
  readonly ownLabel: boolean;
}

/**
 * Data of a definition, copied field by field: own properties only, without functions.
 *
 * @param definition one without {@link definitionProblems}
 */
export function definitionData(definition: StrategyDefinition): DefinitionData {
  const { startupCandles, indicators, signals, mlFeatures, mlLabel, callbacks, ...data } = definition;
  return {
    ...data,
    callbacks: (Object.keys(callbacks ?? {}) as (keyof StrategyCallbacks)[]).sort(),
    ownFeatures: mlFeatures !== undefined,
    ownLabel: mlLabel !== undefined,
  };
}
