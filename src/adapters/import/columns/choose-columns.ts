import type { TradingMode } from '#contract/values/trading-modes.ts';
import { BadFileError } from '../file-rows.ts';
import {
  CLOCKS,
  INDEX_NAMES,
  NAMES,
  OPEN_TIMES,
  plainName,
  ROLES,
  type Role,
  TIMES,
  VOLUMES,
} from './column-names.ts';
import { hasDecimalComma, numberIn } from './numbers.ts';
import { isCompactDate, writtenTime } from './times.ts';

/** Statements of the user, and what the names of the file say. */
export interface ColumnHints {
  /** `--columns time=when,low=bottom`: names in the file, or numbers from 1. */
  readonly columns?: Readonly<Partial<Record<Role, string>>>;
  /** Symbol of the only series, such as `BTC/USDT`. */
  readonly symbol?: string;
  readonly mode?: TradingMode;
}

export type Positions = Readonly<Partial<Record<Role, number>>> &
  Readonly<Record<'time' | 'open' | 'high' | 'low' | 'close', number>>;

export interface ChosenColumns {
  /** Positions of the columns by what they hold. */
  readonly positions: Positions;
  readonly decimalComma: boolean;
  readonly notes: readonly string[];
}

/** Between a volume times the close and the traded value; prices change within a candle, contracts have 10 or 100 units. */
const FACTOR = 2;

/** Column names that a message quotes. */
const NAMES_SHOWN = 20;

/**
 * Finds the columns of candles by their names.
 * @param names as in the file
 * @param samples first rows, each with as many cells
 * @throws BadFileError that says which column is missing, and which are there
 */
export function chooseColumns(
  names: readonly string[],
  samples: readonly (readonly string[])[],
  hints: ColumnHints,
): ChosenColumns {
  return new Chooser(names, samples, hints).choose();
}

/** Endings or beginnings of the prices of a file, such as `open` in `AAPL.Open`, `o` in `mid.o`. */
const PRICE_NAMES = [
  ['open', 'high', 'low', 'close'],
  ['o', 'h', 'l', 'c'],
] as const;
/** Columns that lose what the prices have in common. */
const WITH_AFFIX = new Set<string>([...PRICE_NAMES.flat(), 'volume', 'v', 'vol']);

/**
 * Plain names without what all prices have before or after them: the symbol, or the side of a quote. Bids are taken of bids and asks.
 * Names of several symbols stay: the user chooses.
 */
function withoutAffix(plain: readonly string[]): { plain: readonly string[]; notes: readonly string[] } {
  const isThere = (names: readonly string[]) => names.every((name) => plain.includes(name));
  if (plain.some((name) => NAMES.open.includes(name))) return { plain, notes: [] };
  const strips = PRICE_NAMES.flatMap((prices) =>
    plain.flatMap((name) => {
      const [open] = prices;
      const [before, after] = [name.slice(0, -open.length), name.slice(open.length)];
      return [
        ...(name.endsWith(open) && isThere(prices.map((price) => before + price))
          ? [
              {
                affix: before,
                strip: (text: string) => (text.startsWith(before) ? text.slice(before.length) : text),
              },
            ]
          : []),
        ...(name.startsWith(open) && isThere(prices.map((price) => price + after))
          ? [
              {
                affix: after,
                strip: (text: string) => (text.endsWith(after) ? text.slice(0, -after.length) : text),
              },
            ]
          : []),
      ];
    }),
  ).filter(({ affix }) => affix !== '');
  const isQuotes = strips.some(({ affix }) => affix === 'bid') && strips.some(({ affix }) => affix === 'ask');
  const chosen = isQuotes
    ? strips.find(({ affix }) => affix === 'bid')
    : strips.length === 1
      ? strips[0]
      : undefined;
  if (!chosen) return { plain, notes: [] };
  const stripped = plain.map((name) => {
    const short = chosen.strip(name);
    return WITH_AFFIX.has(short) ? short : name;
  });
  return { plain: stripped, notes: isQuotes ? ['prices are bids; the file has asks too'] : [] };
}

