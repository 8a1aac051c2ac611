import { isExchangeKey } from '#domain/validate.ts';
import type { Found } from './find.ts';

/**
 * Exchange of the imported files: the requested one, else the one in the files' folders, else `fallback`.
 * @throws Error when the requested exchange is not an exchange key, or none is requested and the folders name several
 */
export function chooseExchange(found: Found, asked: string | undefined, fallback: string): string {
  if (asked !== undefined && !isExchangeKey(asked)) {
    throw new Error(`${JSON.stringify(asked)} is not an exchange key such as binanceusdm`);
  }
  if (asked === undefined && found.exchanges.length > 1) {
    throw new Error(
      `The folders hold files of several exchanges: ${found.exchanges.join(', ')}. Choose one with --exchange`,
    );
  }
  return asked ?? found.exchanges[0] ?? fallback;
}
