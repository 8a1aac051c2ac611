import { chart, escapeControlChars, table } from '../output.ts';
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

/** The report for a terminal. No line begins with text of a strategy: GitHub would read `::` there as a command of the workflow. */
export function terminalText(report: CiReport): string {
  const settings = settingsLine(report);
  return [
    ...report.broken.map(({ file, error }) => one(`FAILED ${file} cannot be used: ${error}`)),
    ...report.strategies.flatMap(strategyLines),
    ...(settings ? [`Warning: ${settings}`] : []),
    ...summaryLines(report).map((line) => one(line)),
    report.failed ? 'Result: failed' : 'Result: passed',
  ]
    .flatMap((text) => text.split('\n'))
    .map(escapeControlChars)
    .join('\n');
}

/** The text in one line, with its indentation. */
const one = (text: string) =>
  text
    .split(/[\r\n]+/)
    .map((line, index) => (index === 0 ? line.trimEnd() : line.trim()))
    .join(' ');

/** One entry per line of text from outside; tables and charts hold numbers and labels only. */
function strategyLines(report: StrategyReport): string[] {
  const certificate = certificateLine(report);
  const rows = metricRows(report);
  const equity = report.comparison?.equity;
  const difference = equity
    ? chart(
        equity.dates.map((_, day) => equity.b[day]! - equity.a[day]!),
        equity.dates,
      )
    : '';
  return [
    one(`${hasFailed(report) ? 'FAILED' : 'passed'} ${titleOf(report.change)}: ${changeSentence(report)}`),
    ...report.failures.map((failure) => one(`  Failure: ${failure}`)),
    ...report.warnings.map((warning) => one(`  Warning: ${warning}`)),
    ...(certificate ? [one(`  Look-ahead: ${certificate}`)] : []),
    ...settingLines(report).map((line) => one(`  Setting ${line}`)),
    ...(rows ? [table(rows[0]!, rows.slice(1))] : []),
    ...comparisonLines(report),
    ...(difference && !report.comparison?.isSameResult
      ? [`Equity of the head minus base, % of the starting wallet\n${difference}`]
      : []),
    '',
  ];
}
