import { sep } from 'node:path';
import { type FileContent, other } from './file-content.ts';
import { textOf } from './formats/text.ts';
import type { Candidate, Hints, Recognizer } from './recognizer.ts';
import { binancePublic } from './recognizers/binance-public.ts';
import { columns } from './recognizers/columns.ts';
import { databento } from './recognizers/databento.ts';
import { freqtrade } from './recognizers/freqtrade.ts';
import { tardis } from './recognizers/tardis.ts';
import { touchstone } from './recognizers/touchstone.ts';
import { tradingView } from './recognizers/trading-view.ts';

/** In the order in which they are asked: names of folders before names of files, these before content. */
const RECOGNIZERS: readonly Recognizer[] = [
  touchstone,
  binancePublic,
  databento,
  freqtrade,
  tardis,
  tradingView,
  columns,
];

export interface Recognized {
  /** Name of the recognizer; empty for a file that none knows. */
  readonly recognizer: string;
  readonly content: FileContent;
}

/** Content of a file according to the first recognizer that knows it. */
export async function recognize(file: Candidate): Promise<Recognized> {
  for (const recognizer of RECOGNIZERS) {
    const content = await recognizer.recognize(file);
    if (content) {
      const isUnknown = recognizer === columns && content.kind === 'other';
      return { recognizer: isUnknown ? '' : recognizer.name, content };
    }
  }
  return { recognizer: '', content: unknown(file.name) };
}

/** Characters of a text file that recognizers see. */
const HEAD_LENGTH = 65_536;

/** @param path absolute */
export function candidate(path: string, siblings: ReadonlySet<string>, hints: Hints): Candidate {
  const slashed = path.split(sep).join('/');
  let head: Promise<string | undefined> | undefined;
  return {
    path: slashed,
    name: slashed.slice(slashed.lastIndexOf('/') + 1),
    siblings,
    hints,
    head: () => (head ??= headOf(path)),
  };
}

async function headOf(path: string): Promise<string | undefined> {
  let head = '';
  try {
    for await (const piece of textOf(path)) {
      head += piece;
      if (head.length >= HEAD_LENGTH) break;
    }
  } catch {
    // The import reads the file again, and reports why it cannot be read.
    return head === '' ? undefined : head;
  }
  return head.slice(0, HEAD_LENGTH);
}

function unknown(name: string): FileContent {
  if (/leverage_tiers[^/]*\.json$/.test(name))
    return other('leverage tiers; import the file by itself: touchstone import binance_leverage_tiers.json');
  if (/\.(part|partial|crdownload|download|tmp)$/.test(name)) return other('an unfinished download');
  return other('not a CSV, Feather, JSON or Parquet file');
}
