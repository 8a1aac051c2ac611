/** Prints what a stage costs: `npm run cost -- --stage dev`; `--update` writes the reports of all stages into docs/cost.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { MIN_TASK_SECONDS } from '#lib/cost/model.ts';
import { type CostReport, costReport, costText } from '#lib/cost/report.ts';
import { resourcesOf } from '#lib/cost/templates.ts';
import { STAGE_NAMES, type StageConfig, stageConfig } from '#lib/settings/config.ts';
import { readStageConfig } from '#lib/settings/settings-file.ts';

const USAGE = `usage: npm run cost -- [--stage ${STAGE_NAMES.join('|')}] [--config FILE] [--seconds N] [--json] [--update]

  --stage    stage to price (default: dev)
  --config   settings file (default: touchstone.config.json)
  --seconds  billed duration of a backtest's task, at least ${MIN_TASK_SECONDS} (default: ${MIN_TASK_SECONDS})
  --json     print the report as JSON
  --update   write the reports of all stages, with their default settings, into docs/cost.md`;

// Starting the engine of template validation takes longer than the whole synthesis; `cdk synth` validates.
process.env.CDK_VALIDATION = 'false';

try {
  const { values } = parseArgs({
    options: {
      stage: { type: 'string', default: 'dev' },
      config: { type: 'string' },
      seconds: { type: 'string' },
      json: { type: 'boolean', default: false },
      update: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) console.log(USAGE);
  else if (values.update) updateDocs();
  else {
    const report = reportOf(requested(values.stage, values.config), values.seconds);
    console.log(values.json ? JSON.stringify(report, null, 2) : costText(report).trimEnd());
  }
} catch (error) {
  console.error(`${(error as Error).message}\n\n${USAGE}`);
  process.exitCode = 1;
}

function requested(stage: string, file: string | undefined): StageConfig {
  if (!(STAGE_NAMES as readonly string[]).includes(stage)) {
    throw new Error(`Unknown stage "${stage}". Use --stage ${STAGE_NAMES.join('|')}`);
  }
  return readStageConfig(stage, file);
}

function reportOf(config: StageConfig, seconds?: string): CostReport {
  const billed = seconds === undefined ? undefined : Number(seconds);
  if (billed !== undefined && !(billed >= MIN_TASK_SECONDS)) {
    throw new Error(
      `--seconds is "${seconds}". Pass a number of at least ${MIN_TASK_SECONDS}: Fargate bills one minute.`,
    );
  }
  return costReport(config.stage, resourcesOf(config), billed);
}

function updateDocs(): void {
  const file = new URL('../../docs/cost.md', import.meta.url);
  let text = readFileSync(file, 'utf8');
  for (const stage of STAGE_NAMES) {
    const heading = `## ${stage}\n\n\`\`\`text\n`;
    if (!text.includes(heading)) throw new Error(`docs/cost.md has no section of ${stage}`);
    const start = text.indexOf(heading) + heading.length;
    text = `${text.slice(0, start)}${costText(reportOf(stageConfig(stage)))}${text.slice(text.indexOf('```', start))}`;
  }
  writeFileSync(file, text);
  console.log('wrote docs/cost.md');
}
