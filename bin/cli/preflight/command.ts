import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { STAGE_NAMES, type StageConfig } from '#lib/settings/config.ts';
import { SettingsError } from '#lib/settings/settings-errors.ts';
import { readStageConfig } from '#lib/settings/settings-file.ts';
import { UsageError } from '../options.ts';
import { table } from '../output.ts';
import type { Line } from './line.ts';

const SETTINGS = 'touchstone.config.json';

interface PreflightOptions {
  readonly stage: string;
  readonly config?: string;
  readonly json?: boolean;
}

export function addPreflightCommand(program: Command): void {
  program
    .command('preflight')
    .description(
      'look for what would stop the deployment of a stage: reads the account, changes nothing (docs/deploy.md)',
    )
    .addOption(new Option('--stage <name>', 'stage to deploy').choices(STAGE_NAMES).default('dev'))
    .option('--config <file>', `settings file (default: ${SETTINGS})`)
    .option('--json', 'print the findings as one line of JSON')
    .action(runPreflight);
}

async function runPreflight({ stage, config: file, json }: PreflightOptions): Promise<void> {
  const config = settingsOf(stage, file ?? (existsSync(SETTINGS) ? SETTINGS : undefined));
  const { preflight } = await import('./preflight.ts');
  const lines = await preflight(config, process.env);
  const count = (wanted: Line['state']) => lines.filter(({ state }) => state === wanted).length;
  if (json) console.log(JSON.stringify(lines));
  else {
    const rows = lines.map(({ state, subject, found, advice }) => [state, subject, found, advice]);
    console.log(table(['', 'what', 'found', 'do'], rows));
    console.log(
      `${count('fix')} to fix before the deployment, ${count('check')} to check by hand, ${count('ok')} ok`,
    );
  }
  if (count('fix') > 0) process.exitCode = 1;
}

function settingsOf(stage: string, file: string | undefined): StageConfig {
  try {
    return readStageConfig(stage, file);
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(error.message);
    throw error;
  }
}
