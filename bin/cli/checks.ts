import type { ValidationCheck } from '#contract/validation.ts';
import { type ApiClient, ApiError } from './client.ts';
import { table, wrap } from './format.ts';
import { UsageError } from './usage.ts';

/** Options of commands that can waive checks of the release policy. */
export const WAIVE = [
  '--waive <checks>',
  'checks of the release policy to waive, comma separated; role admin',
] as const;
export const REASON = ['--reason <text>', 'why they are waived; goes into the history'] as const;

export interface WaiveOptions {
  /** Comma separated. */
  readonly waive?: string;
  readonly reason?: string;
}

/** The waiver of a request; nothing without one. Throws UsageError for one option without the other. */
export function waiverOf({ waive, reason }: WaiveOptions): { waive?: { checks: string[]; reason: string } } {
  if (waive === undefined && reason === undefined) return {};
  if (waive === undefined) throw new UsageError('--reason belongs to --waive: name the checks to waive');
  if (reason === undefined) throw new UsageError('--waive needs --reason: it goes into the history');
  const checks = waive.split(',').map((check) => check.trim());
  return { waive: { checks, reason } };
}

/**
 * Calls, and prints the checks of a rejection as a table. Answers undefined for a rejection that was printed; others are
 * thrown.
 */
export async function postChecked<T>(client: ApiClient, path: string, body: object): Promise<T | undefined> {
  try {
    return await client.post<T>(path, body);
  } catch (error) {
    if (!(error instanceof ApiError) || !Array.isArray(error.context.checks)) throw error;
    console.error(error.summary);
    console.error(checkTable(error.context.checks as ValidationCheck[]));
    return undefined;
  }
}

export function printWarnings({ warnings = [] }: { readonly warnings?: readonly string[] }): void {
  for (const warning of warnings) console.log(`Warning: ${warning}`);
}

/** A check list. */
export function checkTable(checks: readonly ValidationCheck[]): string {
  return table(
    ['Check', 'Status', 'Value', 'Threshold', 'What was found'],
    checks.map(({ name, status, value, threshold, message }) => [
      name,
      status,
      shorten(value),
      shorten(threshold),
      wrap(message, 60),
    ]),
  );
}

/** Digests are too long for a cell; who needs them reads the version. */
function shorten(value: number | string | null): number | string | null {
  return typeof value === 'string' && value.length > 12 ? `${value.slice(0, 12)}…` : value;
}
