import { existsSync, readFileSync } from 'node:fs';
import { CiSettings } from '#contract/platform/ci-settings.ts';
import { SettingsError, validated } from '#lib/settings/settings-errors.ts';
import { UsageError } from '../options.ts';

/** `ci` of a settings file as written; undefined when the file or the key is absent. @throws UsageError */
export function ciOf(text: string | null, file: string): unknown {
  if (text === null) return undefined;
  try {
    // Some editors begin a file with a byte order mark.
    return (JSON.parse(text.replace(/^\uFEFF/, '')) as { ci?: unknown } | null)?.ci;
  } catch (error) {
    throw new UsageError(
      `${file} is not JSON: ${(error as Error).message}. Fix it, then run the command again.`,
    );
  }
}

export const readText = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : null);

/** @throws UsageError with one line per problem */
export function ciSettings(value: unknown, file: string): CiSettings {
  try {
    return validated(CiSettings, value ?? {}, ['ci']);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UsageError(`${file} has wrong settings:\n${error.message}`);
  }
}
