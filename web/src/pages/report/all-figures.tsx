import type { MetricUnit } from '#contract/values/metric-labels.ts';
import { metricNote, noProfitFactor, withNote } from '#contract/values/undefined-metrics.ts';
import { decimal, duration, NO_VALUE, shortPair, utcTime, words } from '../../ui/format.ts';
import { type Column, Table, VirtualTable } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Value = unknown;
type Fields = Readonly<Record<string, Value>>;
/** A row of a table: scalars by their dotted paths. */
type Row = Readonly<Record<string, Value>> & { readonly row: number };
/** Label, unit and formula of a field; those of a metric have no part before their name. */
type Define = (field: string) => ReportData['definitions'][string] | undefined;

/** Rows of a table that are all drawn. */
const DRAWN_ROWS = 30;

/** The parts of a report, in the order of its panels. */
function partsOf({
  metrics,
  tables,
  periods,
  ...report
}: ReportData): readonly (readonly [string, string, Value])[] {
  return [
    ['Account', 'account', metrics.account],
    ['Equity with open positions', 'equity', metrics.equity],
    ['Closed trades', 'closed_trades', metrics.closed_trades],
    ['Activity', 'activity', metrics.activity],
    ['Drawdowns', 'drawdowns', report.drawdowns],
    ['Costs', 'costs', report.costs],
    ['Slippage model', 'slippage', report.slippage],
    ['Orders', 'counters', report.counters],
    ['Fill model compared', 'fill_model', report.fill_model],
    ['Assumptions', 'assumptions', report.assumptions],
    ['Robustness', 'robustness', report.robustness],
    ['Universe', 'universe', report.universe],
    ['Informative series', 'informative', report.informative],
    ['Models', 'models', report.models],
    ['Candles and signals', 'data', report.data],
    ['Trades by pair', 'trades', tables.per_pair],
    ['Trades by enter tag', 'trades', tables.per_enter_tag],
    ...(tables.per_group ? [['Trades by group', 'trades', tables.per_group] as const] : []),
    ['Trades by exit reason', 'trades', tables.per_exit_reason],
    ['Trades by enter tag and exit reason', 'trades', tables.per_enter_tag_and_exit_reason],
    ['Trades by side', 'trades', tables.per_side],
    ['Trades left open', 'trades', tables.left_open],
    ['Years', 'periods', periods.year],
    ['Months', 'periods', periods.month],
    ['Weekdays', 'periods', periods.weekday],
    ['Weeks', 'periods', periods.week],
    ['Days', 'periods', periods.day],
    ['Times of the task', 'timing', report.timing],
  ];
}

/** Every number of the report, with label and unit from its definitions: a new field needs no code here. */
export function AllFigures({ report, currency }: { readonly report: ReportData; readonly currency: string }) {
  return partsOf(report).map(([title, part, value]) => {
    const define: Define = (field) => report.definitions[`${part}.${field}`] ?? report.definitions[field];
    const note = (field: string) => (part in report.metrics ? metricNote(report, field) : null);
    return value === undefined ? null : <Part key={title} {...{ title, value, define, note, currency }} />;
  });
}

/** Definition of a field of a part. */
function definedIn(part: string, field: string, define: Define): ReturnType<Define> {
  // The definitions have one cost for the robustness.
  if (part === 'cost_sweep' && field === 'cost') return { ...define(field)!, label: 'Cost per side' };
  const whole = define(part);
  // Bounds have the unit of what they bound.
  return define(field) ?? (whole && { ...whole, label: capital(words(field)) });
}

interface PartProps {
  readonly title: string;
  readonly value: Value;
  readonly define: Define;
  /** What there is to say of a metric, such as why it has no value. */
  readonly note?: (field: string) => string | null;
  readonly currency: string;
}

