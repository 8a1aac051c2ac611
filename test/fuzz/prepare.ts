import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** A name that only private resources of one user contain. */
export const SECRET = 'secret-of-ann';

const MODEL = 'ema_crossover';
const JANUARY = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };
const SIGNALS = 'timestamp,pair,enter_long\n2024-01-05T00:00:00Z,BTC/USDT:USDT,1\n';
/** A busy machine needs minutes. */
const LIMIT_MS = 10 * 60_000;

/** Names and values of what exists before a run, for requests that reach more than 404. */
type Known = Readonly<Record<string, readonly string[]>>;

/** Makes one of each thing that a path can name, and a private backtest whose name no other user may read. */
export async function prepare(
  [backend, strategy, collection]: readonly string[],
  token: string | undefined,
): Promise<{ readonly known: Known; readonly secret: string }> {
  const send = async (url: string, body?: object): Promise<any> => {
    const response = await fetch(url, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${url} answers ${response.status} ${await response.text()}`);
    return response.json();
  };
  const ended = async (url: string) => {
    for (let waited = 0; waited < LIMIT_MS; waited += 100) {
      const { status, error } = await send(url);
      if (status === 'completed') return;
      if (status === 'failed') throw new Error(`${url}: ${error}`);
      await sleep(100);
    }
    throw new Error(`${url} has not ended`);
  };
  const config = { strategy: MODEL, timeframe: '1h', date_range: JANUARY };
  const runs: string[] = [];
  for (const [fast, experiment_name] of [
    [10, 'first'],
    [20, 'first'],
    [15, SECRET],
  ] as const) {
    const request = { config: { ...config, params: { fast } }, experiment_name };
    runs.push((await send(`${backend}/api/v1/backtests`, request)).job_id);
  }
  const search = { strategy: MODEL, timeframe: '1h', date_range: JANUARY, models: 'none', n_trials: 2 };
  const { job_id } = await send(`${strategy}/api/v1/hyperopt`, search);
  for (const run of runs) await ended(`${backend}/api/v1/backtests/${run}`);
  await ended(`${strategy}/api/v1/hyperopt/${job_id}`);
  const [first, second, secret] = runs as [string, string, string];
  const image = { container_image_uri: 'registry.example/touchstone:1.0.0' };
  for (const [version, run] of [first, second].entries()) {
    const named = { version: String(version + 1) };
    await send(`${strategy}/api/v1/strategies/${MODEL}/register`, { ...image, backtest_run_id: run });
    await send(`${backend}/api/v1/strategies/${MODEL}/stage`, named);
    if (version === 0) await send(`${backend}/api/v1/strategies/${MODEL}/promote`, named);
  }
  await send(`${backend}/api/2.0/mlflow/registered-models/alias`, {
    name: MODEL,
    version: '2',
    alias: 'shadow',
  });
  const challenge = { champion_version: '1', challenger_version: '2' };
  const { challenge_id } = await send(`${strategy}/api/v1/models/${MODEL}/challenges`, challenge);
  const promotion = { action: 'promote', version: '2', reason: 'Won the challenge' };
  const { approval_id } = await send(`${backend}/api/v1/models/${MODEL}/approvals`, promotion);
  const hook = { url: 'https://hooks.example/touchstone', types: ['version.*'] };
  const { webhook_id } = await send(`${backend}/api/v1/webhooks`, hook);
  await send(`${backend}/api/v1/webhooks/${webhook_id}/test`, {});
  const deliveries = await send(`${backend}/api/v1/webhooks/${webhook_id}/deliveries`);
  const sha256 = createHash('sha256').update(SIGNALS).digest('hex');
  const upload = { format: 'csv', bytes: SIGNALS.length, sha256, name: 'cross.csv' };
  const { signals_id } = await send(`${backend}/api/v1/signals`, upload);
  const symbols = { symbols: ['BTC/USDT:USDT'], timeframe: '1h' };
  const { collection_id } = await send(`${collection}/api/v1/collections`, { ...symbols, ...JANUARY });
  const { import_id } = await send(`${collection}/api/v1/imports`, { files: 1, bytes: 1 });
  const known = {
    job_id: [first, second, job_id],
    model_name: [MODEL],
    version: ['1', '2'],
    challenge_id: [challenge_id],
    approval_id: [approval_id],
    webhook_id: [webhook_id],
    delivery_id: deliveries.items.map((each: any) => each.delivery_id),
    signals_id: [signals_id],
    collection_id: [collection_id],
    import_id: [import_id],
    alias: ['shadow'],
    file: ['trades.csv', 'report.json'],
    symbol: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  };
  return { known, secret };
}
