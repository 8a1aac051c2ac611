import type { MetricName, MetricUnit } from '#contract/values/metric-labels.ts';
import { metricNote, withNote } from '#contract/values/undefined-metrics.ts';
import { NO_VALUE, signed, tone, value, withUnit } from '../../ui/format.ts';
import { Figure, Tile } from '../../ui/parts.tsx';
import type { ReportData } from './data.ts';

interface TileSpec {
  readonly label: string;
  readonly metric: MetricName;
  /** Gains and losses have a sign and a colour. */
  readonly isSigned?: true;
  readonly definition: string;
  readonly sub: (of: (name: MetricName) => string, report: ReportData) => string;
}

/** The eight tiles: each a value, a second value and the definition. */
const TILES: readonly TileSpec[] = [
  {
    label: 'Total profit',
    metric: 'total_profit_pct',
    isSigned: true,
    definition: 'Profit of all trades after costs, as a share of the starting balance.',
    sub: (of) => of('total_profit'),
  },
  {
    label: 'CAGR',
    metric: 'cagr_pct',
    isSigned: true,
    definition:
      'Growth per year, compounded; undefined under 30 days, and marked under 90. Next to it: mean change of the price of the pairs.',
    sub: (of) => `market ${of('market_change_pct')}`,
  },
  {
    label: 'Sharpe ratio',
    metric: 'sharpe_ratio',
    definition:
      'Mean return of a day against its population deviation, per year, from the equity with open positions.',
    sub: (of) => `Sortino ${of('sortino_ratio')}`,
  },
  {
    label: 'Max drawdown',
    metric: 'max_drawdown_pct',
    definition: 'Deepest fall of the equity at the end of a day below its highest value before.',
    sub: (of) => `${of('max_drawdown_candle_pct')} by candle`,
  },
  {
    label: 'Profit factor',
    metric: 'profit_factor',
    definition: 'Sum of the wins for each unit lost. Above 1 the trades earn.',
    sub: (of) => `${of('expectancy')} a trade`,
  },
  {
    label: 'Win rate',
    metric: 'win_rate',
    definition: 'Share of the trades with a profit above zero. Next to it: wins, draws and losses.',
    sub: (of) => `${of('winning_trades')} W · ${of('draws')} D · ${of('losing_trades')} L`,
  },
  {
    label: 'Trades',
    metric: 'total_trades',
    definition: 'Closed trades. Few trades say little: the p-value is the chance of this mean without skill.',
    sub: (of) => `p-value ${of('p_value')}`,
  },
  {
    label: 'Exposure',
    metric: 'exposure_pct',
    definition: 'Share of the candles that end with an open trade. Next to it: average duration of a trade.',
    sub: (of) => `${of('avg_duration_minutes')} a trade`,
  },
];

/** Number of each metric of the report by its name. */
function metricsOf(report: ReportData): Readonly<Record<string, number | null>> {
  const { account, equity, closed_trades, activity } = report.metrics;
  return { ...account, ...equity, ...closed_trades, ...activity };
}

export function MetricTiles({
  report,
  currency,
}: {
  readonly report: ReportData;
  readonly currency: string;
}) {
  const numbers = metricsOf(report);
  const unitOf = (name: string): MetricUnit => report.definitions[name]?.unit ?? 'ratio';
  const noteOf = (name: string) => metricNote(report, name);
  const of = (name: MetricName) => {
    const number = numbers[name] ?? null;
    if (number === null) return withNote(name, null, noteOf(name), NO_VALUE);
    const short = Math.abs(number) >= 100_000 && unitOf(name) === 'quote';
    return short ? compact(number, currency) : withUnit(number, unitOf(name), currency);
  };
  return (
    <section className="tiles report-tiles" aria-label="Key figures">
      {TILES.map(({ label, metric, isSigned, definition, sub }) => (
        <Tile
          key={metric}
          label={label}
          value={
            <Figure state={report.look_ahead.state}>
              {textOf(numbers[metric], unitOf(metric), isSigned)}
            </Figure>
          }
          tone={isSigned ? tone(numbers[metric]) : ''}
          sub={[noteOf(metric), sub(of, report)].filter((each) => each !== null).join(' · ')}
          definition={definition}
          formula={formulaOf(metric, report)}
        />
      ))}
    </section>
  );
}

function textOf(number: number | null | undefined, unit: MetricUnit, isSigned: true | undefined): string {
  const shown = isSigned ? signed(number, unit) : value(number, unit);
  return unit === 'percent' && Number.isFinite(number ?? Number.NaN) ? `${shown} %` : shown;
}

/** `1.2M USDT`: a tile has no room for more. */
function compact(number: number, currency: string): string {
  const text = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumSignificantDigits: 4 }).format(
    number,
  );
  return `${text.replace('-', '−')} ${currency}`.trimEnd();
}

/** Label and formula of a metric, with the meaning of each symbol in it. */
function formulaOf(metric: MetricName, { definitions, notation }: ReportData): string {
  const { label, formula } = definitions[metric] ?? { label: metric, formula: '' };
  const symbols = Object.entries(notation).filter(([symbol]) => isNamed(formula, symbol));
  return [`${label} = ${formula}`, ...symbols.map(([symbol, meaning]) => `${symbol}: ${meaning}`)].join('\n');
}

function isNamed(formula: string, symbol: string): boolean {
  const at = formula.indexOf(symbol);
  const isLetter = (character: string | undefined) => character !== undefined && /\w/.test(character);
  return at >= 0 && !isLetter(formula[at - 1]) && !isLetter(formula[at + symbol.length]);
}
