import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_PAGE_NAME } from '#contract/backtests/report-file.ts';
import { CodedError } from '#contract/values/errors.ts';

/** The page of a report that is one file, which the build puts next to the bundle. Throws HTTP503 without it. */
export async function readReportPage(): Promise<string> {
  try {
    return await readFile(join(import.meta.dirname, FILE_PAGE_NAME), 'utf8');
  } catch (cause) {
    throw new CodedError('HTTP503', {
      message: `The deployment has no ${FILE_PAGE_NAME}: run npm run build, and deploy again`,
      cause,
    });
  }
}
