import { accessSync, constants, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../options.ts';

export function addCiCommand(program: Command): void {
  program
    .command('ci')
    .description(
      'certify the strategies that a change affects and compare their backtests with those of the base (docs/strategy-folder.md)',
    )
    .option(
      '--base <ref>',
      'commit, branch or tag to compare with (default: of the pull request or push in GitHub Actions, else the main branch)',
    )
    .option('--markdown <file>', 'also write the report as Markdown')
    .option('--comment', 'also write or update one comment of the pull request, with GITHUB_TOKEN')
    .option('--json', 'print one line of JSON: each strategy with its certificate, metrics and differences')
    .action(async (options: CiOptions) => {
      process.exitCode = await runCi(options);
    });
}

interface CiOptions {
  readonly base?: string;
  readonly markdown?: string;
  readonly comment?: boolean;
  readonly json?: boolean;
}

/** Returns the exit code: 1 for look-ahead bias, a missing certificate, a failed backtest or a broken guardrail. */
async function runCi({ base, markdown, comment, json }: CiOptions): Promise<number> {
  if (markdown) requireWritableFolder(markdown);
  // Loaded only here: the platform and the engine take longer to load than other commands to run.
  const [{ checkChanges }, { markdownOf }, github, { jsonOf }, { terminalText }] = await Promise.all([
    import('./run.ts'),
    import('./markdown.ts'),
    import('./github.ts'),
    import('./json.ts'),
    import('./terminal.ts'),
  ]);
  const report = await checkChanges(base);
  console.log(json ? JSON.stringify(jsonOf(report)) : terminalText(report));
  const text = markdownOf(report, github.MAX_SUMMARY);
  if (markdown) writeFileSync(markdown, text);
  github.writeSummary(text);
  if (comment) {
    const isWorthNew = report.strategies.length > 0 || report.broken.length > 0;
    const short = markdownOf(report, github.MAX_COMMENT);
    const { state, message } = await github.writeComment(short, report.folder, isWorthNew);
    console.error(`Comment ${state.replaceAll('_', ' ')}: ${message}`);
  }
  return report.failed ? 1 : 0;
}

/** @throws UsageError before the runs, which may take minutes */
function requireWritableFolder(file: string): void {
  try {
    accessSync(dirname(resolve(file)), constants.W_OK);
  } catch (cause) {
    throw new UsageError(
      `The report cannot be written to ${file}: its folder does not exist or is read-only. Choose another file with --markdown.`,
      { cause },
    );
  }
}
