import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployed } from '../rehearsal.ts';

const LAMBDAS = join(import.meta.dirname, '../../../dist/lambdas');

/** Folder of the code of a function in its assembly. */
export function codeOfFunction({ assembly, stage }: Deployed, logicalId: string): string {
  const file = join(assembly, `touchstone-${stage}-platform.template.json`);
  const { Resources } = JSON.parse(readFileSync(file, 'utf8'));
  const key: string = Resources[logicalId].Properties.Code.S3Key;
  return join(assembly, `asset.${key.replace('.zip', '')}`);
}

/** Name of the entry point in lambdas/ whose bundle a function has. */
export function entryOfFunction(deployed: Deployed, logicalId: string): string {
  const code = bundle(codeOfFunction(deployed, logicalId));
  const name = readdirSync(LAMBDAS).find((each) => bundle(join(LAMBDAS, each)) === code);
  if (!name) throw new Error(`${logicalId} runs no bundle of dist/lambdas`);
  return name;
}

function bundle(folder: string): string | undefined {
  const file = join(folder, 'index.mjs');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
