import { type ReactNode, useMemo } from 'react';
import { retryFailed, useCalls } from '../../api/queries.ts';
import { Chart, type ChartPane } from '../../charts/chart.tsx';
import { balance, decimal, signed, utcDate } from '../../ui/format.ts';
import { Empty, ErrorState, Skeleton } from '../../ui/states.tsx';
import { useStableList } from '../../ui/use-stable-list.ts';
import { alignCurves, type Curves } from './curves.ts';
import { hasReport, type Run } from './runs.ts';
import { SCALES, type Scale } from './search.ts';

/** Equity and drawdown of all runs on one axis of time. */
export function CurvesPanel(props: {
  readonly runs: readonly Run[];
  readonly scale: Scale;
  readonly onScale: (scale: Scale) => void;
}) {
  const { runs, scale, onScale } = props;
  const drawn = useMemo(() => runs.filter(hasReport), [runs]);
  const equities = useCalls(
    'getBacktestEquity',
    drawn.map(({ id }) => ({ params: { job_id: id } })),
    { isImmutable: true },
  );
  const failed = equities.find(({ error }) => error)?.error;
  const loaded = useStableList(equities.map(({ data }) => data));
  const curves = useMemo(() => {
    const data = loaded.flatMap((each) => each ?? []);
    if (data.length < drawn.length) return undefined;
    const curve = ({ job }: Run, index: number) => ({
      data: data[index]!,
      wallet: job.config.dry_run_wallet,
    });
    return alignCurves(drawn.map(curve), scale);
  }, [loaded, drawn, scale]);
  return (
    <section className="panel compare-curves" aria-label="Equity">
      {drawn.length === 0 ? (
        <Empty title="No run has a report yet">The curves are drawn when a run is completed.</Empty>
      ) : curves ? (
        <Overlay runs={drawn} curves={curves} scale={scale} onScale={onScale} />
      ) : failed ? (
        <ErrorState error={failed} onRetry={() => retryFailed(equities)} />
      ) : (
        <Skeleton rows={13} />
      )}
    </section>
  );
}

const SCALE_NAMES: Readonly<Record<Scale, string>> = { percent: '%', absolute: 'Absolute', log: 'Log' };

const FORMATS: Readonly<Record<Scale, (number: number) => string>> = {
  percent: (number) => `${signed(number, 'percent')} %`,
  absolute: (number) => balance(number),
  log: (number) => `× ${decimal(number, 3)}`,
};

/** Close to the values: a logarithmic axis else reaches to the next power of ten. */
const growthRange = (min: number, max: number) => [min * 0.98, max * 1.02] as const;

/** Zero at the top, and at least 1 % deep. */
const fallRange = (min: number) => [Math.min(min, -1) * 1.05, 0] as const;

function Overlay(props: {
  readonly runs: readonly Run[];
  readonly curves: Curves;
  readonly scale: Scale;
  readonly onScale: (scale: Scale) => void;
}) {
  const { runs, curves, scale, onScale } = props;
  const x = useMemo(
    () => ({
      values: curves.times,
      title: 'Day (UTC)',
      isTime: true,
      format: (seconds: number) => utcDate(seconds * 1_000),
    }),
    [curves],
  );
  const panes = useMemo(() => panesOf(runs, curves, scale), [runs, curves, scale]);
  const summary = runs
    .map(
      ({ letter, job }) => `${letter} ${job.strategy} ${signed(job.result?.total_profit_pct, 'percent')} %`,
    )
    .join(', ');
  return (
    <Chart
      title="Equity and drawdown"
      summary={`${summary}; ${curves.times.length} days`}
      size="large"
      x={x}
      panes={panes}
      actions={<ScaleButtons scale={scale} onScale={onScale} />}
    />
  );
}

function ScaleButtons(props: { readonly scale: Scale; readonly onScale: (scale: Scale) => void }): ReactNode {
  return SCALES.map((each) => (
    <button
      key={each}
      type="button"
      className="btn small"
      aria-pressed={each === props.scale}
      onClick={() => props.onScale(each)}
    >
      {SCALE_NAMES[each]}
    </button>
  ));
}

function panesOf(runs: readonly Run[], { curves }: Curves, scale: Scale): readonly ChartPane[] {
  const look = ({ color, isDashed }: Run) => ({ color, isDashed });
  return [
    {
      series: runs.map((run, index) => ({
        ...look(run),
        title: run.letter,
        values: curves[index]!.equity,
        format: FORMATS[scale],
      })),
      ...(scale === 'percent' ? { unit: ' %', baselines: [0] } : {}),
      ...(scale === 'log' ? { isLog: true, baselines: [1], range: growthRange } : {}),
    },
    {
      series: runs.map((run, index) => ({
        ...look(run),
        title: `${run.letter} drawdown`,
        values: curves[index]!.drawdown,
        format: (number) => `${decimal(number, 2)} %`,
      })),
      unit: ' %',
      range: fallRange,
    },
  ];
}
