export type ScaleValue = number | string | boolean;

/** An axis of a canvas: values to shares of its length, from 0 to 1. */
export interface Scale {
  readonly name: string;
  readonly label: string;
  readonly kind: 'linear' | 'log' | 'category';
  readonly position: (value: ScaleValue) => number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
  /** Text of the value at a share of the axis. */
  readonly textAt: (share: number) => string;
}

/** Ratio of the largest to the smallest value from which a positive axis is logarithmic. */
const LOG_FROM = 20;

const short = (value: number, digits: number) => String(Number(value.toPrecision(digits))).replace('-', '−');

/** Scale over the values: categories for anything but numbers, logarithmic where they span more than a factor of 20. */
export function scaleOf(name: string, label: string, values: readonly ScaleValue[]): Scale {
  if (values.some((value) => typeof value !== 'number')) return categories(name, label, values);
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values as readonly number[]) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (!Number.isFinite(min)) [min, max] = [0, 1];
  const isLog = min > 0 && max / min > LOG_FROM;
  const [low, high] = isLog ? [Math.log(min), Math.log(max)] : [min, max];
  const span = high - low || 1;
  const valueAt = (share: number) => (isLog ? Math.exp(low + share * span) : low + share * span);
  return {
    name,
    label,
    kind: isLog ? 'log' : 'linear',
    position: (value) =>
      high === low ? 0.5 : ((isLog ? Math.log(value as number) : (value as number)) - low) / span,
    ticks: [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: short(valueAt(at), 3) })),
    textAt: (share) => short(valueAt(share), 3),
  };
}

function categories(name: string, label: string, values: readonly ScaleValue[]): Scale {
  const names = [...new Set(values.map(String))].sort();
  const at = (index: number) => (names.length < 2 ? 0.5 : index / (names.length - 1));
  return {
    name,
    label,
    kind: 'category',
    position: (value) => at(names.indexOf(String(value))),
    ticks: names.map((text, index) => ({ at: at(index), text })),
    textAt: (share) => names[Math.round(share * (names.length - 1))] ?? '',
  };
}
