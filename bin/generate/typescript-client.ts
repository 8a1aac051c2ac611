import { OPERATIONS } from '#contract/operations/operations.ts';
import { MLFLOW_PREFIX } from '#contract/values/mlflow-paths.ts';
import { type Operation, takesIdempotencyKey } from '#contract/values/operation.ts';

/** What the paths of the calls begin with: ROOT in src/client/connection.ts. */
const ROOT = '/api/v1';

/** The calls of the TypeScript client: routes only, because their types are those of the table. */
export function typeScriptCalls(): string {
  const rows: readonly Operation[] = OPERATIONS;
  // Pages and MLflow's paths are not for programs that use this client.
  const calls = rows.filter(({ tag, path }) => tag !== 'Documentation' && !path.startsWith(MLFLOW_PREFIX));
  const exported = calls.map((row) => {
    const route = `${makerOf(row)}<'${row.id}'>(${row.service}, '${row.path.slice(ROOT.length)}')`;
    return `\n/** ${row.summary}. */\nexport const ${row.id} = /* @__PURE__ */ ${route};`;
  });
  return [
    '// Written by npm run openapi.',
    "import { backend, data_collection, strategy } from './call.ts';",
    "import { file, get, patch, post, postOnce, put, remove, stream } from './call.ts';",
    ...exported,
    '',
  ].join('\n');
}

/** Function of the client that makes the call of an operation. */
function makerOf(row: Operation): string {
  if (!row.path.startsWith(ROOT)) throw new Error(`${row.id} is not below ${ROOT}`);
  if (row.streams) return 'stream';
  if (Object.values(row.success).some(({ contentType }) => contentType === '*/*')) return 'file';
  if (row.method === 'POST') return takesIdempotencyKey(row) ? 'post' : 'postOnce';
  return row.method === 'DELETE' ? 'remove' : row.method.toLowerCase();
}
