import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { Cdk } from '../cdk.ts';
import { drill, streams } from '../drill.ts';
import { ACCOUNT, clientConfig, inRegion, missingForEmulator } from '../emulator.ts';
import type { Deployed, Part, Rehearsal } from '../rehearsal.ts';

const SECOND_REGION = 'eu-west-1';
const RESTORED = { jobs: 'recovered-jobs', registry: 'recovered-registry', series: 'recovered-series' };

/** The loss of the region, as docs/runbook.md describes it: new stacks beside the lost ones, then the tables of the copies. */
export const region: Part = {
  name: 'region',
  title: 'loss of the region',
  missing: missingForEmulator,
  seconds: 115,
  run: async (rehearsal) => {
    const emulator = inRegion((await rehearsal.deployed()).emulator, SECOND_REGION);
    const cdk = new Cdk(emulator);
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-region-'));
    try {
      await recover(rehearsal, { emulator, cdk }, join(folder, 'recovery.json'));
    } finally {
      cdk.close();
      rmSync(folder, { recursive: true });
    }
  },
};

async function recover(
  rehearsal: Rehearsal,
  { emulator, cdk }: Pick<Deployed, 'emulator' | 'cdk'>,
  file: string,
): Promise<void> {
  const { stage } = rehearsal;
  const settings = { ...rehearsal.neededSettings, env: { account: ACCOUNT, region: SECOND_REGION } };
  await rehearsal.check('stacks in the second region', async () => {
    await cdk.bootstrap();
    await cdk.deploy(await cdk.synth(stage, { settings }));
    return `${stage} is deployed in ${SECOND_REGION} too`;
  });
  await rehearsal.check('tables of the copies', async () => {
    // As AWS Backup restores them: without a stream, an expiry and a protection.
    const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(emulator)));
    await createTables(client, RESTORED);
    writeFileSync(file, JSON.stringify({ stages: { [stage]: settings } }));
    const switched = await drill(emulator, { tables: RESTORED, stage, file, args: ['--restored'] });
    await cdk.deploy(await cdk.synth(stage, { settings: switched }));
    return await streams(emulator, switched);
  });
}
