import { existsSync, renameSync, rmSync } from 'node:fs';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { copyTables } from '#adapters/dynamo/copy-tables.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { checkTables } from '#adapters/dynamo/restore-tables.ts';
import { type DataFolder, finishUpgrade, upgradeFiles } from '#adapters/local/data-folder.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import type { Log } from '#domain/ports.ts';
import { LOCAL_TABLES } from './platform-info.ts';

/** Files of SQLite beside a database: what a killed engine has not written into it yet. */
const COMPANIONS = ['-wal', '-shm'];

/**
 * Upgrades the database of a data folder of an earlier layout. The upgraded copy is built in a file of its own, then takes
 * the place of the database, which stays in the folder as a backup. Until then a crash changes nothing; the next start
 * upgrades again.
 *
 * @throws Error when the copy cannot be used; the database is unchanged then
 */
export async function upgradeDataFolder(folder: DataFolder, log: Pick<Log, 'warn'>): Promise<void> {
  const { layout, dbPath } = folder;
  const { copy, backup } = upgradeFiles(folder);
  for (const companion of ['', ...COMPANIONS]) rmSync(`${copy}${companion}`, { force: true });
  const from = await startDatabase({ dbPath });
  try {
    const to = await startDatabase({ dbPath: copy });
    try {
      const source = { client: createDocumentClient({ endpoint: from.endpoint }), tables: LOCAL_TABLES };
      const target = { client: createDocumentClient({ endpoint: to.endpoint }), tables: LOCAL_TABLES };
      await createTables(target.client, LOCAL_TABLES);
      await copyTables(source, target, layout);
      const { problems } = await checkTables(target.client, LOCAL_TABLES);
      if (problems.length > 0) {
        throw new Error(
          `The data folder ${folder.path} of layout ${layout} cannot be upgraded: ${problems.join('; ')}. Move or delete the folder, or choose another with TOUCHSTONE_HOME.`,
        );
      }
    } finally {
      await to.stop();
    }
  } finally {
    await from.stop();
  }
  for (const companion of COMPANIONS) {
    if (existsSync(`${dbPath}${companion}`)) renameSync(`${dbPath}${companion}`, `${backup}${companion}`);
  }
  // From here on the upgrade is finished by every start.
  renameSync(dbPath, backup);
  finishUpgrade(folder);
  log.warn('data folder upgraded', { from: layout, backup });
}
