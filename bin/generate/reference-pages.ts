import { readdirSync, readFileSync } from 'node:fs';
import { OPERATION_GROUPS, OPERATIONS } from '#contract/operations/operations.ts';
import { ERRORS } from '#contract/values/errors.ts';
import { SERVICES } from '#contract/values/names.ts';
import type { Operation } from '#contract/values/operation.ts';

const ROWS = new URL('../../src/contract/operations/', import.meta.url);

/** File of the row of an operation: the one that has its ID, written out or as a template such as `get${name}Sharing`. */
function rowFiles(): (id: string) => string | undefined {
  const rows = readdirSync(ROWS)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, ROWS), 'utf8');
      return [...text.matchAll(/\bid: ['`](.+?)['`]/g)].map(([, id]) => ({
        file,
        parts: id!.split(/\$\{\w+\}/),
      }));
    });
  const fits = (id: string, [start = '', end]: readonly string[]) =>
    end === undefined ? id === start : id.startsWith(start) && id.endsWith(end);
  return (id) => rows.find(({ parts }) => fits(id, parts))?.file;
}

/** Every operation on one page, with the files of its group, and that of its row where it has another one. */
export function routesPage(): string {
  const fileOf = rowFiles();
  const groups = Object.entries(OPERATION_GROUPS).map(([group, rows]) => {
    const file = `${group.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
    const [{ service }] = rows as readonly [Operation];
    return [
      `## ${file.slice(0, -3)}`,
      '',
      `Rows \`src/contract/operations/${file}\` or the file named in its folder, handlers \`src/runtime/services/${file}\`, port ${SERVICES[service].port}.`,
      '',
      '| Request | Operation | Role |',
      '|---|---|---|',
      ...rows.map(({ method, path, id, access }) => {
        const own = fileOf(id) ?? file;
        return `| \`${method} ${path}\` | ${id}${own === file ? '' : ` (\`${own}\`)`} | ${access} |`;
      }),
    ].join('\n');
  });
  return [
    '# Routes',
    '',
    `All ${OPERATIONS.length} operations. Schemas, errors and examples are in [the documents](openapi) and at \`/docs\` of a platform.`,
    '',
    `${groups.join('\n\n')}\n`,
  ].join('\n');
}

/** Every code that a client can meet, with the operations that return it. */
export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, message }]) => {
    const returnedBy = OPERATIONS.filter(({ errors }) => (errors as readonly string[]).includes(code));
    return `| ${code} | ${status} | ${message.replaceAll('|', '\\|')} | ${operationsText(returnedBy)} |`;
  });
  return [
    '# Errors',
    '',
    'Programs decide by the code. `message` says what is wrong and what to do, `field` names the part of the request, `context` has',
    'the values. The message below is that of an answer which has no more to say.',
    '',
    'Every `GET` below `/api/v1` rejects a query parameter that it does not know, so a misspelled filter never returns everything:',
    '`VAL005` with the parameter in `field`, the known ones in `context.known` and the nearest of them in `context.nearest`.',
    '`/health` ignores unknown parameters, and the paths of MLflow follow MLflow.',
    '',
    '| Code | Status | Message | Operations that name it |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Beyond so many the names say nothing. */
const MAX_NAMED = 8;

function operationsText(operations: readonly { readonly id: string }[]): string {
  if (operations.length === 0) return 'any';
  const names = operations.map(({ id }) => id);
  return names.length > MAX_NAMED ? `${names.length} of ${OPERATIONS.length}` : names.join(', ');
}
