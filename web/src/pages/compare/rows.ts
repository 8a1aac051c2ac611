import LIMITS from 'virtual:limits';
import METRICS from 'virtual:metrics';
import { MIN_TRADES_WITHOUT_LOSSES, metricNote, withNote } from '#contract/values/undefined-metrics.ts';
import type { ResponseOf } from '../../api/client.ts';
import { NO_VALUE, shortSymbol, signed, value, withUnit } from '../../ui/format.ts';
import type { Job } from './runs.ts';

type Report = ResponseOf<'getBacktestReport'>;

export interface CompareCell {
  readonly text: string;
  /** Difference to the baseline, with its sign. */
  readonly delta?: string;
  /** Of a run with a found look-ahead bias: it cannot be earned. */
  readonly isFound?: boolean;
  /** Best value of its row. */
  readonly isBest?: boolean;
  /** Another value than that of the baseline. */
  readonly differs: boolean;
}

/** A metric or a setting, with a cell for each run. */
export interface CompareRow {
  readonly key: string;
  readonly label: string;
  /** Formula or path, on hover. */
  readonly title?: string;
  readonly cells: readonly CompareCell[];
}

export interface CompareGroup {
  readonly title: string;
  readonly rows: readonly CompareRow[];
}

/** True if a value of the row is not that of the baseline. */
export function isDifferent({ cells }: CompareRow): boolean {
  return cells.some(({ differs }) => differs);
}

const FAMILIES = {
  account: 'Account',
  equity: 'Equity',
  closed_trades: 'Closed trades',
  activity: 'Activity',
} as const;
type Family = keyof typeof FAMILIES;

/**
 * Metrics of all runs by family.
 *
 * @param reports undefined for a run without one
 * @param base index of the baseline
 */
export function metricGroups(
  reports: readonly (Report | undefined)[],
  base: number,
): readonly CompareGroup[] {
  return (Object.keys(FAMILIES) as Family[]).map((family) => ({
    title: FAMILIES[family],
    rows: Object.entries(METRICS.definitions)
      .filter(([, definition]) => definition.family === family)
      .map(([name]) =>
        metricRow(
          name,
          reports.map((report) => numberOf(report, family, name)),
          reports.map((report) => (report ? metricNote(report, name) : null)),
          { base, found: reports.map((report) => report?.look_ahead.state === 'found') },
        ),
      ),
  }));
}

/** Number of a metric; infinite for a profit factor without losses over enough trades. */
function numberOf(report: Report | undefined, family: Family, name: string): number | null {
  const numbers: Readonly<Record<string, number | null>> | undefined = report?.metrics[family];
  if (name === 'profit_factor' && report?.undefined_metrics?.[name] === 'no_losses') {
    const { total_trades, winning_trades } = report.metrics.closed_trades;
    const isInfinite = winning_trades > 0 && total_trades >= MIN_TRADES_WITHOUT_LOSSES;
    return isInfinite ? Number.POSITIVE_INFINITY : null;
  }
  return numbers?.[name] ?? null;
}

function metricRow(
  name: string,
  numbers: readonly (number | null)[],
  notes: readonly (string | null)[],
  { base, found }: { readonly base: number; readonly found: readonly boolean[] },
): CompareRow {
  const { label, unit, formula } = METRICS.definitions[name]!;
  const best = bestOf(
    name,
    numbers.map((number, index) => (found[index] ? null : number)),
  );
  const compared = numbers[base] ?? null;
  return {
    key: name,
    label,
    title: formula,
    cells: numbers.map((number, index) => {
      // Compared as shown: what looks equal is equal.
      const known = number === null || !Number.isFinite(number) ? null : number;
      const shown = unit === 'minutes' ? withUnit(known, unit) : value(known, unit);
      const text = withNote(name, known === null ? null : shown, notes[index] ?? null, NO_VALUE);
      const differs = value(number, unit) !== value(compared, unit);
      return {
        text,
        differs,
        isFound: found[index] === true,
        isBest: best !== undefined && number === best && !found[index],
        ...(index !== base && differs && known !== null && Number.isFinite(compared) && unit !== 'minutes'
          ? { delta: signed(known - compared!, unit) }
          : {}),
      };
    }),
  };
}

/**
 * Best number of a row, without those of runs with a found leak; undefined when all are equal, when fewer than two are known, and when
 * none is better.
 */
function bestOf(name: string, numbers: readonly (number | null)[]): number | undefined {
  const better = LIMITS.objectives.find((each) => each.name === name)?.better;
  const known = numbers.filter((number) => number !== null);
  if (!better || known.length < 2 || known.every((number) => number === known[0])) return undefined;
  return better === 'maximize' ? Math.max(...known) : Math.min(...known);
}

/** Settings of all runs by their path in the configuration. */
export function settingRows(jobs: readonly Job[], base: number): readonly CompareRow[] {
  const hasSpot = jobs.some(({ config }) => config.trading_mode !== undefined);
  const settings = jobs.map(({ config, registered, experiment_name }) =>
    leavesOf({
      ...config,
      ...(hasSpot && { trading_mode: config.trading_mode ?? LIMITS.backtest.defaults.trading_mode }),
      version: registered?.version ?? null,
      experiment_name,
    }),
  );
  const paths = [...new Set(settings.flatMap((each) => [...each.keys()]))];
  return paths.map((path) => {
    const compared = settings[base]?.get(path);
    return {
      key: path,
      label: path,
      cells: settings.map((each) => {
        const text = each.get(path);
        return { text: text ?? NO_VALUE, differs: text !== compared };
      }),
    };
  });
}

/** Dotted path -> text of each value. Lists are one value. */
function leavesOf(settings: object): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  const add = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [key, each] of Object.entries(value)) add(each, path ? `${path}.${key}` : key);
    } else leaves.set(path, textOf(value));
  };
  add(settings, '');
  return leaves;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return NO_VALUE;
  if (Array.isArray(value)) return value.map(itemText).join(', ');
  const text = String(value);
  return /^\d{4}-\d\d-\d\dT/.test(text) ? text.replace('T', ' ').replace(/(:00)?\.000Z$/, ' UTC') : text;
}

/** Short name of a symbol, or a protection with its settings. */
function itemText(item: unknown): string {
  if (typeof item !== 'object' || item === null) {
    const text = String(item);
    return text.includes('/') ? shortSymbol(text) : text;
  }
  const { method, ...settings } = item as Readonly<Record<string, unknown>>;
  const parts = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  return [method, ...parts].filter((part) => part !== undefined).join(' ');
}
