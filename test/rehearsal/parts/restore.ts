import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import type { TableNames } from '#contract/values/tables.ts';
import { runCommand } from '../cdk.ts';
import { clientConfig, type Emulator, missingForEmulator } from '../emulator.ts';
import { NEEDED, type Part, type Rehearsal } from '../rehearsal.ts';
import { resourcesOf } from '../verify/resources.ts';

const DRILL = join(import.meta.dirname, '../../../bin/operate/restore-drill.ts');

/** A restore of the tables, as docs/runbook.md describes it: afterwards events are derived from the tables in use. */
export const restore: Part = {
  name: 'restore',
  title: 'restored tables',
  missing: missingForEmulator,
  seconds: 90,
  run: async (rehearsal) => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-restore-'));
    try {
      await restoreInPlace(rehearsal, join(folder, 'settings.json'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

async function restoreInPlace(rehearsal: Rehearsal, file: string): Promise<void> {
  const deployed = await rehearsal.deployed();
  const { emulator, cdk, stage, assembly } = deployed;
  const found = resourcesOf(deployed, 'AWS::DynamoDB::GlobalTable');
  const named = (id: string) =>
    found.find(({ logicalId }) => logicalId.toLowerCase().startsWith(id))!.physical;
  const tables = { jobs: named('jobs'), registry: named('registry'), series: named('series') };
  await rehearsal.check('tables restored', async () => {
    writeFileSync(file, JSON.stringify({ stages: { [stage]: NEEDED[stage] ?? {} } }));
    const settings = await drill(emulator, { tables, stage, file, args: ['--suffix', 'rehearsal'] });
    await cdk.deploy(await cdk.synth(stage, { settings }));
    return await streams(emulator, settings);
  });
  await rehearsal.check('drill ended', async () => {
    await cdk.deploy(assembly);
    const sources = await mappings(emulator);
    const other = sources.filter((each) => each.includes('-restored-'));
    if (other.length > 0) throw new Error(`Events are still derived from ${other.join(', ')}`);
    return 'the stage has its own tables and streams again';
  });
}

interface Drill {
  readonly tables: TableNames;
  readonly stage: string;
  readonly file: string;
  readonly args: readonly string[];
}

interface Switched {
  readonly restoredStreams: TableNames;
}

/** Runs the script of the runbook. Returns the settings of the stage that it wrote. */
async function drill(
  emulator: Emulator,
  { tables, stage, file, args }: Drill,
): Promise<Readonly<Record<string, unknown>> & Switched> {
  const named = Object.entries(tables).flatMap(([id, name]) => [`--${id}`, name]);
  const options = [...named, ...args, '--switch', stage, '--settings', file];
  const { status, text } = await runCommand(process.execPath, [DRILL, ...options], emulator.env);
  if (status !== 0) throw new Error(`restore-drill ended with ${status}:\n${text.slice(-2000)}`);
  return JSON.parse(readFileSync(file, 'utf8')).stages[stage];
}

/** Streams from which the function of events reads. */
async function mappings(emulator: Emulator): Promise<string[]> {
  const lambda = new LambdaClient(clientConfig(emulator));
  const { EventSourceMappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}));
  return EventSourceMappings.map((each) => each.EventSourceArn!).filter((arn) => arn.includes(':dynamodb:'));
}

async function streams(emulator: Emulator, { restoredStreams }: Switched): Promise<string> {
  const [found, wanted] = [await mappings(emulator), Object.values(restoredStreams)];
  if (found.toSorted().join() !== wanted.toSorted().join()) {
    throw new Error(`Events are derived from ${found.join(', ')} instead of ${wanted.join(', ')}`);
  }
  return `events are derived from the ${wanted.length} streams of the new tables`;
}
