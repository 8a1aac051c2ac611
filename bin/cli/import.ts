import cliProgress from 'cli-progress';
import { type ImportResult, importFolder } from '#adapters/import/csv.ts';
import { openMarketStores } from '#adapters/open-stores.ts';
import type { PlatformInfo } from '../../src/local/platform.ts';
import { minute, number, table } from './format.ts';

/** Whose candles a file holds when nobody says: what the deployed platform collects by default. */
const REAL_EXCHANGE = 'binanceusdm';
const SIMULATED = 'sim';

/**
 * Imports a CSV file or a folder into the platform's storage and prints what became of each file. Answers the exit code.
 * Throws an Error for `sim`: its collection would fill the holes of real candles with simulated ones.
 */
export async function importCandles(
  platform: PlatformInfo,
  path: string,
  options: { readonly exchange?: string },
): Promise<number> {
  const exchange = options.exchange ?? (platform.exchange === SIMULATED ? REAL_EXCHANGE : platform.exchange);
  if (exchange === SIMULATED)
    throw new Error('sim is the simulated market: name the exchange of the candles');
  const { candles } = openMarketStores(platform.storage);
  const bar = new cliProgress.SingleBar(
    { format: 'Importing [{bar}] {value}/{total} files', hideCursor: true },
    cliProgress.Presets.shades_classic,
  );
  let started = false;
  const results = await importFolder(path, {
    store: candles,
    exchange,
    onProgress: (done, total) => {
      if (!started) bar.start(total, 0);
      started = true;
      bar.update(done);
    },
  }).finally(() => bar.stop());
  const imported = results.filter((result) => result.outcome === 'imported');
  if (imported.length > 0) {
    console.log(
      table(
        ['Symbol', 'Series', 'Rows', 'First (UTC)', 'Last (UTC)', 'Missing', 'Duplicates'],
        imported.map(importedRow),
      ),
    );
  }
  const others = results.filter((result) => result.outcome !== 'imported');
  for (const { outcome, file, reason } of others) console.log(`${outcome}: ${file}: ${reason}`);
  console.log(`${imported.length} of ${results.length} files imported as ${exchange}.`);
  if (exchange !== platform.exchange && imported.length > 0) {
    console.log(`Trade on them with: npx touchstone backtest <strategy> --exchange ${exchange}`);
  }
  return imported.length > 0 && results.every((result) => result.outcome !== 'failed') ? 0 : 1;
}

function importedRow(result: Extract<ImportResult, { outcome: 'imported' }>) {
  const candles = result.kind === 'candles';
  return [
    result.symbol,
    candles ? result.timeframe : 'funding',
    number(result.rows, 0),
    minute(result.first),
    minute(result.last),
    candles ? number(result.missing, 0) : '-',
    candles ? number(result.duplicates, 0) : '-',
  ];
}
