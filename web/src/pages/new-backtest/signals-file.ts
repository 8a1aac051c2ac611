/** Columns that a file of signals may have, and those of which it needs one. */
export interface SignalsColumns {
  readonly all: readonly string[];
  readonly flags: readonly string[];
}

/** What a form takes from a file. */
export interface SignalsFacts {
  readonly rows: number;
  /** In the order of their first rows. */
  readonly pairs: readonly string[];
  /** Earliest time, Unix ms; undefined without a valid one. */
  readonly first: number | undefined;
}

/** Unix times below are seconds: in ms it is the year 1973. */
const MIN_MS = 1e11;

/**
 * Rows, pairs and start of a CSV file. The values are checked by the task, which knows the candles.
 *
 * @throws Error that says what is wrong with the columns
 */
export function readSignalsCsv(text: string, columns: SignalsColumns): SignalsFacts {
  let at: { readonly timestamp: number; readonly pair: number } | undefined;
  let rows = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = '';
  const pairs = new Set<string>();
  for (const cells of recordsOf(text)) {
    if (!at) {
      const names = cells.map((cell) => cell.trim());
      checkColumns(names, columns);
      at = { timestamp: names.indexOf('timestamp'), pair: names.indexOf('pair') };
      continue;
    }
    rows++;
    const pair = cells[at.pair]?.trim();
    if (pair) pairs.add(pair);
    const time = cells[at.timestamp] ?? '';
    // Files by time have a row for each pair: parsing takes longer than all else.
    if (time !== last) first = Math.min(first, timeOf(time.trim()) ?? first);
    last = time;
  }
  if (!at || rows === 0) throw new Error('The file has no rows');
  return { rows, pairs: [...pairs], first: Number.isFinite(first) ? first : undefined };
}

function checkColumns(names: readonly string[], { all, flags }: SignalsColumns): void {
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    const shown = unknown.slice(0, 5).map((name) => `“${name.slice(0, 40)}”`);
    throw new Error(`The file has unknown columns: ${shown.join(', ')}. It may have ${all.join(', ')}`);
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`The file has two columns ${twice}`);
  for (const needed of ['timestamp', 'pair']) {
    if (!names.includes(needed)) throw new Error(`The file has no column ${needed}`);
  }
  if (!flags.some((name) => names.includes(name))) {
    throw new Error(`The file has no signals: it needs at least one of ${flags.join(', ')}`);
  }
}

/** Cells of each line that is not empty. A quoted cell may hold commas and line ends. */
function* recordsOf(text: string): Generator<readonly string[]> {
  let open = '';
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const record = open + line;
    const isQuoted = record.includes('"');
    if (isQuoted && record.split('"').length % 2 === 0) {
      open = `${record}\n`;
      continue;
    }
    open = '';
    if (record !== '') yield isQuoted ? quotedCells(record) : record.split(',');
  }
}

function quotedCells(record: string): readonly string[] {
  const cells = `${record},`.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*)),/g);
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
}

function timeOf(text: string): number | undefined {
  const number = Number(text);
  if (text !== '' && Number.isFinite(number)) return number < MIN_MS ? number * 1_000 : number;
  const dated = text.replace(' ', 'T');
  const time = Date.parse(dated.includes('T') && !/(Z|[+-]\d\d:?\d\d)$/.test(dated) ? `${dated}Z` : dated);
  return Number.isNaN(time) ? undefined : time;
}
