import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { CiSettings } from '#contract/platform/ci-settings.ts';
import {
  STAGE_NAMES,
  StageChanges,
  type StageConfig,
  type StageName,
  stageConfig,
  stageNamed,
} from './config.ts';
import { SettingsError, validated } from './settings-errors.ts';

/** Settings file of a checkout that names no other one. */
const DEFAULT_FILE = 'touchstone.config.json';

/** Another feature adds its own top-level key here. */
export const SettingsFile = z
  .strictObject({
    $schema: z.string().optional().describe('Path of touchstone.config.schema.json, for editors.'),
    stages: z
      .strictObject(
        Object.fromEntries(STAGE_NAMES.map((name) => [name, StageChanges.optional()])) as Record<
          StageName,
          z.ZodOptional<typeof StageChanges>
        >,
      )
      .optional()
      .describe(
        "Changes of each stage's defaults, which lib/settings/config.ts has. null removes a default.",
      ),
    ci: CiSettings.optional().describe(
      'Checks of changed strategies by touchstone ci (docs/strategy-folder.md).',
    ),
  })
  .meta({ title: 'Settings of Touchstone' });

/**
 * The settings of a stage from a settings file, by default from touchstone.config.json of this checkout if it exists.
 * @throws SettingsError for a file that cannot be read, and for every wrong setting in any stage of it.
 */
export function readStageConfig(name: string, file?: string): StageConfig {
  const stage = stageNamed(name);
  const path = file ?? join(import.meta.dirname, '../..', DEFAULT_FILE);
  const text = read(path, file === undefined);
  try {
    const { stages } = validated(SettingsFile, parse(text));
    return stageConfig(stage, stages?.[stage]);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new SettingsError([`${file ?? DEFAULT_FILE} has wrong settings:`, ...error.message.split('\n')]);
  }
}

function read(path: string, mayBeMissing: boolean): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && mayBeMissing) return '{}';
    const reason = code === 'ENOENT' ? 'the file does not exist' : message;
    throw new SettingsError([`Settings file ${path} cannot be read: ${reason}. Use -c config=path`]);
  }
}

function parse(text: string): unknown {
  try {
    // Some editors begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new SettingsError([`not JSON: ${(error as Error).message}`]);
  }
}
