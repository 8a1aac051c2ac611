/**
 * Writes docs/openapi/*.json, docs/routes.md, docs/errors.md and the generated modules of the clients from the operations table; with `--check` it fails when they
 * differ.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '#contract/operations/openapi.ts';
import { operationsOf } from '#contract/operations/operations.ts';
import { SERVICES } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { pythonModules } from './python-client.ts';
import { errorsPage, routesPage } from './reference-pages.ts';
import { typeScriptCalls } from './typescript-client.ts';

const root = new URL('../../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
const check = process.argv.includes('--check');

const documented = Object.entries(SERVICES)
  .filter(([name]) => operationsOf(name as ServiceName).length > 0)
  .map(([name, service]) => ({
    ...service,
    name,
    path: `docs/openapi/${service.document}.json`,
    document: openApiDocument(name as ServiceName, version),
    whole: openApiDocument(name as ServiceName, version, new Set()),
  }));

for (const { path, document } of documented) write(path, `${JSON.stringify(document, null, 2)}\n`);
for (const [path, text] of Object.entries(
  pythonModules(documented.map(({ whole, ...each }) => ({ ...each, document: whole }))),
))
  write(path, text);
write('src/client/operations.ts', typeScriptCalls());
write('docs/routes.md', routesPage());
write('docs/errors.md', errorsPage());

function write(path: string, text: string): void {
  if (!check) {
    mkdirSync(new URL('./', new URL(path, root)), { recursive: true });
    writeFileSync(new URL(path, root), text);
    console.log(`wrote ${path}`);
  } else if (committed(path) !== text) {
    console.error(`${path} does not match the operations table: run npm run openapi`);
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
