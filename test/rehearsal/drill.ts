import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import type { TableNames } from '#contract/values/tables.ts';
import { runCommand } from './cdk.ts';
import { clientConfig, type Emulator } from './emulator.ts';

const DRILL = join(import.meta.dirname, '../../bin/operate/restore-drill.ts');

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
export async function drill(
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
export async function mappings(emulator: Emulator): Promise<string[]> {
  const lambda = new LambdaClient(clientConfig(emulator));
  const { EventSourceMappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}));
  return EventSourceMappings.map((each) => each.EventSourceArn!).filter((arn) => arn.includes(':dynamodb:'));
}

/** @throws Error unless the function of events reads the streams of the settings, and no other */
export async function streams(emulator: Emulator, { restoredStreams }: Switched): Promise<string> {
  const [found, wanted] = [await mappings(emulator), Object.values(restoredStreams)];
  if (found.toSorted().join() !== wanted.toSorted().join()) {
    throw new Error(`Events are derived from ${found.join(', ')} instead of ${wanted.join(', ')}`);
  }
  return `events are derived from the ${wanted.length} streams of the new tables`;
}
