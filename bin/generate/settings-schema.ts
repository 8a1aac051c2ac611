/** Writes touchstone.config.schema.json from lib/settings/config.ts; with `--check` it fails when the file differs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { SettingsFile } from '#lib/settings/settings-file.ts';

const file = new URL('../../touchstone.config.schema.json', import.meta.url);
const text = `${JSON.stringify(z.toJSONSchema(SettingsFile), null, 2)}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
  console.log('wrote touchstone.config.schema.json');
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error(
    'touchstone.config.schema.json is not what lib/settings/config.ts says: run npm run settings-schema',
  );
  process.exitCode = 1;
}
