import { PROTECTION_KEYS, PROTECTION_LIMITS } from '#contract/values/protection-limits.ts';

/** A value of a protection that is not allowed. */
export interface ProtectionProblem {
  /** Path below the protections: `[1].trade_limit`. */
  readonly field: string;
  /** What is wrong with it, after its name: `must be an integer from 1`. */
  readonly problem: string;
  readonly value: unknown;
}

type Values = Readonly<Record<string, unknown>>;

const KEYS = new Map<string, readonly string[]>(Object.entries(PROTECTION_KEYS));
const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;
const FLAGS = ['only_per_pair', 'only_per_side'];
const MODES = ['ratios', 'equity'];
/** Pairs of keys of which only one may be given. */
const EXCLUSIVE = [
  ['lookback_period', 'lookback_period_candles'],
  ['stop_duration', 'stop_duration_candles'],
  ['stop_duration', 'unlock_at'],
  ['stop_duration_candles', 'unlock_at'],
] as const;

/** Problems of the protections of a strategy or a run; a strategy file runs without a type check. */
export function protectionProblems(protections: unknown): ProtectionProblem[] {
  const { count } = PROTECTION_LIMITS;
  if (!Array.isArray(protections) || protections.length > count)
    return [{ field: '', problem: `must be a list of at most ${count} protections`, value: protections }];
  return protections.flatMap((each: unknown, index) =>
    problemsOf(each).map(({ field, ...rest }) => ({ field: `[${index}]${field && `.${field}`}`, ...rest })),
  );
}

function problemsOf(protection: unknown): ProtectionProblem[] {
  if (typeof protection !== 'object' || protection === null)
    return [{ field: '', problem: 'must be an object', value: protection }];
  const values = protection as Values;
  const keys = KEYS.get(String(values.method));
  if (!keys)
    return [
      { field: 'method', problem: `must be one of ${[...KEYS.keys()].join(', ')}`, value: values.method },
    ];
  const unknown = Object.keys(values).filter((key) => key !== 'method' && !keys.includes(key));
  const given = keys.filter((key) => values[key] !== undefined);
  return [
    ...unknown.map((field) => ({
      field: field.slice(0, 60),
      value: values[field],
      problem: `is unknown; ${String(values.method)} has ${keys.join(', ')}`,
    })),
    ...EXCLUSIVE.filter(([a, b]) => given.includes(a) && given.includes(b)).map(([a, b]) => ({
      field: b,
      value: values[b],
      problem: `and ${a} exclude each other`,
    })),
    ...given.flatMap((field) => {
      const problem = problemWith(field, values[field]);
      return problem === null ? [] : [{ field, problem, value: values[field] }];
    }),
  ];
}

function problemWith(field: string, value: unknown): string | null {
  if (field === 'unlock_at')
    return typeof value === 'string' && TIME_OF_DAY.test(value)
      ? null
      : 'must be a time of day in UTC, such as 18:00';
  if (FLAGS.includes(field)) return typeof value === 'boolean' ? null : 'must be true or false';
  if (field === 'calculation_mode')
    return MODES.includes(value as string) ? null : `must be one of ${MODES.join(', ')}`;
  const { min, max, integer = false } = boundsOf(field);
  const isValid = Number.isFinite(value) && (value as number) >= min && (value as number) <= max;
  return isValid && (!integer || Number.isInteger(value))
    ? null
    : `must be ${integer ? 'an integer' : 'a number'} from ${min} to ${max}`;
}

function boundsOf(field: string): { readonly min: number; readonly max: number; readonly integer?: boolean } {
  const { minutes, candles, trade_limit, required_profit, max_allowed_drawdown } = PROTECTION_LIMITS;
  if (field.endsWith('_candles')) return candles;
  if (field === 'trade_limit') return trade_limit;
  if (field === 'required_profit') return required_profit;
  return field === 'max_allowed_drawdown' ? max_allowed_drawdown : minutes;
}
