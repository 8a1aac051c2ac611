import { UsageError } from '../usage.ts';
import { readTradeFile, type TradeFile } from './trade-file.ts';

/** The fields of a trade as options, each by its name in camel case; `modelVersion` is its version. */
export type TypedTrade = Readonly<Record<string, string | number | undefined>>;

/** The trades of a file, or the one that was typed. Throws {@link UsageError} for both and for neither. */
export function tradesOf(file: string | undefined, typed: TypedTrade): TradeFile {
  const isTyped = Object.keys(typed).length > 0;
  if (file !== undefined && isTyped) {
    throw new UsageError('Trades come from a file or from options: leave one of them out');
  }
  if (file !== undefined) return readTradeFile(file);
  if (isTyped) return { rows: [{ line: null, trade: tradeOf(typed) }], ignored: [] };
  throw new UsageError(
    'Give a file of trades, or one trade: --trade-id t-1 --variant challenger --profit-pct 0.4',
  );
}

function tradeOf({ modelVersion, ...typed }: TypedTrade): Record<string, unknown> {
  const fields = Object.entries(typed).map(([name, value]) => [snakeCase(name), value] as const);
  return { ...Object.fromEntries(fields), ...(modelVersion === undefined ? {} : { version: modelVersion }) };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
