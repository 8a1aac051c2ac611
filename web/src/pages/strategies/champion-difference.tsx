import metrics from 'virtual:metrics';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { ChangesList } from '../../forms/changes-list.tsx';
import { NO_VALUE, resultText, withUnit } from '../../ui/format.ts';
import { Exchange, LookAheadWord } from '../../ui/job-list.tsx';
import { Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ComparisonVerdict } from './comparison-panel.tsx';

type Version = ResponseOf<'getVersion'>;

/** A figure of the champion and of the version. */
interface Figure {
  readonly name: string;
  readonly cell: (version: Version) => React.ReactNode;
}

const METRICS = [
  'total_profit_pct',
  'max_drawdown_pct',
  'sharpe_ratio',
  'profit_factor',
  'win_rate',
  'total_trades',
] as const;

const FIGURES: readonly Figure[] = [
  ...METRICS.map((name) => ({
    name: metrics.definitions[name]!.label,
    cell: (version: Version) => resultText(version.metrics, name, metrics.definitions[name]!.unit),
  })),
  { name: 'Deflated Sharpe ratio', cell: deflatedText },
  { name: 'Look-ahead', cell: ({ look_ahead }) => <LookAheadWord state={look_ahead} /> },
  { name: 'Exchange', cell: ({ exchange }) => <Exchange name={exchange} /> },
  {
    name: 'Candles until',
    cell: ({ evidence }) => (evidence ? <Time at={evidence.to} isDate /> : NO_VALUE),
  },
];

/** Deflated Sharpe ratio of the search that found a version; a dash where none is known. */
export function deflatedText({ evidence }: Version): string {
  return withUnit(evidence?.deflated_sharpe_ratio, 'probability');
}

/**
 * What the version changes of the champion, and whether its backtest is better: verdict, figures side by side, changed settings.
 * Without a champion its own figures.
 */
export function ChampionDifference(props: {
  readonly model: string;
  readonly version: Version;
  /** Version in Production; null without one. */
  readonly champion: string | null;
}) {
  const { model, version, champion } = props;
  if (champion === null || champion === version.version) return <FiguresTable version={version} />;
  return <Difference model={model} version={version} champion={champion} />;
}

function Difference(props: { readonly model: string; readonly version: Version; readonly champion: string }) {
  const { model, version, champion } = props;
  const other = useCall('getVersion', { params: { model_name: model, version: champion } });
  const comparison = useCall('compareVersions', {
    params: { name: model },
    query: { version_a: champion, version_b: version.version },
  });
  return (
    <>
      <Loaded query={comparison} skeleton={<Skeleton rows={3} />}>
        {(loaded) => (
          <div className="pad stack">
            <ComparisonVerdict comparison={loaded} />
          </div>
        )}
      </Loaded>
      <Loaded query={other} skeleton={<Skeleton rows={10} />}>
        {(loaded) => (
          <>
            <FiguresTable version={version} champion={loaded} />
            <section className="pad stack" aria-label="Changed settings">
              <h3>Changed settings</h3>
              <ChangesList from={loaded.config} to={version.config} />
            </section>
          </>
        )}
      </Loaded>
    </>
  );
}

function FiguresTable({ version, champion }: { readonly version: Version; readonly champion?: Version }) {
  const columns: readonly Column<Figure>[] = [
    { key: 'name', title: 'Backtest', cell: ({ name }) => name },
    ...[...(champion ? [champion] : []), version].map((each) => ({
      key: each.version,
      title: `v${each.version}${each === champion ? ' (champion)' : ''}`,
      isNumber: true,
      cell: ({ cell }: Figure) => cell(each),
    })),
  ];
  return <Table label="Figures" rows={FIGURES} columns={columns} idOf={({ name }) => name} />;
}
