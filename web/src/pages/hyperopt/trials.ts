import type { EndedTrial, Trial } from './live.ts';

export type Value = number | string | boolean;
export type Point = Readonly<Record<string, Value>>;

/** Trial with its parameters by dotted name. */
export interface TrialRow extends EndedTrial {
  readonly at: Point;
}

/** Parameters of a trial as one level: steps of the ROI table and parts of the trailing stop get names of their own. */
export function pointOf(params: Trial['params']): Point {
  const point: Record<string, Value> = {};
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined) continue;
    if (typeof value !== 'object') point[name] = value;
    else if (name === 'minimal_roi') Object.assign(point, roiOf(value as Record<string, number>));
    else {
      for (const [part, each] of Object.entries(value)) {
        if (each !== undefined && each !== null) point[`${name}.${part}`] = each as Value;
      }
    }
  }
  return point;
}

function roiOf(table: Readonly<Record<string, number>>): Point {
  const steps = Object.entries(table)
    .map(([minutes, profit]) => [Number(minutes), profit] as const)
    .sort(([a], [b]) => a - b);
  return Object.fromEntries(
    steps.flatMap(([minutes, profit], index) => [
      [`roi.${index + 1}.minutes`, minutes],
      [`roi.${index + 1}.profit`, profit],
    ]),
  );
}

/** `stoploss` stays; `adx_least` becomes `adx least`. */
export function parameterLabel(name: string): string {
  return name.replaceAll('_', ' ').replaceAll('.', ' ');
}

/** Names of the parameters that differ between trials, in the order of the first one. */
export function varyingNames(rows: readonly TrialRow[]): readonly string[] {
  const first = new Map<string, Value>();
  const varying = new Set<string>();
  for (const { at } of rows) {
    for (const name in at) {
      const value = at[name]!;
      const known = first.get(name);
      if (known === undefined) first.set(name, value);
      else if (known !== value) varying.add(name);
    }
  }
  return [...first.keys()].filter((name) => varying.has(name));
}

/** Remembers the point of each trial: a new trial must not compute those of the others again. */
const points = new WeakMap<EndedTrial, TrialRow>();

export function rowsOf(trials: readonly EndedTrial[]): readonly TrialRow[] {
  return trials.map((trial) => {
    const known = points.get(trial);
    if (known) return known;
    const made = { ...trial, at: pointOf(trial.params) };
    points.set(trial, made);
    return made;
  });
}

export interface Standing {
  readonly complete: number;
  readonly pruned: number;
  readonly failed: number;
  readonly best: TrialRow | undefined;
}

/** Counts by state and the best trial; the earlier of equal ones, as in the API. */
export function standingOf(rows: readonly TrialRow[], isBetter: (a: number, b: number) => boolean): Standing {
  const counts = { complete: 0, pruned: 0, failed: 0 };
  let best: TrialRow | undefined;
  for (const row of rows) {
    counts[row.state]++;
    if (row.value !== null && ranksBefore(row, best, isBetter)) best = row;
  }
  return { ...counts, best };
}

/** True for a complete trial that is better than the best one so far: feasible ones first, then by violation, value and number. */
function ranksBefore(
  row: TrialRow,
  best: TrialRow | undefined,
  isBetter: (a: number, b: number) => boolean,
): boolean {
  if (!best) return true;
  const missed = (row.violation ?? 0) - (best.violation ?? 0);
  if (missed !== 0) return missed < 0;
  return row.value === best.value ? row.number < best.number : isBetter(row.value!, best.value!);
}

/** Value of the best trial after each finished one; null before the first complete one. */
export function bestSoFar(
  rows: readonly TrialRow[],
  isBetter: (a: number, b: number) => boolean,
): readonly (number | null)[] {
  let best: TrialRow | undefined;
  return rows.map((row) => {
    if (row.value !== null && ranksBefore(row, best, isBetter)) best = row;
    return best?.value ?? null;
  });
}

/** A value of a parameter in few characters. */
export function valueText(value: Value | undefined): string {
  if (value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  return String(Number(value.toPrecision(4))).replace('-', '−');
}
