import { BACKTEST_ID_PREFIX } from '#contract/backtests/backtest.ts';
import type { Caller, Ownership } from '#domain/access/access.ts';
import { type ExportBacktestDeps, exportBacktest } from '#domain/backtests/export-backtest.ts';
import { getCompletedBacktest } from '#domain/backtests/get-backtest.ts';
import { artifactUri, filesBelow, formatOf, MODEL_FILE, modelFile } from '#domain/mlflow/artifacts.ts';
import { type MlflowRunsDeps, readRun } from '#domain/mlflow/search-runs.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';

type FileRequest = Pick<
  Parameters<GroupHandlers<'mlflowArtifacts'>['mlflowGetArtifact']>[0],
  'params' | 'correlationId'
>;

/** Handlers of the files of MLflow's runs. */
export function mlflowArtifactHandlers(
  deps: MlflowRunsDeps & ExportBacktestDeps,
  ownership: Ownership,
): GroupHandlers<'mlflowArtifacts'> {
  const fileOf = async ({ params, correlationId }: FileRequest) => {
    const { job_id, file } = params;
    const answer = (body: string, contentType: string) => {
      const headers: Record<string, string> = { 'Content-Type': contentType };
      return { status: 200 as const, body, headers };
    };
    if (file === MODEL_FILE)
      return answer(modelFile(await getCompletedBacktest(deps, job_id)), 'application/yaml');
    const exported = await exportBacktest(deps, job_id, { format: formatOf(file), correlationId });
    if ('file' in exported) return answer(exported.content, exported.file.contentType);
    const headers: Record<string, string> = { Location: exported.link.url };
    return { status: 302 as const, body: '', headers };
  };
  return {
    mlflowListArtifacts: async ({ query: { path = '' }, principal }) => {
      const files = path === '' ? [] : await filesOf(deps, ownership, callerOf(principal), path);
      return { status: 200, body: { root_uri: artifactUri(path), files } };
    },
    mlflowGetArtifact: fileOf,
    mlflowGetModelFile: fileOf,
  };
}

/** Files of a run, of which only a completed backtest has some. */
async function filesOf(deps: MlflowRunsDeps, ownership: Ownership, caller: Caller, path: string) {
  const [id = '', ...below] = path.split('/');
  const { info } = await readRun(deps, ownership, caller, id);
  if (info.status !== 'FINISHED' || !id.startsWith(BACKTEST_ID_PREFIX)) return [];
  return filesBelow(below.join('/')).map((name) => ({ path: name, is_dir: false }));
}
