import { chooseExchange } from '#adapters/import/choose-exchange.ts';
import { findFiles } from '#adapters/import/find.ts';
import { importFiles } from '#adapters/import/import-files.ts';
import type { Hints } from '#adapters/import/recognizer.ts';
import { FOREVER, type ImportFixture, NOW } from './import-fixture.ts';

/** Imports of a fixture's folder as the command does them, and what they stored. */
export function importCommand(fixture: ImportFixture) {
  /** Imports the folder as the command does. */
  async function load(hints: Hints = {}, path = fixture.folder) {
    const found = await findFiles(path, hints);
    const { store, reader } = fixture;
    const { exchange } = hints;
    const results = await importFiles(found, {
      store,
      reader,
      exchange: chooseExchange(found, exchange, 'binanceusdm'),
      spotExchange: chooseExchange(found, exchange, 'binanceusdm', 'spot'),
      keepNamed: exchange === undefined,
      clock: { now: () => NOW },
    });
    const name = (path: string) => path.slice(fixture.folder.length + 1);
    return {
      recognizers: found.files.map(({ path, recognizer }) => [name(path), recognizer]),
      results: results.map(({ file, ...result }) => ({ ...result, file: name(file) })),
    };
  }

  const storedIn = async (exchange: string, symbol: string, timeframe: '1m' | '1h' | '1d' = '1m') => {
    const candles = await fixture.store.read({ exchange, symbol, timeframe }, 0, FOREVER);
    return Object.fromEntries(Object.entries(candles).map(([column, values]) => [column, [...values]]));
  };
  return { load, storedIn };
}
