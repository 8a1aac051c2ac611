/** Restores the tables of a stage into new ones, checks them and lets the stage use them: docs/runbook.md. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { copyTables } from '#adapters/dynamo/copy-tables.ts';
import { createTables, MANAGED_KEY } from '#adapters/dynamo/create-tables.ts';
import {
  checkTables,
  latestRestorable,
  prepareTables,
  restoreTables,
} from '#adapters/dynamo/restore-tables.ts';
import { LAYOUT_VERSION, OLDEST_LAYOUT, type TableNames } from '#contract/values/tables.ts';

/** A table with five indexes is created in about a minute. */
const MAX_CREATION_S = 600;

const USAGE = `usage: npm run restore-drill -- --jobs NAME --registry NAME --series NAME [options]

  --jobs, --registry, --series  tables to restore
  --at TIME        point in time, ISO 8601 (default: the latest of all tables)
  --suffix TEXT    of the new tables' names (default: the point in time); repeat it to continue an interrupted run
  --upgrade-from N copy the tables, of an earlier layout N, into new ones of this version
  --restored       the tables named are restored already, for example by AWS Backup: only prepare, check and switch
  --switch STAGE   write restoredTables and restoredStreams of the stage into the settings file
  --deploy         then deploy the stage with that file
  --settings FILE  default: touchstone.config.json`;

const OPTIONS = {
  jobs: { type: 'string' },
  registry: { type: 'string' },
  series: { type: 'string' },
  at: { type: 'string' },
  suffix: { type: 'string' },
  restored: { type: 'boolean', default: false },
  'upgrade-from': { type: 'string' },
  switch: { type: 'string' },
  deploy: { type: 'boolean', default: false },
  settings: { type: 'string', default: 'touchstone.config.json' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

try {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) console.log(USAGE);
  else await drill(values);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

async function drill(options: Options): Promise<void> {
  const { jobs, registry, series } = options;
  if (!jobs || !registry || !series) throw new Error(`Name all three tables.\n\n${USAGE}`);
  if (options.deploy && !options.switch) throw new Error(`--deploy needs --switch.\n\n${USAGE}`);
  const started = Date.now();
  const client = createDocumentClient();
  const named: TableNames = { jobs, registry, series };
  const run = { client, report: (line: string) => console.log(line) };
  const tables = await newTables(run, named, options);
  const streams = await prepareTables(run, tables);
  const { items, problems } = await checkTables(client, tables);
  console.log(`items: ${items.jobs} jobs, ${items.registry} registry, ${items.series} series`);
  if (problems.length > 0) throw new Error(`The tables cannot be used:\n${problems.join('\n')}`);
  console.log(`checked: this version can use the tables; ${Math.round((Date.now() - started) / 1000)} s`);
  const restored = { restoredTables: tables, restoredStreams: streams };
  if (options.switch) switchStage(options.switch, options, restored);
  else console.log(`settings: ${JSON.stringify(restored)}`);
}

async function newTables(
  run: Parameters<typeof restoreTables>[0],
  named: TableNames,
  options: Options,
): Promise<TableNames> {
  if (options.restored) return named;
  const from = options['upgrade-from'];
  return from === undefined ? restore(run, named, options) : upgrade(run, named, Number(from));
}

async function upgrade(
  { client, report }: Parameters<typeof restoreTables>[0],
  sources: TableNames,
  layout: number,
): Promise<TableNames> {
  if (!Number.isInteger(layout) || layout < OLDEST_LAYOUT || layout >= LAYOUT_VERSION) {
    throw new Error(`--upgrade-from must be a layout from ${OLDEST_LAYOUT} to ${LAYOUT_VERSION - 1}.`);
  }
  const name = (source: string) => `${source}-layout-${LAYOUT_VERSION}`;
  const targets = {
    jobs: name(sources.jobs),
    registry: name(sources.registry),
    series: name(sources.series),
  };
  await createTables(client, targets, MANAGED_KEY);
  for (const TableName of Object.values(targets)) {
    await waitUntilTableExists({ client, maxWaitTime: MAX_CREATION_S }, { TableName });
  }
  await copyTables({ client, tables: sources }, { client, tables: targets }, layout);
  report(`copied from layout ${layout} to ${LAYOUT_VERSION}`);
  return targets;
}

async function restore(
  run: Parameters<typeof restoreTables>[0],
  sources: TableNames,
  { at, suffix }: Options,
): Promise<TableNames> {
  const time = at === undefined ? await latestRestorable(run.client, sources) : new Date(at);
  if (Number.isNaN(Number(time)))
    throw new Error(`--at is not a time: ${at}. Write ISO 8601, such as 2026-11-23T04:00:00Z.`);
  const ending = suffix ?? time.toISOString().slice(0, 19).replace(/[-:]/g, '');
  const name = (source: string) => `${source}-restored-${ending}`;
  const targets = {
    jobs: name(sources.jobs),
    registry: name(sources.registry),
    series: name(sources.series),
  };
  console.log(`point in time: ${time.toISOString()}`);
  await restoreTables(run, sources, targets, time);
  return targets;
}

function switchStage(
  stage: string,
  { settings, deploy }: Options,
  restored: Readonly<Record<'restoredTables' | 'restoredStreams', TableNames>>,
): void {
  const file = JSON.parse(readFileSync(settings, 'utf8'));
  const section = { ...file.stages?.[stage], ...restored };
  const changed = { ...file, stages: { ...file.stages, [stage]: section } };
  writeFileSync(settings, `${JSON.stringify(changed, null, 2)}\n`);
  console.log(`wrote restoredTables and restoredStreams of ${stage} into ${settings}`);
  const args = ['cdk', 'deploy', '--all', '-c', `stage=${stage}`, '-c', `config=${settings}`];
  if (!deploy) {
    console.log(`deploy it: npx ${args.join(' ')}`);
    return;
  }
  const { status } = spawnSync('npx', args, { stdio: 'inherit' });
  if (status !== 0)
    throw new Error('The deployment failed. The settings name the restored tables: deploy again.');
}
