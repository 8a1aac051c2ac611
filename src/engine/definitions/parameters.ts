import { nearestName } from '#contract/values/nearest-name.ts';
import type { Parameter, ParameterSpec, ParameterValues } from '../strategy.ts';

/** Rejected override. */
interface ParameterProblem {
  readonly parameter: string;
  readonly message: string;
}

export interface ResolvedParameters {
  /** A value for every declared parameter: the override where it is valid, else the default. */
  readonly values: ParameterValues;
  /** Empty when every override is valid. */
  readonly problems: readonly ParameterProblem[];
}

export function defaultParameters(spec: ParameterSpec): ParameterValues {
  const values = Object.entries(spec).map(([name, parameter]) => [name, parameter.default]);
  return Object.fromEntries(values) as ParameterValues;
}

/** Checks overrides against the declared parameters and fills in the defaults. Never throws. */
export function resolveParameters(
  spec: ParameterSpec,
  overrides: Readonly<Record<string, unknown>>,
): ResolvedParameters {
  const values: Record<string, string | number | boolean> = { ...defaultParameters(spec) };
  const problems: ParameterProblem[] = [];
  for (const [name, value] of Object.entries(overrides)) {
    const parameter = Object.hasOwn(spec, name) ? spec[name] : undefined;
    const message = parameter ? valueProblem(parameter, value) : unknownProblem(spec, name);
    if (message) problems.push({ parameter: name, message: `${name.slice(0, 60)}: ${message}` });
    else values[name] = value as string | number | boolean;
  }
  return { values: values as ParameterValues, problems };
}

function unknownProblem(spec: ParameterSpec, name: string): string {
  const known = Object.keys(spec);
  if (known.length === 0) return 'unknown parameter; the strategy has none';
  const nearest = nearestName(name.slice(0, 60), known);
  return `unknown parameter; ${nearest ? `did you mean ${nearest}?` : `known are ${known.join(', ')}`}`;
}

/** Reason why `value` is invalid for the parameter; undefined when valid. */
function valueProblem(parameter: Parameter, value: unknown): string | undefined {
  if (parameter.kind === 'choice') {
    if (parameter.choices.some((choice) => choice === value)) return undefined;
    return `must be one of ${parameter.choices.map((choice) => JSON.stringify(choice)).join(', ')}`;
  }
  const isKind = parameter.kind === 'integer' ? Number.isInteger(value) : Number.isFinite(value);
  if (isKind && (value as number) >= parameter.min && (value as number) <= parameter.max) return undefined;
  const kind = parameter.kind === 'integer' ? 'an integer' : 'a number';
  return `must be ${kind} from ${parameter.min} to ${parameter.max}`;
}
