import { readFileSync } from 'node:fs';
import { importLeverageTiers } from '#adapters/import/leverage-tiers.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { isExchangeKey } from '#domain/shared/validate.ts';
import { UsageError } from '../options.ts';
import { escapeControlChars, number } from '../output.ts';
import type { StorageSession } from '../session.ts';

/** Symbols shown per message. */
const SHOWN = 20;

/** Imports leverage tiers into the platform's instruments and prints what was imported. Returns the exit code. */
export async function importTiers(
  platform: StorageSession,
  path: string,
  options: { readonly exchange?: string; readonly json?: boolean },
): Promise<number> {
  const exchange = options.exchange ?? (platform.exchange === 'sim' ? 'binanceusdm' : platform.exchange);
  if (!isExchangeKey(exchange) || exchange === 'sim')
    throw new UsageError(
      '--exchange must be the key of an exchange such as binanceusdm; sim has no leverage tiers.',
    );
  const { instruments } = openMarketStores(platform.storage);
  const result = await importLeverageTiers(readFileSync(path, 'utf8'), exchange, {
    instruments,
    clock: Date,
  });
  const code = result.imported.length > 0 && result.failed.length === 0 ? 0 : 1;
  if (options.json) {
    console.log(JSON.stringify({ exchange, ...result }));
    return code;
  }
  for (const { symbol, reason } of result.failed.slice(0, SHOWN))
    console.log(`${symbol} was not imported: ${escapeControlChars(reason)}`);
  if (result.missing.length > 0)
    console.log(
      `Not in the file: ${result.missing.slice(0, SHOWN).join(', ')}. They keep one maintenance rate.`,
    );
  console.log(`Leverage tiers of ${number(result.imported.length, 0)} symbols imported as ${exchange}.`);
  return code;
}
