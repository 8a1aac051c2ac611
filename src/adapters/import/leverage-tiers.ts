import { tiersRecord } from '#domain/data/collect-instruments.ts';
import type { InstrumentStore } from '#domain/data/instrument-ports.ts';
import { readLeverageTiers } from '#domain/data/leverage-tiers.ts';
import type { Clock } from '#domain/ports.ts';
import { isoTime } from '#domain/shared/iso-time.ts';

interface TiersImport {
  readonly imported: readonly string[];
  /** Symbols of stored instruments that the file does not have. */
  readonly missing: readonly string[];
  readonly failed: readonly { readonly symbol: string; readonly reason: string }[];
}

/**
 * Stores the leverage tiers of a file with the instruments of an exchange. Symbols without a stored instrument are left out: the
 * file has those of every market. A symbol with an invalid tier keeps what is stored.
 *
 * @param text symbol -> tiers, as JSON
 * @throws Error when the text is something else, or no instrument is stored
 */
export async function importLeverageTiers(
  text: string,
  exchange: string,
  { instruments, clock }: { readonly instruments: InstrumentStore; readonly clock: Clock },
): Promise<TiersImport> {
  const given = parse(text);
  const stored = await instruments.list(exchange);
  if (stored.size === 0)
    throw new Error(
      `No instrument of ${exchange} is stored, and tiers belong to one. Collect the pairs first: touchstone collect`,
    );
  const at = isoTime(clock.now());
  const imported: string[] = [];
  const failed: { symbol: string; reason: string }[] = [];
  for (const [symbol, record] of stored) {
    const tiers = given.get(symbol);
    if (tiers === undefined) continue;
    try {
      const leverage_tiers = tiersRecord(readLeverageTiers(tiers), 'import', at);
      await instruments.record(exchange, symbol, { ...record, leverage_tiers });
      imported.push(symbol);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      failed.push({ symbol, reason: error.message });
    }
  }
  return { imported, missing: [...stored.keys()].filter((symbol) => !given.has(symbol)), failed };
}

function parse(text: string): ReadonlyMap<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`The file is not valid JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return new Map(Object.entries(value));
  throw new Error('The file does not hold an object of symbols with their leverage tiers');
}