class Chooser {
  readonly #names: readonly string[];
  readonly #plain: readonly string[];
  readonly #samples: readonly (readonly string[])[];
  readonly #hints: ColumnHints;
  readonly #decimalComma: boolean;
  readonly #notes: string[] = [];

  constructor(names: readonly string[], samples: readonly (readonly string[])[], hints: ColumnHints) {
    this.#names = names.map((name) => name.trim());
    const { plain, notes } = withoutAffix(names.map(plainName));
    this.#plain = plain;
    this.#notes.push(...notes);
    this.#samples = samples;
    this.#hints = hints;
    this.#decimalComma = hasDecimalComma(samples.flat());
  }

  choose(): ChosenColumns {
    const percent = this.#percentColumns();
    const prices = percent ?? this.#prices();
    const time = this.#given('time') ?? (percent ? 0 : this.#time());
    const clock = this.#given('clock') ?? this.#clock(time);
    const volume = this.#given('volume') ?? percent?.volume ?? this.#volume(prices.close);
    const found: Partial<Record<Role, number>> = { time: time as number, ...prices };
    const all = {
      ...found,
      clock,
      volume,
      symbol: this.#given('symbol') ?? this.#first(NAMES.symbol),
      timeframe: this.#given('timeframe') ?? this.#first(NAMES.timeframe),
      exchange: this.#given('exchange') ?? this.#first(NAMES.exchange),
    };
    const missing = (['time', 'open', 'high', 'low', 'close'] as const).filter(
      (role) => all[role] === undefined,
    );
    if (missing.length > 0) throw this.#missing(missing);
    const positions = Object.fromEntries(Object.entries(all).filter(([, at]) => at !== undefined));
    return {
      positions: positions as ChosenColumns['positions'],
      decimalComma: this.#decimalComma,
      notes: this.#notes,
    };
  }

