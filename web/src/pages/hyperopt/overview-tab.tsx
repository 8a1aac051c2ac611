import { useMemo } from 'react';
import { Chart } from '../../charts/chart.tsx';
import { decimal } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { isMoving } from './live.ts';
import { bestSoFar, type Point, parameterLabel, valueText } from './trials.ts';
import type { JobView } from './view.ts';

/** Best value so far with the trials as points, and the best parameters. */
export function OverviewTab({ view }: { readonly view: JobView }) {
  const { job, standing } = view;
  return (
    <>
      <Panel title="Search">{view.isLoading ? <Skeleton rows={14} /> : <History view={view} />}</Panel>
      <Panel title="Best parameters">
        {view.isLoading ? (
          <Skeleton rows={4} />
        ) : standing.best ? (
          <Parameters at={standing.best.at} />
        ) : (
          <Empty title={isMoving(job) ? 'No complete trial yet' : 'No trial was completed'} />
        )}
      </Panel>
    </>
  );
}

export function Parameters({ at }: { readonly at: Point }) {
  return (
    <dl className="parameters pad">
      {Object.entries(at).map(([name, value]) => (
        <div key={name}>
          <dt>{parameterLabel(name)}</dt>
          <dd>{valueText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function History({ view }: { readonly view: JobView }) {
  const { rows, objective, standing, change } = view;
  const x = useMemo(
    () => ({
      title: 'Finished trials',
      values: rows.map(({ sequence }) => sequence),
      format: (value: number) => `${decimal(value, 0)} finished`,
    }),
    [rows],
  );
  const panes = useMemo(
    () => [
      {
        series: [
          {
            title: 'Trial',
            values: rows.map(({ value }) => value),
            color: 'series-1' as const,
            kind: 'points' as const,
            format: objective.withUnit,
          },
          {
            title: 'Best so far',
            values: bestSoFar(rows, objective.isBetter),
            color: 'accent' as const,
            kind: 'step' as const,
            format: objective.withUnit,
          },
        ],
      },
    ],
    [rows, objective],
  );
  return (
    <Chart
      title={objective.label}
      summary={`${rows.length} finished trials, best ${objective.withUnit(standing.best?.value)}`}
      x={x}
      panes={panes}
      size="large"
      onPick={(index) => change({ trial: rows[index]?.number })}
    />
  );
}
