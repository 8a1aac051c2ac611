import { NO_MODEL } from '#contract/hyperopt.ts';

/** A number of any size in five digits; `-` for null. */
export function figure(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(5)));
}

type Value = number | string | boolean | Readonly<Record<string, number | boolean | undefined>>;

/** `name value` pairs of a trial's parameters, without a model that there is not. */
export function parametersText(params: Readonly<Record<string, Value | undefined>>): string {
  return Object.entries(params)
    .filter(([name, value]) => name !== 'model_type' || value !== NO_MODEL)
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(', ');
}

function valueText(value: Value | undefined): string {
  if (typeof value === 'number') return figure(value);
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([key, each]) => `${key}:${valueText(each)}`)
    .join(' ');
}
