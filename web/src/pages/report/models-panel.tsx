import { useMemo } from 'react';
import { Chart, type ChartPane, type ChartX } from '../../charts/chart.tsx';
import { decimal, NO_VALUE, shortPair, utcDate, value } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { type Column, Table, VirtualTable } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Models = NonNullable<ReportData['models']>;
type Window = Models['windows'][number];
type Importance = Models['importances'][number];
type Bin = Models['calibration'][number];

const score = (number: number | null | undefined) =>
  number === null || number === undefined ? NO_VALUE : decimal(number, 4);

const WINDOW_COLUMNS: readonly Column<Window>[] = [
  { key: 'pair', title: 'Pair', width: 110, cell: ({ pair }) => shortPair(pair) },
  {
    key: 'index',
    title: 'Window',
    width: 80,
    isNumber: true,
    cell: ({ index }) => value(index + 1, 'count'),
  },
  {
    key: 'train',
    title: 'Trained on (UTC)',
    width: 200,
    cell: ({ train_from, train_to }) => `${utcDate(train_from)} to ${utcDate(train_to)}`,
  },
  {
    key: 'test',
    title: 'Predicted (UTC)',
    width: 200,
    cell: ({ test_from, test_to }) => `${utcDate(test_from)} to ${utcDate(test_to)}`,
  },
  {
    key: 'rows',
    title: 'Rows',
    width: 84,
    isNumber: true,
    cell: ({ training_rows }) => value(training_rows, 'count'),
  },
  {
    key: 'positives',
    title: 'Positives, %',
    width: 100,
    isNumber: true,
    cell: ({ training_positives_pct }) => value(training_positives_pct, 'percent'),
  },
  {
    key: 'iterations',
    title: 'Trees or steps',
    width: 110,
    isNumber: true,
    cell: ({ iterations }) => value(iterations, 'count'),
  },
  { key: 'auc', title: 'AUC', width: 84, isNumber: true, cell: ({ quality }) => score(quality.auc) },
  {
    key: 'log_loss',
    title: 'Log loss',
    width: 90,
    isNumber: true,
    cell: ({ quality }) => score(quality.log_loss),
  },
  {
    key: 'base',
    title: 'Base log loss',
    width: 110,
    isNumber: true,
    cell: ({ quality }) => score(quality.base_log_loss),
  },
  { key: 'brier', title: 'Brier', width: 84, isNumber: true, cell: ({ quality }) => score(quality.brier) },
  { key: 'skipped', title: 'Skipped because', width: 200, cell: ({ skipped }) => skipped ?? NO_VALUE },
];
const windowId = ({ pair, index }: Window) => `${pair} ${index}`;

const IMPORTANCE_COLUMNS: readonly Column<Importance>[] = [
  { key: 'feature', title: 'Feature', cell: ({ feature }) => feature },
  { key: 'gain', title: 'Gain', isNumber: true, cell: ({ gain }) => score(gain) },
  { key: 'permutation', title: 'Permutation', isNumber: true, cell: ({ permutation }) => score(permutation) },
];
/** Features that the table shows; the rest adds little. */
const SHOWN_FEATURES = 12;

const BIN_COLUMNS: readonly Column<Bin>[] = [
  { key: 'low', title: 'Probability', cell: ({ low, high }) => `${decimal(low, 1)} to ${decimal(high, 1)}` },
  { key: 'rows', title: 'Rows', isNumber: true, cell: ({ rows }) => value(rows, 'count') },
  {
    key: 'mean',
    title: 'Predicted',
    isNumber: true,
    cell: ({ mean_probability }) => score(mean_probability),
  },
  { key: 'share', title: 'Observed', isNumber: true, cell: ({ positive_share }) => score(positive_share) },
];

/** Models of the run: quality out of sample, features and windows. */
export function ModelsPanel({ models }: { readonly models: Models }) {
  const { quality } = models;
  return (
    <Panel title={`Models: ${models.model_kind}`}>
      <dl className="defs pad">
        <dt>Trained</dt>
        <dd>
          {value(models.trained, 'count')} models over {value(models.windows_total, 'count')} windows,{' '}
          {value(models.features, 'count')} features
        </dd>
        <dt>Gap between training and prediction</dt>
        <dd>{value(models.horizon, 'count')} candles, until a label is known</dd>
        <dt>AUC out of sample</dt>
        <dd>
          {score(quality.auc)} over {value(quality.rows, 'count')} predictions; 0.5 has no predictive value
        </dd>
        <dt>Log loss</dt>
        <dd>
          {score(quality.log_loss)}; {score(quality.base_log_loss)} without a model
        </dd>
        <dt>Brier score</dt>
        <dd>{score(quality.brier)}; 0.25 for a coin flip</dd>
      </dl>
      <AucChart windows={models.windows} />
      <div className="report-pair report-models">
        <Table
          rows={models.importances.slice(0, SHOWN_FEATURES)}
          columns={IMPORTANCE_COLUMNS}
          idOf={({ feature }) => feature}
          label="Importance of the features"
        />
        <Table
          rows={models.calibration}
          columns={BIN_COLUMNS}
          idOf={({ low }) => low}
          label="Calibration: predicted and observed frequency"
        />
      </div>
      <div className="report-windows">
        <VirtualTable
          rows={models.windows}
          columns={WINDOW_COLUMNS}
          idOf={windowId}
          label="Windows of the models"
        />
      </div>
    </Panel>
  );
}

/** Quality of each window over time: does the model still predict? */
function AucChart({ windows }: { readonly windows: readonly Window[] }) {
  const { x, panes, summary } = useMemo(() => aucOf(windows), [windows]);
  if (x.values.length === 0) return null;
  return <Chart title="AUC of each window" summary={summary} size="small" x={x} panes={panes} />;
}

function aucOf(windows: readonly Window[]) {
  const known = windows
    .filter(({ quality }) => quality.auc !== null)
    .map(({ test_from, quality }) => [Date.parse(test_from) / 1_000, quality.auc!] as const)
    .sort(([a], [b]) => a - b);
  const x: ChartX = {
    values: known.map(([time]) => time),
    title: 'Start of the prediction (UTC)',
    isTime: true,
    pad: 86_400,
  };
  const panes: readonly ChartPane[] = [
    {
      series: [
        {
          title: 'AUC',
          values: known.map(([, auc]) => auc),
          color: 'series-1',
          kind: 'points',
          format: score,
        },
      ],
      baselines: [0.5],
    },
  ];
  const above = known.filter(([, auc]) => auc > 0.5).length;
  return { x, panes, summary: `${above} of ${known.length} windows above 0.5` };
}
