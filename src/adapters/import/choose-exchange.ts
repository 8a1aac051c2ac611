import { isExchangeKey } from '#domain/validate.ts';
import type { Found } from './find.ts';

/**
 * The exchange to import as: the one asked for, else the one that the files' folders name, else `fallback`.
 * @throws Error when the one asked for is no exchange key, or none is and the folders name several
 */
export function chooseExchange(found: Found, asked: string | undefined, fallback: string): string {
  if (asked !== undefined && !isExchangeKey(asked)) {
    throw new Error(`${JSON.stringify(asked)} is not an exchange key such as binanceusdm`);
  }
  if (asked === undefined && found.exchanges.length > 1) {
    throw new Error(`The folders are of ${found.exchanges.join(', ')}: choose one with --exchange`);
  }
  return asked ?? found.exchanges[0] ?? fallback;
}
