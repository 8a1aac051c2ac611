import { number } from '../output.ts';
import { changeText, compareResults, valueTexts } from '../reports/comparison.ts';
import { type Change, nameOf } from './changes.ts';
import { sharpeRange } from './compare-runs.ts';
import type { CiReport, StrategyReport } from './run.ts';

/** Sentences and rows that the terminal and the comment share. */

/** Marks a name from the change: in Markdown as code. */
type Quote = (text: string) => string;
const asIs: Quote = (text) => text;

/** One line for a strategy: what changed, and whether its result did. */
export function changeSentence({ change, comparison, head }: StrategyReport, quote = asIs): string {
  const { kind, head: after, base: before } = change;
  switch (kind) {
    case 'deleted':
      return 'deleted';
    case 'new':
      return 'new';
    case 'unchanged':
      return 'source unchanged, run with the changed settings';
    default: {
      const what =
        kind === 'renamed' ? `renamed from ${quote(before!.name)} (${quote(before!.file)})` : 'changed';
      if (!head && after?.digest === before?.digest) return `${what}, source unchanged`;
      return comparison?.isSameResult ? `${what}, same result` : what;
    }
  }
}

export const hasFailed = ({ failures }: StrategyReport): boolean => failures.length > 0;

/** `Look-ahead bias: …` */
export function certificateLine({ certificate }: StrategyReport): string | null {
  if (!certificate) return null;
  const { state, message } = certificate;
  // The message of the two states without findings has its own label.
  return state === 'look_ahead' ? `not certified: ${message}` : message;
}

/** Header and rows of the metrics: of both runs, or of the head only. Null without a run. */
export function metricRows({
  head,
  base,
  comparison,
}: StrategyReport): readonly (readonly string[])[] | null {
  if (!head) return null;
  const metrics = comparison?.metrics ?? compareResults(head.results, head.results).metrics;
  const intervals = [base, head].map((run) => {
    const range = run && sharpeRange(run);
    return range ? `${number(range[0])} to ${number(range[1])}` : '-';
  });
  if (!comparison) {
    const rows = metrics.map((each) => [each.label, valueTexts(each)[1]]);
    return [['Metric', 'Head'], ...withInterval(rows, [SHARPE, intervals[1]!])];
  }
  const rows = metrics.map((each) => [each.label, ...valueTexts(each), changeText(each)]);
  return [['Metric', 'Base', 'Head', 'Change'], ...withInterval(rows, [SHARPE, ...intervals, ''])];
}

const SHARPE = 'Sharpe ratio, 95 % interval';

/** The interval of the Sharpe ratio below the ratio. */
function withInterval(rows: readonly string[][], interval: string[]): string[][] {
  return rows.flatMap((row) => (row[0]!.startsWith('Sharpe ratio') ? [row, interval] : [row]));
}

/** Trades that differ, and the inputs of both runs. */
export function comparisonLines({ comparison, base, head }: StrategyReport): string[] {
  if (!comparison || !base || !head) return [];
  const { same, other_exit, only_base, only_head } = comparison.trades;
  const changed = other_exit + only_base + only_head;
  const trades =
    changed === 0
      ? `Trades: all ${number(same, 0)} are the same`
      : `Trades: ${number(changed, 0)} changed (${number(only_head, 0)} only in the head, ${number(only_base, 0)} only in the base, ${number(other_exit, 0)} with another entry price or exit), ${number(same, 0)} the same`;
  const digests = [base, head].map(({ results }) => results.report.provenance.data_digest.slice(0, 12));
  const candles = {
    same: `Candles: the same in both runs (digest ${digests[0]})`,
    same_except_startup: `Candles: the same traded candles; the number of startup candles differs (digests ${digests.join(' and ')})`,
    different: `Candles: different (digests ${digests.join(' and ')})`,
  }[comparison.candles];
  const { confidence, isSameResult } = comparison;
  const better =
    confidence === null || isSameResult
      ? []
      : [`Confidence in the direction of the difference: ${number(confidence)}`];
  return [trades, candles, ...better];
}

/** `config.fee: 0.0005 -> 0.001` for settings of the strategies that changed. */
export function settingLines({ comparison }: StrategyReport): string[] {
  return (comparison?.settings ?? [])
    .filter(({ name }) => name !== 'strategy')
    .map(({ name, a, b }) => `${name}: ${JSON.stringify(a)} in the base, ${JSON.stringify(b)} in the head`);
}

/** Counts of the report, the commits, and the candles. */
export function summaryLines(report: CiReport, quote = asIs): string[] {
  const { base, head, strategies, unchanged, broken } = report;
  const count = strategies.length === 1 ? '1 strategy' : `${strategies.length || 'No'} strategies`;
  const unusable = broken.length > 0 ? `; ${broken.length} unusable` : '';
  const now = head ? ` (${short(head)})` : '';
  return [
    base
      ? `${count} changed between ${short(base.commit)} (base, ${quote(base.name)}) and the head${now}; ${unchanged} unchanged${unusable}`
      : `${count}${unusable}; there is no earlier commit to compare with`,
    ...(strategies.some((each) => each.head) ? [candlesSentence(report, quote)] : []),
  ];
}

function candlesSentence({ settings }: CiReport, quote: Quote): string {
  const { exchange = 'sim', date_range } = settings.config ?? {};
  const { start = '90 days before', end = 'the newest stored candle' } = date_range ?? {};
  if (exchange !== 'sim') return `Stored candles of ${quote(exchange)}, ${quote(start)} to ${quote(end)}`;
  const dates = date_range ? `${quote(start)} to ${quote(end)}` : '2024-07-01 to 2025-01-01';
  return `Simulated candles, ${dates}: the numbers compare two versions and say nothing about a market`;
}

const short = (commit: string) => commit.slice(0, 9);

/** `name (file)` */
export function titleOf(change: Change): string {
  const name = nameOf(change);
  const { file } = (change.head ?? change.base)!;
  return file === `${name}.ts` ? name : `${name} (${file})`;
}

/** States that the settings of the checks changed, so that a looser guardrail is seen in review. */
export function settingsLine({ formerSettings, settings }: CiReport): string | null {
  if (!formerSettings) return null;
  return `The settings \`ci\` changed: ${JSON.stringify(formerSettings.value ?? null)} before, ${JSON.stringify(settings)} now. All strategies were run with the new ones`;
}