  #missing(roles: readonly Role[]): BadFileError {
    const shown = this.#names.slice(0, NAMES_SHOWN).map((name) => name || '(no name)');
    const more = this.#names.length > NAMES_SHOWN ? ', ...' : '';
    const examples = roles.map((role) => `${role}=NAME`).join(',');
    return new BadFileError(
      `has no column for ${roles.join(', ')}: the columns are ${shown.join(', ')}${more}. Name the missing ones: --columns ${examples}`,
    );
  }

  /** Position of a column that the user names. Throws BadFileError for a name that the file does not have. */
  #given(role: Role): number | undefined {
    const name = this.#hints.columns?.[role];
    if (name === undefined) return undefined;
    const exact = this.#names.indexOf(name);
    if (exact >= 0) return exact;
    const similar = this.#plain.indexOf(plainName(name));
    if (similar >= 0 && plainName(name) !== '') return similar;
    if (/^\d+$/.test(name) && Number(name) >= 1 && Number(name) <= this.#names.length)
      return Number(name) - 1;
    throw new BadFileError(
      `has no column ${name} (--columns ${role}=${name}): the columns are ${this.#names.slice(0, NAMES_SHOWN).join(', ')}`,
    );
  }

  /** Position of the first of the names that the file has. */
  #first(names: readonly string[]): number | undefined {
    const name = names.find((each) => this.#plain.includes(each));
    if (name === undefined) return undefined;
    const spelled = new Set(this.#names.filter((_, at) => this.#plain[at] === name));
    if (spelled.size === 1) return this.#plain.indexOf(name);
    throw new BadFileError(
      `has the columns ${[...spelled].join(' and ')}: name one of them, such as --columns ${name}=${[...spelled][0]}`,
    );
  }

  #prices() {
    return {
      open: this.#given('open') ?? this.#first(NAMES.open),
      high: this.#given('high') ?? this.#first(NAMES.high),
      low: this.#given('low') ?? this.#first(NAMES.low),
      close: this.#given('close') ?? this.#first(NAMES.close),
    };
  }

  /**
   * Columns of Investing, whose header is translated into thirty languages: date, last price, open, high, low, volume if there is one,
   * and the change in percent.
   */
  #percentColumns() {
    const width = this.#names.length;
    const isPercent = /%/.test(this.#names.at(-1) ?? '') && (width === 6 || width === 7);
    if (!isPercent || this.#hints.columns?.open !== undefined) return undefined;
    const first = this.#samples[0];
    if (!first?.at(-1)?.includes('%')) return undefined;
    return { close: 1, open: 2, high: 3, low: 4, ...(width === 7 && { volume: 5 }) };
  }

  /** Of several times the open time, else a number, else the first text; the index only where nothing else is a time. */
  #time(): number | undefined {
    const open = this.#first(OPEN_TIMES);
    if (open !== undefined) return open;
    const named = TIMES.flatMap((name) => this.#positionsOf(name));
    const times = named.filter((at) => this.#isTime(at));
    const best = times.find((at) => this.#isEpoch(at)) ?? times[0] ?? named[0];
    if (best !== undefined) return best;
    const index = ['', ...INDEX_NAMES].flatMap((name) => this.#positionsOf(name));
    return index.find((at) => this.#isTime(at));
  }

  #positionsOf(name: string): number[] {
    return this.#plain.flatMap((each, at) => (each === name ? at : []));
  }

  #sample(at: number): string[] {
    return this.#samples.map((row) => (row[at] ?? '').trim()).filter((text) => text !== '');
  }

  #isEpoch(at: number): boolean {
    return this.#sample(at).every((text) => Number(text) >= 1e8 && !isCompactDate(text));
  }

  #isTime(at: number): boolean {
    const texts = this.#sample(at);
    const isOne = (text: string) =>
      Number(text) >= 1e8 || writtenTime(text, 'dmy') !== undefined || writtenTime(text, 'mdy') !== undefined;
    return texts.length > 0 && texts.every(isOne);
  }

  /** Time of day: next to a date without one. */
  #clock(time: number | undefined): number | undefined {
    const at = CLOCKS.flatMap((name) => this.#positionsOf(name)).find((each) => each !== time);
    if (time === undefined || at === undefined) return undefined;
    const isDay = this.#sample(time).every((text) => /^\d[\d./-]{5,9}$/.test(text));
    const isClock = this.#sample(at).every((text) => /^\d{1,2}(:\d\d){1,2}$|^\d{6}$|^0$/.test(text));
    return isDay && isClock ? at : undefined;
  }

  #volume(close: number | undefined): number | undefined {
    const named =
      this.#volumeOfAsset() ?? this.#okxVolume(close) ?? this.#ticks() ?? this.#first(['homenotional']);
    if (named !== undefined) return named;
    const quote = this.#first(VOLUMES.quote);
    const base = this.#first(VOLUMES.base);
    if (base !== undefined) {
      // A column next to `quote_volume` is the base asset's; next to `turnover` it may count anything.
      const isUnclear = quote !== undefined && !this.#plain[quote]!.includes('quote');
      if (isUnclear && this.#samples.length > 0 && !this.#isBase(base, quote, close)) {
        this.#notes.push(
          `${this.#names[base]} times the price is not ${this.#names[quote]}: it may count contracts. --columns volume=NAME takes another column`,
        );
      } else if (this.#plain[base] === 'vol' && this.#isDerivative()) {
        this.#notes.push(
          `volume is ${this.#names[base]}: of derivatives of OKX it counts contracts, not units of the base asset`,
        );
      }
      return base;
    }
    const contracts = this.#first(VOLUMES.contracts);
    if (contracts !== undefined) {
      this.#notes.push(
        `volume is ${this.#names[contracts]}: it counts contracts, not units of the base asset`,
      );
      return contracts;
    }
    if (quote !== undefined) {
      const name = this.#names[quote];
      this.#notes.push(
        `${name} is in the quote currency, and there is no volume in the base asset: stored without volumes. --columns volume=${name} takes it as it is`,
      );
    }
    return undefined;
  }

  /** `Volume BTC` and `Volume USDT`, `Volume_(BTC)` and `Volume_(Currency)`: that of the base asset. */
  #volumeOfAsset(): number | undefined {
    if (this.#plain.includes('volume')) return undefined;
    const found = this.#names.flatMap((name, at) => {
      const [, asset] = /^vol(?:ume)?[ _]\(?([a-z0-9]+)\)?$/i.exec(name) ?? [];
      return asset && !/^(ccy|quote|base)$/i.test(asset) ? { at, asset: asset.toUpperCase() } : [];
    });
    if (found.length === 0) return undefined;
    const base = this.#hints.symbol?.split('/')[0] ?? this.#baseOfRows();
    const chosen =
      found.find(({ asset }) => asset === base) ?? found.find(({ asset }) => !QUOTES.has(asset)) ?? found[0]!;
    if (found.length === 1 && base !== chosen.asset && QUOTES.has(chosen.asset)) {
      this.#notes.push(`volume is ${this.#names[chosen.at]}: it is in the quote currency`);
    }
    return chosen.at;
  }

  /** Base asset of `BTC/USDT` in the rows. */
  #baseOfRows(): string | undefined {
    const at = this.#first(NAMES.symbol);
    const [base, quote] = at === undefined ? [] : (this.#sample(at)[0]?.split('/') ?? []);
    return quote === undefined ? undefined : base;
  }

  /**
   * OKX: `vol` counts contracts of derivatives and the base asset of spot; `vol_ccy` is the base asset of derivatives and the quote
   * currency of spot.
   */
  #okxVolume(close: number | undefined): number | undefined {
    const ccy = this.#plain.indexOf('volccy');
    const vol = this.#plain.indexOf('vol');
    if (ccy < 0 || vol < 0) return undefined;
    const quote = this.#first(['volquote', 'volccyquote']);
    const fits = (at: number) => quote !== undefined && this.#isBase(at, quote, close);
    const isDerivative = fits(ccy) || (!fits(vol) && this.#isDerivative() === true);
    this.#notes.push(
      isDerivative
        ? `volume is ${this.#names[ccy]} (base); ${this.#names[vol]} counts contracts`
        : `volume is ${this.#names[vol]} (base); ${this.#names[ccy]} is in the quote currency`,
    );
    return isDerivative ? ccy : vol;
  }

  #isDerivative(): boolean | undefined {
    const { symbol, mode } = this.#hints;
    if (symbol !== undefined) return symbol.includes(':');
    if (mode !== undefined) return mode === 'futures';
    const at = this.#plain.findIndex((name) => ['instrumentname', 'instid', 'symbol'].includes(name));
    return at < 0 ? undefined : /-SWAP$|-\d{6}$/.test(this.#sample(at)[0] ?? '');
  }

  /** True if the volumes of a column times the price are about those of a column in the quote currency, in most rows. */
  #isBase(at: number, quote: number, close: number | undefined): boolean {
    if (close === undefined) return false;
    const fitting = this.#samples.filter((row) => {
      const [volume, price, value] = [at, close, quote].map((index) =>
        numberIn(row[index] ?? '', this.#decimalComma),
      );
      return volume! * price! <= FACTOR * value! && value! <= FACTOR * volume! * price!;
    });
    return fitting.length > this.#samples.length / 2;
  }

  /** MetaTrader: real volumes where the broker has them, else the number of price changes. */
  #ticks(): number | undefined {
    const ticks = this.#first(VOLUMES.ticks);
    if (ticks === undefined) return undefined;
    const real = this.#first(VOLUMES.base) ?? this.#plain.indexOf('realvolume');
    const tickName = this.#names[ticks];
    if (real >= 0 && this.#sample(real).some((text) => Number(text) !== 0)) {
      this.#notes.push(`volume is ${this.#names[real]}; ${tickName} counts price changes`);
      return real;
    }
    const other = real >= 0 ? `; ${this.#names[real]} is 0` : '';
    this.#notes.push(`volume is ${tickName}, the number of price changes${other}`);
    return ticks;
  }
}

/** Currencies in which others are quoted. */
const QUOTES: ReadonlySet<string> = new Set([
  'CURRENCY',
  'USD',
  'USDT',
  'USDC',
  'BUSD',
  'TUSD',
  'FDUSD',
  'DAI',
  'EUR',
  'GBP',
  'JPY',
  'AUD',
  'CHF',
  'CAD',
  'KRW',
  'TRY',
  'BRL',
]);

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
