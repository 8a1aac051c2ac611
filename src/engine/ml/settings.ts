import type { ResolvedMlEngine } from '#contract/config/ml-engine.ts';
import type { NumberBounds } from '#contract/values/bounds.ts';
import {
  CLASS_WEIGHTS,
  CLASSIFIER_LIMITS,
  MODEL_ALIASES,
  MODEL_KINDS,
  type ModelKind,
} from '#contract/values/model-limits.ts';

/** Training settings of a classifier. The names are those of a request's `ml_engine`. */
export interface ClassifierSettings extends Readonly<Pick<ResolvedMlEngine, ClassifierSetting>> {
  readonly kind: ModelKind;
  /** Seed of the row and feature samples of each tree: a 32-bit integer. */
  readonly seed: number;
}

type ClassifierSetting = Exclude<keyof typeof CLASSIFIER_LIMITS, 'seed'>;

/** An invalid setting. */
interface SettingProblem {
  readonly setting: keyof ClassifierSettings;
  /** Begins with the setting's name and states the allowed values. */
  readonly message: string;
}

/** Every setting that is out of range or of a wrong type; empty when all are valid. Never throws. */
export function classifierSettingProblems(settings: ClassifierSettings): SettingProblem[] {
  const problems: SettingProblem[] = [];
  if (!MODEL_KINDS.includes(settings.kind)) {
    problems.push({
      setting: 'kind',
      message: `kind: must be one of ${MODEL_KINDS.join(', ')}, not ${shown(settings.kind)}`,
    });
  }
  for (const [name, limits] of Object.entries<NumberBounds>(CLASSIFIER_LIMITS)) {
    const setting = name as keyof typeof CLASSIFIER_LIMITS;
    const value = settings[setting];
    const isName = setting === 'class_weight' && CLASS_WEIGHTS.some((weight) => weight === value);
    if (isName || isWithin(value, limits)) continue;
    const kind = limits.integer ? 'an integer' : 'a number';
    const names = setting === 'class_weight' ? CLASS_WEIGHTS.map((weight) => `"${weight}"`).join(', ') : '';
    const allowed = `${names && `${names} or `}${kind} from ${limits.min} to ${limits.max}`;
    const message = `${setting}: must be ${allowed}, not ${shown(value)}`;
    problems.push({ setting, message });
  }
  return problems;
}

/** Value in an error message: a number, a quoted string of at most 40 characters, or the type. */
function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return value === null ? 'null' : typeof value;
}

function isWithin(value: unknown, { min, max, integer }: NumberBounds): boolean {
  if (typeof value !== 'number' || !(value >= min && value <= max)) return false;
  return !integer || Number.isInteger(value);
}

/** @throws RangeError that names every invalid setting */
export function checkClassifierSettings(settings: ClassifierSettings): void {
  const problems = classifierSettingProblems(settings);
  if (problems.length > 0) throw new RangeError(problems.map(({ message }) => message).join('; '));
}

const KINDS: ReadonlyMap<string, ModelKind> = new Map([
  ...MODEL_KINDS.map((kind) => [kind, kind] as const),
  ...Object.entries(MODEL_ALIASES).map(([alias, kind]) => [alias.toLowerCase(), kind] as const),
]);

/** Model kind of a canonical name or an alias, case-insensitive; undefined for an unknown name. */
export function modelKindOf(name: string): ModelKind | undefined {
  return KINDS.get(name.toLowerCase());
}
