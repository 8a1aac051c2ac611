import type {
  ChangedSeries,
  ImportUndo,
  SeriesCopying,
  SeriesDeletion,
  SeriesRenaming,
  SeriesUse,
  UndoneImports,
} from '#contract/market-data/series.ts';
import { CodedError } from '#contract/values/errors.ts';
import { listNames } from '#contract/values/list-names.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { ALL_TIMEFRAMES, type Timeframe } from '#engine/timeframe.ts';
import { checkSymbol, checkTimeframe, isExchangeKey, tradingModeOf } from '../shared/validate.ts';
import type { InstrumentStore } from './instrument-ports.ts';
import { notStored, type ReadSeriesDeps } from './list-series.ts';
import type { SymbolKey } from './series-ports.ts';
import { type UseReader, usesOf } from './series-uses.ts';

export interface ChangeSeriesDeps extends ReadSeriesDeps {
  readonly instruments: InstrumentStore;
}

/** Series of a symbol: of one timeframe, or of all. */
interface Selection extends SymbolKey {
  readonly timeframe: Timeframe | undefined;
  /** Those of the selection that may exist. */
  readonly timeframes: readonly Timeframe[];
}

/**
 * Deletes the series of a symbol. Without a timeframe its funding rates too; the instrument stays. A deletion that was interrupted is
 * finished. Throws VAL002, VAL003, VAL005, RES005 while something uses them, DATA003, DATA005, SVC005.
 */
export async function deleteSeries(
  deps: ChangeSeriesDeps,
  { force = false, ...request }: SeriesDeletion,
  reader: UseReader,
): Promise<ChangedSeries> {
  const selected = select(deps, request);
  const { exchange, symbol } = selected;
  if (!force) await checkUnused(deps, selected, reader);
  const timeframes: Timeframe[] = [];
  for (const timeframe of selected.timeframes) {
    if (await deps.candles.remove({ exchange, symbol, timeframe })) timeframes.push(timeframe);
  }
  const funding = selected.timeframe === undefined && (await deps.candles.hasFunding(exchange, symbol));
  if (funding) await deps.candles.removeFunding(exchange, symbol);
  if (timeframes.length === 0 && !funding) throw notStored(selected);
  return { exchange, symbol, timeframes, funding };
}

/**
 * Gives series another symbol or exchange. Each series moves in one transaction; the same call continues after a crash. Throws VAL002,
 * VAL003, VAL005, RES005 while something uses them and when the result exists, DATA003, DATA005, SVC005.
 */
export async function renameSeries(
  deps: ChangeSeriesDeps,
  { force = false, ...request }: SeriesRenaming,
  reader: UseReader,
): Promise<ChangedSeries> {
  const { selected, target } = await selectTarget(deps, request);
  if (!force) await checkUnused(deps, selected, reader);
  const { exchange, symbol } = selected;
  const funding = await copyFunding(deps, selected, target);
  const timeframes = await copyEach(deps, selected, target, true);
  if (timeframes.length === 0 && !funding) throw notStored(selected);
  await copyInstrument(deps, selected, target);
  if (funding) await deps.candles.removeFunding(exchange, symbol);
  return { ...target, timeframes, funding };
}

/** Copies series. Throws VAL002, VAL003, VAL005, RES005 when the result exists, DATA003, DATA005. */
export async function copySeries(deps: ChangeSeriesDeps, request: SeriesCopying): Promise<ChangedSeries> {
  const { selected, target } = await selectTarget(deps, request);
  const timeframes = await copyEach(deps, selected, target, false);
  if (timeframes.length === 0) throw notStored(selected);
  const funding = await copyFunding(deps, selected, target);
  await copyInstrument(deps, selected, target);
  return { ...target, timeframes, funding };
}

/**
 * Takes back the last import of a symbol: in the series that it changed, or in one of them. An undo that was interrupted is finished.
 * Throws VAL002, VAL003, VAL005, RES005 when no import is kept, DATA005.
 */
export async function undoImport(deps: ChangeSeriesDeps, request: ImportUndo): Promise<UndoneImports> {
  const { exchange, symbol, timeframes } = select(deps, request);
  const keys = timeframes.map((timeframe) => ({ exchange, symbol, timeframe }));
  const kept = await Promise.all(
    keys.map(async (key) => ({ key, import: (await deps.series.state(key)).kept_import })),
  );
  const newest = kept
    .flatMap((each) => each.import ?? [])
    .reduce(
      (best, each) => (best && best.at >= each.at ? best : each),
      undefined as undefined | { id: string; at: string },
    );
  const items: UndoneImports['items'] = [];
  for (const { key } of kept.filter((each) => newest && each.import?.id === newest.id)) {
    const undone = await deps.candles.undoImport(key);
    if (!undone) continue;
    const { id, at } = undone.import;
    items.push({ timeframe: key.timeframe, import: { id, at }, count: undone.info?.count ?? 0 });
  }
  if (items.length > 0) return { exchange, symbol, items };
  throw new CodedError('RES005', {
    message: `No import of ${symbol} of ${exchange} can be undone: none is kept. Imports are kept from this version on, until they are undone or the series is renamed.`,
    field: 'symbol',
    context: { exchange, symbol },
  });
}

function select(
  { defaultExchange }: Pick<ChangeSeriesDeps, 'defaultExchange'>,
  request: {
    readonly symbol: string;
    readonly timeframe?: string | undefined;
    readonly exchange?: string | undefined;
  },
): Selection {
  const { exchange = defaultExchange } = request;
  checkExchange(exchange, 'exchange');
  const symbol = checkSymbol(request.symbol, 'symbol', tradingModeOf(request.symbol));
  const timeframe =
    request.timeframe === undefined
      ? undefined
      : checkTimeframe(request.timeframe, 'timeframe', ALL_TIMEFRAMES);
  return { exchange, symbol, timeframe, timeframes: timeframe === undefined ? ALL_TIMEFRAMES : [timeframe] };
}

