import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drill, mappings, streams } from '../drill.ts';
import { missingForEmulator } from '../emulator.ts';
import type { Part, Rehearsal } from '../rehearsal.ts';
import { resourcesOf } from '../verify/resources.ts';

/** A restore of the tables, as docs/runbook.md describes it: afterwards events are derived from the tables in use. */
export const restore: Part = {
  name: 'restore',
  title: 'restored tables',
  missing: missingForEmulator,
  seconds: 95,
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
    writeFileSync(file, JSON.stringify({ stages: { [stage]: rehearsal.neededSettings } }));
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
