import type { Plot } from '../strategy.ts';

/** Bounds of a plot. */
const MAX = { name: 64, columns: 100, panels: 20, levels: 20 };
const TYPES = ['line', 'bar', 'scatter'];
/** A name, `#hex` of 3, 4, 6 or 8 digits, or `rgb()` and `rgba()` of plain numbers: nothing that a style sheet would load. */
const COLOR =
  /^([a-z]{3,30}|#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|rgba?\( ?\d{1,3} ?(, ?\d{1,3} ?){2}(, ?(0|1|0?\.\d{1,4}) ?)?\))$/i;
/** Text without control characters. */
const NAME = /^[^\p{C}]+$/u;
/** Key of a panel's horizontal lines. */
const LEVELS = 'levels';

/** Problems of a strategy's `plot`, which may have any type; empty when it is valid or absent. */
export function plotProblems({ plot }: { readonly plot?: Plot }): string[] {
  const value: unknown = plot;
  if (value === undefined) return [];
  if (!isObject(value)) return ['plot must be an object with main and panels'];
  const { main = {}, panels = {}, ...others } = value;
  const problems = Object.keys(others).map(
    (key) => `plot.${key.slice(0, MAX.name)} is unknown: use main and panels`,
  );
  if (!isObject(main) || !isObject(panels)) return [...problems, 'plot.main and plot.panels must be objects'];
  problems.push(...columnsProblems('plot.main', main));
  const names = Object.keys(panels);
  if (names.length > MAX.panels) return [...problems, `plot.panels must have at most ${MAX.panels} panels`];
  for (const name of names) {
    const path = `plot.panels.${name.slice(0, MAX.name)}`;
    const panel = panels[name];
    if (!isName(name)) problems.push(`${path}: ${NAMED}`);
    if (!isObject(panel)) {
      problems.push(`${path} must be an object of columns`);
      continue;
    }
    const { [LEVELS]: levels, ...columns } = panel;
    if (levels !== undefined && !isLevels(levels))
      problems.push(`${path}.levels must be a list of at most ${MAX.levels} numbers`);
    problems.push(...columnsProblems(path, columns));
  }
  return problems;
}

/** Names of the columns that a plot draws or fills to. */
export function plottedColumns({ main = {}, panels = {} }: Plot): string[] {
  const groups = [main, ...Object.values(panels).map(({ [LEVELS]: _, ...columns }) => columns)];
  const names = groups.flatMap((columns) =>
    Object.entries(columns).flatMap(([name, drawn]) => {
      const { fillTo } = drawn as { readonly fillTo?: string };
      return fillTo === undefined ? [name] : [name, fillTo];
    }),
  );
  return [...new Set(names)];
}

const NAMED = `names are text of 1 to ${MAX.name} characters`;

function columnsProblems(path: string, columns: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(columns);
  if (names.length > MAX.columns) return [`${path} must have at most ${MAX.columns} columns`];
  return names.flatMap((name) => {
    const at = `${path}.${name.slice(0, MAX.name)}`;
    const drawn = columns[name];
    if (!isObject(drawn)) return [`${at} must be an object such as { color: 'orange' }`];
    const { color, fillTo, type, ...others } = drawn;
    return [
      ...(isName(name) ? [] : [`${at}: ${NAMED}`]),
      ...(color === undefined || (typeof color === 'string' && COLOR.test(color))
        ? []
        : [`${at}.color must be a name, #hex or rgba()`]),
      ...(fillTo === undefined || isName(fillTo) ? [] : [`${at}.fillTo must be the name of a column`]),
      ...(type === undefined || TYPES.some((each) => each === type)
        ? []
        : [`${at}.type must be one of ${TYPES.join(', ')}`]),
      ...Object.keys(others).map(
        (key) => `${at}.${key.slice(0, MAX.name)} is unknown: use color, fillTo and type`,
      ),
    ];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX.name && NAME.test(value) && value !== '__proto__';
}

function isLevels(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX.levels && value.every(Number.isFinite);
}