function checkExchange(value: string, field: string): void {
  if (isExchangeKey(value)) return;
  throw new CodedError('VAL005', {
    message: `${field} must be the key of an exchange, such as binanceusdm`,
    field,
    context: { value: value.slice(0, 100) },
  });
}

async function selectTarget(
  deps: ChangeSeriesDeps,
  request: Parameters<typeof select>[1] & {
    readonly to_exchange?: string | undefined;
    readonly to_symbol?: string | undefined;
  },
): Promise<{ readonly selected: Selection; readonly target: SymbolKey }> {
  const selected = select(deps, request);
  const { to_exchange: exchange = selected.exchange, to_symbol: symbol = selected.symbol } = request;
  checkExchange(exchange, 'to_exchange');
  checkSymbol(symbol, 'to_symbol', tradingModeOf(symbol));
  const target = { exchange, symbol };
  if (exchange === SIMULATED || selected.exchange === SIMULATED) {
    throw new CodedError('VAL005', {
      message: `${SIMULATED} is the simulated market: its candles keep its name, and no others get it`,
      field: exchange === SIMULATED ? 'to_exchange' : 'exchange',
      context: { value: SIMULATED },
    });
  }
  if (tradingModeOf(symbol) !== tradingModeOf(selected.symbol)) {
    throw new CodedError('VAL005', {
      message: `${symbol} and ${selected.symbol} are not of the same kind: one is spot, the other a contract`,
      field: 'to_symbol',
      context: { value: symbol },
    });
  }
  if (exchange === selected.exchange && symbol === selected.symbol) {
    throw new CodedError('VAL005', {
      message: 'Pass to_exchange or to_symbol: the result must differ from the series',
      field: request.to_symbol === undefined ? 'to_exchange' : 'to_symbol',
      context: { value: request.to_symbol ?? exchange },
    });
  }
  const storedOf = async ({ exchange, symbol }: SymbolKey) => {
    const stored = await deps.series.getMany(
      exchange,
      selected.timeframes.map((timeframe) => ({ symbol, timeframe })),
    );
    return [...stored.values()].map(({ timeframe }) => timeframe);
  };
  const [source, existing] = await Promise.all([storedOf(selected), storedOf(target)]);
  const both = source.filter((timeframe) => existing.includes(timeframe));
  if (both.length > 0) throw existsAlready(target, both);
  return { selected, target };
}

function existsAlready({ exchange, symbol }: SymbolKey, timeframes: readonly Timeframe[]): CodedError {
  return new CodedError('RES005', {
    message: `${symbol} ${timeframes.join(', ')} of ${exchange} exists already. Delete or rename it first.`,
    field: 'to_symbol',
    context: { exchange, symbol, timeframes },
  });
}

/** Timeframes that were copied, or moved. */
async function copyEach(
  { candles }: Pick<ChangeSeriesDeps, 'candles'>,
  { exchange, symbol, timeframes }: Selection,
  target: SymbolKey,
  move: boolean,
): Promise<Timeframe[]> {
  const done: Timeframe[] = [];
  for (const timeframe of timeframes) {
    const outcome = await candles.copy(
      { exchange, symbol, timeframe },
      { exchange: target.exchange, symbol: target.symbol, timeframe },
      { move },
    );
    if (outcome === 'exists') throw existsAlready(target, [timeframe]);
    if (outcome === 'done') done.push(timeframe);
  }
  return done;
}

/** False when the selection has no funding rates, or the target is a spot pair. */
async function copyFunding(
  { candles }: Pick<ChangeSeriesDeps, 'candles'>,
  { exchange, symbol, timeframe }: Selection,
  target: SymbolKey,
): Promise<boolean> {
  if (timeframe !== undefined || tradingModeOf(target.symbol) === 'spot') return false;
  if (!(await candles.hasFunding(exchange, symbol))) return false;
  if (await candles.copyFunding({ exchange, symbol }, target)) return true;
  throw new CodedError('RES005', {
    message: `Other funding rates of ${target.symbol} of ${target.exchange} are stored at the same times. Delete them first: delete the symbol without a timeframe.`,
    field: 'to_symbol',
    context: { ...target },
  });
}

/** The target keeps the instrument that it has. */
async function copyInstrument(
  { instruments }: Pick<ChangeSeriesDeps, 'instruments'>,
  { exchange, symbol }: SymbolKey,
  target: SymbolKey,
): Promise<void> {
  const record = (await instruments.getMany(exchange, [symbol])).get(symbol);
  if (!record || (await instruments.getMany(target.exchange, [target.symbol])).size > 0) return;
  await instruments.record(target.exchange, target.symbol, record);
}

/** Uses named in a message; the context has all. */
const USES_SHOWN = 5;

async function checkUnused(deps: ChangeSeriesDeps, key: SymbolKey, reader: UseReader): Promise<void> {
  const used_by = await usesOf(deps, key, reader);
  if (used_by.length === 0) return;
  const names = listNames(used_by.map(nameOf), { shown: USES_SHOWN });
  throw new CodedError('RES005', {
    message: `${key.symbol} of ${key.exchange} is in use: ${names}. Wait, cancel or archive them, or pass force.`,
    field: 'symbol',
    context: { exchange: key.exchange, symbol: key.symbol, used_by },
  });
}

function nameOf({ kind, id, status }: SeriesUse): string {
  return `${kind} ${id ?? 'of another user'} (${status})`;
}
