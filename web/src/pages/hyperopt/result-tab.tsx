import { CircleAlert, CircleCheck, CircleHelp, CircleX } from 'lucide-react';
import { useMemo } from 'react';
import { foldWarnings } from '#contract/values/fold-warnings.ts';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Chart } from '../../charts/chart.tsx';
import { decimal } from '../../ui/format.ts';
import { Figure, FoundMark, type LookAheadState, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type Assessment, type Diagnostic, diagnosticsOf } from './diagnostics.ts';
import type { Objective } from './objective.ts';
import { parameterLabel, pointOf, valueText } from './trials.ts';
import type { JobView } from './view.ts';

type Result = ResponseOf<'getHyperoptResult'>;
type BestTrial = Result['best_trials'][number];

/** Result of a completed job: how far to believe it, the account out of sample, the ten best. */
export function ResultTab({ view }: { readonly view: JobView }) {
  const { job } = view;
  if (job.status !== 'completed') {
    return (
      <Empty title="No result yet">
        The result comes when the job is completed; it is {job.status}. The best so far is in the overview.
      </Empty>
    );
  }
  return <Completed view={view} />;
}

function Completed({ view }: { readonly view: JobView }) {
  const { job, objective, search, change } = view;
  const query = useCall('getHyperoptResult', { params: { job_id: job.job_id } });
  const isTrained = !job.config.model_types.includes('none');
  return (
    <Loaded query={query} skeleton={<Skeleton rows={26} />}>
      {(result) => (
        <>
          {foldWarnings(result.warnings).map((warning) => (
            <div key={warning} className="notice" data-tone="warn">
              <CircleAlert aria-hidden="true" /> {warning}
            </div>
          ))}
          <Panel title="How far to believe it">
            <Diagnostics list={diagnosticsOf(result, isTrained)} />
            <p className="muted small-text pad">
              The best of many trials looks better than it is. {decimal(result.overfitting.trials, 0)} trials
              count here, pruned, failed and repeated ones included
              {result.distinct_runs !== null &&
                `; ${decimal(result.distinct_runs, 0)} of the complete ones traded differently`}
              . {isTrained ? '' : 'No day is out of sample without models: '}
              {isTrained ? 'Confirm' : 'confirm'} it by a backtest on days that no trial has used.
            </p>
          </Panel>
          <Panel title={isTrained ? 'Out of sample' : 'Account of the best trial'}>
            <Account result={result} isTrained={isTrained} />
          </Panel>
          <Panel title="Ten best trials" actions={<FoundMark state={result.look_ahead.state} />}>
            <Best
              trials={result.best_trials}
              lookAhead={result.look_ahead.state}
              objective={objective}
              selected={search.trial}
              onPick={(trial) => change({ trial })}
            />
          </Panel>
        </>
      )}
    </Loaded>
  );
}

const ASSESSMENTS: Readonly<
  Record<Assessment, { readonly Icon: typeof CircleCheck; readonly tone: string; readonly text: string }>
> = {
  good: { Icon: CircleCheck, tone: 'up', text: 'good' },
  uncertain: { Icon: CircleAlert, tone: 'warn', text: 'uncertain' },
  bad: { Icon: CircleX, tone: 'down', text: 'bad' },
  undefined: { Icon: CircleHelp, tone: '', text: 'not defined' },
};

function Diagnostics({ list }: { readonly list: readonly Diagnostic[] }) {
  return (
    <ul className="diagnostics">
      {list.map(({ name, value, assessment, meaning, bounds }) => {
        const { Icon, tone, text } = ASSESSMENTS[assessment];
        return (
          <li key={name}>
            <span className="badge" data-tone={tone}>
              <Icon aria-hidden="true" /> {text}
            </span>
            <strong>{name}</strong>
            <span className="num">{value}</span>
            <span className="muted">
              {meaning} <span className="faint">({bounds})</span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function Account({ result, isTrained }: { readonly result: Result; readonly isTrained: boolean }) {
  const { dates, equity, drawdown } = result.out_of_sample;
  const x = useMemo(
    () => ({ title: 'Day', isTime: true, values: dates.map((date) => Date.parse(date) / 1_000) }),
    [dates],
  );
  const panes = useMemo(
    () => [
      {
        series: [
          {
            title: 'Equity',
            values: equity,
            color: 'series-1' as const,
            kind: 'area' as const,
            format: (value: number) => decimal(value, 2),
          },
        ],
      },
      {
        unit: ' %',
        series: [
          {
            title: 'Drawdown',
            values: drawdown,
            color: 'down' as const,
            kind: 'area' as const,
            format: (value: number) => `${decimal(value, 2)} %`,
          },
        ],
      },
    ],
    [equity, drawdown],
  );
  return (
    <Chart
      title={
        isTrained
          ? 'Equity of the best trial over its windows'
          : 'Equity on the days that chose the parameters'
      }
      summary={`from ${decimal(equity[0] ?? 0, 2)} to ${decimal(equity.at(-1) ?? 0, 2)} in ${dates.length} days, deepest drawdown ${decimal(Math.min(0, ...drawdown), 2)} %`}
      x={x}
      panes={panes}
      size="large"
    />
  );
}

function Best(props: {
  readonly trials: readonly BestTrial[];
  readonly lookAhead: LookAheadState;
  readonly objective: Objective;
  readonly selected: number | undefined;
  readonly onPick: (trial: number) => void;
}) {
  const { trials, lookAhead, objective, selected, onPick } = props;
  const columns = useMemo<readonly Column<BestTrial>[]>(() => {
    const names = [...new Set(trials.flatMap(({ params }) => Object.keys(pointOf(params))))];
    return [
      { key: 'number', title: 'Trial', isNumber: true, cell: ({ number }) => decimal(number, 0) },
      {
        key: 'value',
        title: objective.label,
        isNumber: true,
        cell: ({ value }) => <Figure state={lookAhead}>{objective.withUnit(value)}</Figure>,
      },
      ...names.map((name) => ({
        key: name,
        title: parameterLabel(name),
        isNumber: true,
        cell: ({ params }: BestTrial) => valueText(pointOf(params)[name]),
      })),
    ];
  }, [trials, objective, lookAhead]);
  return (
    <Table
      rows={trials}
      columns={columns}
      idOf={({ number }) => number}
      label="Trials by value, best first"
      isSorted
      selected={selected}
      onPick={({ number }) => onPick(number)}
    />
  );
}
