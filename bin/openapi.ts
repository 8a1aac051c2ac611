/** Writes docs/openapi/*.json from the operations table; with `--check` it fails when they differ. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { SERVICES } from '#contract/names.ts';
import { openApiDocument } from '#contract/openapi.ts';
import type { ServiceName } from '#contract/operation.ts';
import { operationsOf } from '#contract/operations.ts';

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
const check = process.argv.includes('--check');

mkdirSync(new URL('docs/openapi/', root), { recursive: true });
for (const [service, { document }] of Object.entries(SERVICES)) {
  if (operationsOf(service as ServiceName).length === 0) continue;
  const path = `docs/openapi/${document}.json`;
  const text = `${JSON.stringify(openApiDocument(service as ServiceName, version), null, 2)}\n`;
  if (!check) {
    writeFileSync(new URL(path, root), text);
    console.log(`wrote ${path}`);
  } else if (committed(path) !== text) {
    console.error(`${path} is not what the operations table says: run npm run openapi`);
    process.exitCode = 1;
  }
}

function committed(path: string): string | undefined {
  try {
    return readFileSync(new URL(path, root), 'utf8');
  } catch {
    return undefined;
  }
}
