import { createTables } from '#adapters/dynamo/create-tables.ts';
import { type DataFolder, openDataFolder } from '#adapters/local/data-folder.ts';
import { type Database, databaseMissing, startDatabase } from '#adapters/local/dynoxide.ts';
import { openDynamo } from '#adapters/open-stores.ts';
import { LAYOUT_VERSION } from '#contract/values/tables.ts';
import { createLogger } from '#runtime/log.ts';
import { LOCAL_TABLES } from './platform-info.ts';
import type { PlatformOptions } from './platform-options.ts';

/** A data folder with its running database. */
export interface LocalStorage {
  readonly folder: DataFolder;
  readonly database: Database;
  readonly storage: ReturnType<typeof storageOf>;
  /** Ends the database and releases the folder. */
  stop(): Promise<void>;
}

/**
 * Opens a data folder, brings it to the layout of this version and starts its database.
 *
 * @throws Error when the folder is in use, or the database does not start; all started parts are stopped first
 */
export async function openStorage(
  options: Pick<PlatformOptions, 'home' | 'dynamodbEndpoint' | 'logLevel'>,
): Promise<LocalStorage> {
  // First: nothing else can be tried without a database.
  const missing = databaseMissing(options.dynamodbEndpoint);
  if (missing) throw new Error(missing);
  const folder = openDataFolder(options.home);
  let database: Database | undefined;
  const stop = async () => {
    await database?.stop();
    folder.release();
  };
  try {
    if (folder.layout < LAYOUT_VERSION) {
      const { upgradeDataFolder } = await import('./upgrade-data-folder.ts');
      await upgradeDataFolder(folder, createLogger('touchstone', options.logLevel ?? 'WARN'));
    }
    database = await startDatabase({ endpoint: options.dynamodbEndpoint, dbPath: folder.dbPath });
    const storage = storageOf(database, folder);
    await createTables(openDynamo(storage), LOCAL_TABLES);
    return { folder, database, storage, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function storageOf(database: Database, folder: DataFolder) {
  return {
    DYNAMODB_ENDPOINT: database.endpoint,
    OBJECTS_DIRECTORY: folder.objectsPath,
    RESULTS_BUCKET: 'results',
    CANDLES_BUCKET: 'candles',
    JOBS_TABLE: LOCAL_TABLES.jobs,
    SERIES_TABLE: LOCAL_TABLES.series,
  };
}