function Part({ title, value, define, note = () => null, currency }: PartProps) {
  if (isList(value)) return value.length > 0 && <Rows {...{ title, define }} list={value} />;
  const fields = Object.entries(value as Fields);
  const own = fields.filter(([, each]) => isScalar(each));
  const parts = fields.filter(([name, each]) => isObject(each) && name !== 'findings');
  return (
    <>
      {own.length > 0 && (
        <>
          <h3 className="report-sub">{title}</h3>
          <dl className="report-figures pad">
            {own.map(([name, each]) => (
              <div key={name}>
                <dt title={define(name)?.formula}>{labelOf(name, define)}</dt>
                <dd>
                  {withNote(
                    name,
                    each === null ? null : textOf(each, define(name)?.unit, currency),
                    note(name),
                    NO_VALUE,
                  )}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {parts.map(([name, each]) => (
        <Part
          key={name}
          title={`${title}: ${define(name)?.label ?? words(name)}`}
          define={(field) => definedIn(name, field, define)}
          {...{ value: each, currency }}
        />
      ))}
    </>
  );
}

function Rows({
  title,
  list,
  define,
}: Pick<PartProps, 'title' | 'define'> & { readonly list: readonly Fields[] }) {
  const rows: readonly Row[] = list.map((each, row) => ({ ...flat(each), row }));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'row');
  const columns = names.map((name): Column<Row> => {
    const field = name.split('.').at(-1)!;
    const definition = define(field) ?? define(name.split('.')[0]!);
    const isNumber = rows.some((row) => typeof row[name] === 'number');
    return {
      key: name,
      title: headOf(name, define),
      width: isNumber ? 130 : 170,
      isNumber,
      label: definition?.formula,
      cell: (row) => noFactor(name, row) ?? <Cell value={row[name]} unit={definition?.unit} />,
    };
  });
  const props = { rows, columns, idOf: ({ row }: Row) => row, label: `All figures: ${title}` };
  return (
    <>
      <h3 className="report-sub">{title}</h3>
      <div className="report-bounded">
        {rows.length > DRAWN_ROWS ? <VirtualTable {...props} /> : <Table {...props} />}
      </div>
    </>
  );
}

/** Why a profit factor in a row has no value. */
function noFactor(name: string, { profit_factor, total_trades }: Row): string | null {
  if (name !== 'profit_factor' || typeof total_trades !== 'number') return null;
  return noProfitFactor({ profit_factor: profit_factor as number | null, total_trades });
}

function Cell({ value, unit }: { readonly value: Value; readonly unit: MetricUnit | undefined }) {
  const text = textOf(value, unit === 'minutes' ? unit : withoutUnit(unit));
  return <span title={typeof value === 'string' ? value : undefined}>{text}</span>;
}

/** The head of a column names the unit. */
function withoutUnit(unit: MetricUnit | undefined): MetricUnit | undefined {
  return unit === 'percent' ? 'ratio' : unit === 'days' ? undefined : unit;
}

/** Scalars of a row by their dotted paths. Lists of objects have no place in a cell: their panel shows them. */
function flat(fields: Fields, prefix = ''): Fields {
  const found = Object.entries(fields).map(([name, each]): Fields => {
    if (isScalar(each)) return { [prefix + name]: each };
    if (!isList(each)) return flat(each as Fields, `${prefix}${name}.`);
    return each.every(isScalar) ? { [prefix + name]: each.map(String).join(', ') } : {};
  });
  return Object.assign({}, ...found);
}

function labelOf(name: string, define: Define): string {
  return (define(name)?.label ?? capital(words(name))).replace(/ %$/, '');
}

function headOf(name: string, define: Define): string {
  const path = name.split('.');
  const label = path.map((each) => labelOf(each, define)).join(', ');
  const unit = define(path.at(-1)!)?.unit ?? define(path[0]!)?.unit;
  return unit === 'percent'
    ? `${label}, %`
    : unit === 'days' && !/days/i.test(label)
      ? `${label}, days`
      : label;
}

const DECIMALS = { percent: 2, quote: 2, base: 4, ratio: 2, probability: 4 } as const;

/** A value with its unit. Small numbers keep three significant figures: a cost per side is 0.0005. */
function textOf(value: Value, unit: MetricUnit | undefined, currency = ''): string {
  if (value === null || value === undefined) return NO_VALUE;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return stringOf(value);
  const number = value as number;
  if (unit === 'minutes') return duration(number * 60);
  if (unit === 'count' || (unit === undefined && Number.isInteger(number))) return decimal(number, 0);
  if (unit === 'days') return `${decimal(number, Number.isInteger(number) ? 0 : 2)} d`;
  const size = number === 0 ? 0 : Math.floor(Math.log10(Math.abs(number)));
  const text = decimal(number, Math.min(10, Math.max(DECIMALS[unit ?? 'ratio'], size < -1 ? 2 - size : 0)));
  if (unit === 'percent') return `${text} %`;
  return unit === 'quote' && currency ? `${text} ${currency}` : text;
}

function stringOf(text: string): string {
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return utcTime(text);
  if (/^[0-9a-f]{64}$/.test(text)) return text.slice(0, 16);
  return /^[A-Z0-9]+\/[A-Z0-9]+:/.test(text) ? shortPair(text) : words(text);
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const isObject = (value: Value): value is object => typeof value === 'object' && value !== null;
const isScalar = (value: Value) => !isObject(value);
const isList = (value: Value): value is readonly Fields[] => Array.isArray(value);
