import { text } from './url.ts';

/** Number of backtests that can be compared. */
export const COMPARED = { min: 2, max: 10 } as const;

/** Ids of backtests in the URL, separated by commas: each once, at most as many as can be compared. */
export function idsOf(written: unknown): readonly string[] {
  const ids = (text(written) ?? '').split(',').filter((id) => /^bt-[A-Za-z0-9]{1,64}$/.test(id));
  return [...new Set(ids)].slice(0, COMPARED.max);
}

/** Ids as text of the URL; undefined for none. */
export function idsText(ids: readonly string[]): string | undefined {
  return ids.length > 0 ? ids.join(',') : undefined;
}
