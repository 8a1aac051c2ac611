import { tradingModeOf } from '#domain/shared/validate.ts';
import { ALL_TIMEFRAMES } from '#engine/timeframe.ts';
import type { Found, FoundFile } from './find.ts';

const KINDS: Readonly<Record<FoundFile['content']['kind'], string>> = {
  candles: 'candles',
  rates: 'funding rates',
  events: 'funding rates with mark prices',
  marks: 'mark prices',
  table: 'series named in the rows',
  companion: 'checksums',
  other: 'not for import',
  unreadable: 'not readable',
};

/** Files of one kind. Empty strings and lists: not known before the files are read. */
export interface RecognizedFiles {
  /** Name of the recognizer; empty for files that none knows. */
  readonly recognizer: string;
  readonly content: string;
  readonly market: string;
  readonly symbols: readonly string[];
  readonly timeframes: readonly string[];
  readonly format: string;
  readonly files: number;
  readonly bytes: number;
}

/** What each kind of file holds, before it is read. */
export function recognizedFiles({ files }: Found): RecognizedFiles[] {
  const groups = Map.groupBy(files, ({ recognizer, content }) =>
    JSON.stringify([recognizer, KINDS[content.kind], ...marketCells(content)]),
  );
  return [...groups].map(([group, of]) => {
    const [recognizer, content, market, format] = JSON.parse(group) as [string, string, string, string];
    const names = of.map((file) => namesOf(file.content));
    return {
      recognizer,
      content,
      market,
      symbols: [...new Set(names.flatMap(({ symbol }) => symbol ?? []))],
      timeframes: ALL_TIMEFRAMES.filter((each) => names.some(({ timeframe }) => timeframe === each)),
      format,
      files: of.length,
      bytes: of.reduce((total, file) => total + file.bytes, 0),
    };
  });
}

/** Trading mode and format, where they are known before the file is read. */
function marketCells(content: FoundFile['content']): readonly [market: string, format: string] {
  if ('symbol' in content) return [tradingModeOf(content.symbol), content.format];
  return content.kind === 'table' ? [content.mode ?? '', content.format] : ['', ''];
}

function namesOf(content: FoundFile['content']) {
  return content.kind === 'table'
    ? content.names
    : {
        symbol: 'symbol' in content ? content.symbol : null,
        timeframe: 'timeframe' in content ? content.timeframe : null,
      };
}
