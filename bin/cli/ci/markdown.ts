import { metricNote } from '#contract/values/undefined-metrics.ts';
import { escapeControlChars, metricText } from '../output.ts';
import { nameOf } from './changes.ts';
import {
  certificateLine,
  changeSentence,
  comparisonLines,
  hasFailed,
  metricRows,
  settingLines,
  settingsLine,
  summaryLines,
  titleOf,
} from './report-lines.ts';
import type { CiReport, StrategyReport } from './run.ts';

/**
 * The report as GitHub's Markdown. Names, files and messages come from a pull request that nobody has reviewed. They are inside `<code>`,
 * where GitHub links no mention, issue or address, and all their punctuation is written as character references, which are never Markdown
 * or HTML.
 */

const MAX_TEXT = 400;

/** Text of the pull request as code on one line. */
export function code(text: string): string {
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  const escaped = escapeControlChars(cut).replaceAll(/[!-/:-@[-`{-~]/g, (mark) => `&#${mark.charCodeAt(0)};`);
  return `<code>${escaped}</code>`;
}

/** @param limit characters; a longer report loses its pictures and details first, then strategies */
export function markdownOf(report: CiReport, limit: number): string {
  for (const detail of ['all', 'tables', 'summary'] as const) {
    const text = render(report, detail);
    if (text.length <= limit) return text;
  }
  const note = '\n\nThe report is longer than GitHub accepts. The log of the job has all of it.\n';
  const text = render(report, 'summary').slice(0, limit - note.length);
  return text.slice(0, text.lastIndexOf('\n') + 1) + note;
}

type Detail = 'all' | 'tables' | 'summary';

function render(report: CiReport, detail: Detail): string {
  const { strategies, broken, failed } = report;
  const settings = settingsLine(report);
  return [
    `## ${failed ? '❌' : '✅'} Touchstone: ${failed ? 'checks of strategies failed' : 'strategies checked'}`,
    summaryLines(report, code).join('<br>\n'),
    ...(settings ? [`⚠️ ${code(settings)}`] : []),
    ...(broken.length > 0
      ? [broken.map(({ file, error }) => `- ❌ ${code(file)} cannot be used: ${code(error)}`).join('\n')]
      : []),
    ...(strategies.length > 0 ? [overview(strategies)] : []),
    ...(detail === 'summary'
      ? []
      : strategies.filter(({ change }) => change.kind !== 'deleted').map((each) => section(each, detail))),
  ]
    .join('\n\n')
    .concat('\n');
}

const SHOWN = ['total_profit_pct', 'sharpe_ratio', 'max_drawdown_pct', 'total_trades', 'profit_factor'];
const DIGITS: Readonly<Record<string, number>> = { total_trades: 0 };

/** One row for each strategy: `before → after` of the main metrics. */
function overview(strategies: readonly StrategyReport[]): string {
  const rows = strategies.map((each) => [
    `${hasFailed(each) ? '❌' : '✅'} ${code(nameOf(each.change))}`,
    changeSentence(each, code),
    each.certificate ? CERTIFICATES[each.certificate.state] : '',
    ...SHOWN.map((name) => cell(each, name)),
  ]);
  const head = [
    'Strategy',
    'Change',
    'Look-ahead',
    'Net profit %',
    'Sharpe',
    'Drawdown %',
    'Trades',
    'Profit factor',
  ];
  return markdownTable([head, ...rows], 3);
}

const CERTIFICATES = {
  certified: 'certified',
  look_ahead: '**look-ahead bias**',
  not_checked: 'not checked',
  failed: 'not checked',
} as const;

function cell({ head, base, comparison }: StrategyReport, name: string): string {
  const of = (run: StrategyReport['head']) => {
    if (!run) return '-';
    const { undefined_metrics, metrics } = run.results.report;
    const value = Object.assign({}, ...Object.values(metrics))[name] as number | null | undefined;
    const note = metricNote({ ...run.results.job.result, undefined_metrics }, name);
    return metricText(name, value?.toFixed(DIGITS[name] ?? 2) ?? null, note);
  };
  const [before, after] = [of(base), of(head)];
  return comparison && before !== after ? `${before} → **${after}**` : after;
}

function section(report: StrategyReport, detail: Detail): string {
  const { change, failures, warnings, head } = report;
  const certificate = certificateLine(report);
  const rows = metricRows(report);
  const biases = head?.results.report.biases ?? [];
  const settings = settingLines(report);
  return [
    `### ${hasFailed(report) ? '❌' : '✅'} ${code(titleOf(change))}: ${changeSentence(report, code)}`,
    ...(failures.length > 0 ? [bullets('❌', failures)] : []),
    ...(certificate ? [`Look-ahead: ${code(certificate)}`] : []),
    ...(warnings.length > 0 ? [bullets('⚠️', warnings)] : []),
    ...(rows ? [markdownTable(rows, 1)] : []),
    ...comparisonLines(report).map((line) => `${line}<br>`),
    ...(settings.length > 0 ? [bullets('⚙️', settings)] : []),
    ...(detail === 'all' && head ? [picture(report)] : []),
    ...(detail === 'all' && biases.length > 0
      ? [
          `<details><summary>Assumptions that bias the result</summary>\n\n${biases
            .map(({ effect, text }) => `- ${effect}: ${code(text)}`)
            .join('\n')}\n\n</details>`,
        ]
      : []),
  ].join('\n\n');
}

const bullets = (mark: string, lines: readonly string[]) =>
  lines.map((line) => `- ${mark} ${code(line)}`).join('\n');

/** @param left number of columns with text */
function markdownTable(rows: readonly (readonly string[])[], left: number): string {
  const [head, ...body] = rows.map((row) => `| ${row.join(' | ')} |`);
  const align = rows[0]!.map((_, column) => (column < left ? '---' : '---:'));
  return [head, `| ${align.join(' | ')} |`, ...body].join('\n');
}

/** Points of a line in the picture: more are not visible at its width. */
const MAX_POINTS = 90;

/**
 * Daily equity as a Mermaid chart, which GitHub draws in comments and job summaries. Both remove inline SVG and `data:` images, and a
 * picture from elsewhere needs a place that the reviewers can read.
 */
function picture({ comparison, head, base }: StrategyReport): string {
  const { job, equity } = head!.results;
  const own = equity.equity.map((value) => (100 * value) / job.config.dry_run_wallet);
  const both = comparison !== null && base !== null && comparison.equity.dates.length > 1;
  const [dates, ...lines] = both
    ? [comparison.equity.dates, comparison.equity.a, comparison.equity.b]
    : [equity.dates, own];
  if (dates.length < 2) return '';
  const shown = lines.map(thinned);
  const all = shown.flat();
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const margin = Math.max(0.1, (high - low) / 20);
  const title = both
    ? 'Equity, % of the starting wallet (gray: base, blue: head)'
    : 'Equity, % of the starting wallet';
  const colors = both ? '#8c959f, #0969da' : '#0969da';
  return [
    '```mermaid',
    `%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "${colors}"}}}}%%`,
    'xychart-beta',
    `    title "${title}"`,
    `    x-axis "Days from ${dates[0]} to ${dates.at(-1)}" 0 --> ${dates.length - 1}`,
    `    y-axis "%" ${(low - margin).toFixed(2)} --> ${(high + margin).toFixed(2)}`,
    ...shown.map((values) => `    line [${values.map((value) => value.toFixed(2)).join(', ')}]`),
    '```',
  ].join('\n');
}

function thinned(values: readonly number[]): number[] {
  const count = Math.min(MAX_POINTS, values.length);
  return Array.from(
    { length: count },
    (_, i) => values[Math.round((i * (values.length - 1)) / (count - 1))]!,
  );
}
